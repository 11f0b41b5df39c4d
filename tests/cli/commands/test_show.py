"""show prints the tables at the end of a run again, from its folder alone."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import TOFU, TWO_TASKS, Cli, Refusal, csv_rows, of_demo
from tests.harness_collection import Run

from afrieval.results.run_files import read_run, sample_path, write_run

KINDS = {
    "two": " ".join(TWO_TASKS),
    "tofu": " ".join(TOFU),
    "memory": "--task.task_name memorisation --task.of afrixnli --task.languages yor --eval.limit 4",
}


@pytest.fixture(scope="module")
def runs(demo_run: Callable[..., Path]) -> dict[str, Path]:
    return {name: demo_run(*words.split()) for name, words in KINDS.items()}


def ended(cli: Cli, folder: Path, name: str) -> list[str]:
    """What the same command prints again: the tables, since all is done, and then their legend."""
    out = cli("run", *of_demo(*KINDS[name].split(), folder=folder)).out
    return out.partition("The demo model is random")[0].strip().split("\n\n")


@pytest.mark.parametrize("name", KINDS)
def test_the_tables_are_those_that_ended_the_run(cli: Cli, runs: dict[str, Path], name: str) -> None:
    done = cli("show", runs[name])
    before = {path: path.stat().st_mtime_ns for path in runs[name].iterdir()}
    assert done.code == 0 and not done.err
    assert before == {path: path.stat().st_mtime_ns for path in runs[name].iterdir()}, "nothing is written"
    assert "Usage of each session" in done.out
    *tables, _ = ended(cli, runs[name], name)
    assert done.out.split("\n\n")[: len(tables)] == tables
    assert max(map(len, done.out.splitlines())) <= 80


def test_scores_of_all_tasks_by_language_come_last(cli: Cli, runs: dict[str, Path]) -> None:
    rows = json.loads(cli("show", runs["two"], "--json", "-").out)
    assert [row["title"].partition(",")[0] for row in (rows[0], rows[-1])] == [
        "Average over tasks",
        "Scores by language",
    ]
    heat, scores = rows[-1]["rows"], rows[1]["rows"]
    (amharic,) = [row for row in heat if row["language"] == "amh"]
    (first,) = [row for row in scores if row["language"] == "amh" and row["prompt_language"] == "eng"]
    assert amharic["afrixnli English"] == first["acc"]
    assert "Scores by language" not in cli("show", runs["tofu"]).out, "one language"


def test_several_runs(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(runs["two"], other)
    record = read_run(other)
    record["identity"]["model"]["model_name"] = "org/another"
    write_run(other, record)
    done = cli("show", runs["two"], other, "--csv", tmp_path / "all.csv")
    assert "demo, afrixnli: text, 0-shot" in done.out and "org/another, afrixnli: text, 0-shot" in done.out
    assert "afrimmlu: scores by language\n" in done.out and "Average over tasks" in done.out
    assert {path.name for path in tmp_path.glob("*.csv")} == {
        f"all-{kind}.csv" for kind in ("scores", "contrast", "suite", "work", "heat")
    }
    files = {p.stem: csv_rows(p) for p in tmp_path.glob("*.csv")}
    assert all(f"wrote {tmp_path / name}.csv" in done.err for name in files)
    assert {row["table"] for row in files["all-suite"]} == {"suite"}
    assert all(0 <= float(row["mean"]) <= 1 for row in files["all-suite"]), "a share, as all scores of tasks are"
    assert {row["model"] for row in files["all-scores"]} == {"demo", "org/another"}
    (heat,) = [row for row in files["all-heat"] if row["task"] == "afrimmlu" and row["language"] == "yor"]
    assert heat["demo English"] == heat["org/another English"] != ""


def test_an_unfinished_run(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(runs["two"], folder)
    sample_path(folder, "afrimmlu_amh_native_2").unlink()
    whole = sample_path(folder, "afrixnli_yor_eng_1")
    whole.write_text("".join(whole.read_text().splitlines(keepends=True)[:2]))
    done = cli("show", folder)
    out = " ".join(done.out.split())
    assert done.code == 0 and "native 1* " in done.out
    assert "Not finished: 1 of 8 cells are missing, such as afrimmlu_amh_native_2; the same `afrieval run`" in out
    assert "Not finished: afrixnli_yor_eng_1 has 2 rows, and afrixnli_yor_eng_2 4; the same `afrieval run`" in out
    assert done.err.count("Not finished") == 2


def test_a_reference_that_is_gone(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(runs["tofu"], folder)
    record: Any = read_run(folder)
    record["visits"][-1]["config"]["reference"] = {"retain": str(tmp_path / "gone")}
    write_run(folder, record)
    done = cli("show", folder)
    assert done.code == 0 and f"the reference retain is not at {tmp_path / 'gone'} any more" in done.err
    record["visits"][-1]["config"]["reference"] = {"retain": str(runs["tofu"])}
    write_run(folder, record)
    assert "forget quality" in cli("show", folder).out


def test_a_folder_without_a_finished_cell(refusal: Refusal, runs: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(runs["two"], tmp_path / "run"))
    for path in folder.glob("samples_*"):
        path.unlink()
    assert "no finished cell" in refusal("show", folder)


def test_tasks_of_the_harness(cli: Cli, harness: Run, tmp_path: Path) -> None:
    words = ("--task.harness_tasks", "perplexity,mc_yor_1", "--eval.limit", 4, "--task.clean_prompts")
    ended = harness(*words, "--run_dir", tmp_path / "run").out.partition("The demo model is random")[0]
    assert "harness tasks, prompts cleaned" in ended
    assert cli("show", tmp_path / "run").out.split("\n\n")[0] == ended.strip().split("\n\n")[0]


def test_a_folder_of_runs(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    for name in ("one", "half"):
        shutil.copytree(runs["two"], tmp_path / "runs" / name)
    sample_path(tmp_path / "runs/half", "afrimmlu_amh_native_2").unlink()
    done = cli("show", tmp_path / "runs")
    assert done.out == cli("show", tmp_path / "runs/one").out
    assert done.err == (
        "left out: half: it is not finished: 1 of 16 cells are missing, such as afrimmlu_amh_native_2\n"
    )
    assert cli("compare", tmp_path / "runs").out == cli("compare", tmp_path / "runs/one").out
    shutil.rmtree(tmp_path / "runs/one")
    assert "has no finished run" in cli("show", tmp_path / "runs").err
