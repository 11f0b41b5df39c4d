"""compare on stored runs: the tables, the files, and what cannot be compared."""

import csv
import json
import re
import shutil
from pathlib import Path
from typing import get_args

import pytest
from tests.conftest import Cli

from afrieval.analysis.means import GROUPINGS
from afrieval.cli.commands.options import Dimension, Grouping
from afrieval.results.cell_scores import DIMENSIONS

SOME = ("--task.languages", "yor,hau,amh", "--task.prompts", "1,2", "--data.source", "samples")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """0-shot with both prompt languages, 2-shot, and letters instead of texts."""
    from afrieval.cli.main import main

    kinds = {
        "zero": ("--task.prompt_language", "both"),
        "two": ("--task.prompt_language", "both", "--eval.num_fewshot", "2"),
        "letter": ("--task.answer_form", "letter"),
        "nli": ("--task.task_name", "afrixnli", "--task.prompt_language", "both"),
    }
    folders = {}
    for name, words in kinds.items():
        folders[name] = tmp_path_factory.mktemp(name) / "run"
        task = () if "--task.task_name" in words else ("--task.task_name", "afrimmlu")
        code = main(["run", "--model.model_name", "demo", "--run_dir", str(folders[name]), *SOME, *task, *words])
        assert code == 0
    return folders


def test_prompt_languages_of_one_run(cli: Cli, runs: dict[str, Path]) -> None:
    done = cli("compare", runs["zero"])
    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= 80 and "…" not in done.out
    assert "afrimmlu: native prompts against English prompts, prompts 1-2" in done.out
    assert "Native prompts: no detectable difference in amh, hau and yor." in " ".join(done.out.split())
    assert "chosen on test" in done.out and "amh hau yor" in done.out


def test_shots_against_shots_and_forms_against_forms(cli: Cli, runs: dict[str, Path]) -> None:
    out = cli("compare", runs["zero"], runs["two"]).out
    assert "2-shot against 0-shot, English prompts" in out and "2-shot against 0-shot, native prompts" in out
    out = cli("compare", runs["zero"], runs["letter"], "--contrast", "answer_form").out
    assert "answer form letter against answer form text" in out


def test_another_metric(cli: Cli, runs: dict[str, Path]) -> None:
    tables = {
        name: json.loads(cli("compare", runs["zero"], "--metric", name, "--json", "-").out)
        for name in ("acc", "acc_norm")
    }
    assert tables["acc"] == json.loads(cli("compare", runs["zero"], "--json", "-").out)
    with (runs["zero"] / "summary.csv").open(encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if r["language"] == "yor" and r["prompt_language"] == "eng"]
    for name, column in (("acc", "score"), ("acc_norm", "acc_norm")):
        (row,) = (r for r in tables[name][0]["rows"] if r["language"] == "yor")
        assert row["first_score"] == pytest.approx(sum(float(r[column]) for r in rows) / len(rows))


def test_the_files(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    written = {name: tmp_path / f"t.{name}" for name in ("json", "csv", "markdown", "latex")}
    done = cli("compare", runs["zero"], *(f"--{n}={p}" for n, p in written.items()))
    assert done.code == 0
    read = done.out[done.out.index("afrimmlu: native") :].splitlines()
    tables = json.loads(written["json"].read_text())
    (contrast,) = [t for t in tables if t["title"].startswith("afrimmlu: native")]
    row = next(r for r in contrast["rows"] if r["language"] == "yor")
    with (tmp_path / "t-contrast.csv").open() as file:
        flat = next(r for r in csv.DictReader(file) if r["language"] == "yor")
    assert f"{flat['gained']}/{flat['lost']}" in next(line for line in read if line.startswith("Yoruba"))
    assert not written["csv"].exists() and (tmp_path / "t-means.csv").exists()
    assert float(flat["first_score"]) == row["first_score"] and row["n"] == 8 and "second_score" in row
    assert written["markdown"].read_text().startswith("## afrimmlu: native prompts")
    text = written["latex"].read_text()
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == len(tables) and "\\%" in text
    assert json.loads(cli("compare", runs["zero"], "--json", "-").out) == tables


def test_breakdowns(cli: Cli, runs: dict[str, Path]) -> None:
    out = cli("compare", runs["zero"], "--by", "subject").out
    assert "afrimmlu: by subject" in out and "international law" in out
    out = cli("compare", runs["nli"], "--by", "confusion", "--language", "yor").out
    lines = [line.split() for line in out.splitlines() if line.startswith(("entailment", "neutral", "contradiction"))]
    assert len(lines) == 6 and all(sum(map(int, line[1:])) == 6 for line in lines), "3 rows each under 2 prompts"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("/nowhere",), "there is no run folder /nowhere"),
        (("docs",), "docs is not a run folder"),
        (("ZERO", "NLI", "--contrast", "model"), "share nothing that can be compared"),
        (("ZERO", "--task", "afrixnl"), "none of the runs has the task 'afrixnl'"),
        (("ZERO", "--language", "yo"), "none of the runs has the language 'yo'"),
        (("ZERO", "--metric", "acc_nrm"), "no run here has the metric 'acc_nrm'\nhint: did you mean acc_norm?"),
        (("ZERO", "--by", "colour"), "no task here can be broken down by 'colour'"),
        (("ZERO", "--by", "confusion"), "no task here has labels"),
        (("ZERO", "--contrast", "size"), "--contrast must be prompt_language, "),
        (("ZERO", "--seed", "-1"), "--seed must be 0 or more, not -1\nhint: write 0 or more"),
        (("ZERO", "--seed=4294967296"), "--seed must be 4294967295 or less, not 4294967296"),
        (("ZERO", "--seed", "1.5"), '--seed must be a whole number, not "1.5"'),
        (("ZERO", "--seed", "9" * 5000), '--seed must be a smaller whole number, not "999'),
        ((), "RUN is missing"),
    ],
)
def test_what_makes_no_sense(cli: Cli, runs: dict[str, Path], words: tuple[str, ...], message: str) -> None:
    refused = cli("compare", *(runs.get(word.lower(), word) for word in words))
    assert refused.code == 2 and message in refused.err


def test_damaged_unfinished_and_other_data(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(runs["zero"], tmp_path / "copy"))
    path = folder / "samples_afrimmlu_yor_eng_1.jsonl"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace('{"doc_id": 3', '{"doc_id" 3'), encoding="utf-8")
    refused = cli("compare", folder)
    assert refused.code == 2 and f"{path}, line 4 is not valid JSON" in refused.err
    path.write_text(whole, encoding="utf-8")
    record = (folder / "run.yaml").read_text(encoding="utf-8")
    (folder / "run.yaml").write_text(re.sub(r"version: \d+\n", "version: 9\n", record), encoding="utf-8")
    refused = cli("compare", runs["two"], folder, "--contrast", "shots")
    assert refused.code == 2 and re.search(r"task version differs: \d and 9", refused.err)
    path.unlink()
    refused = cli("compare", folder)
    assert "is not finished: 1 of 12 cells are missing, such as afrimmlu_yor_eng_1" in refused.err
    for sample in folder.glob("samples_*"):
        sample.unlink()
    assert "has no finished cell" in cli("compare", folder).err


def test_published_tables(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    table = tmp_path / "afrimmlu-0shot.csv"
    rows = ["model,prompt,eng,yor,hau,amh,avg_score", "big,prompt_1,90,60,50,40,50.0", "big,prompt_2,90,30,30,30,33"]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = cli("compare", table)
    assert done.code == 0, done.err
    assert "Inconsistent: big, prompt 2, prints an average of 33.0; the mean of its scores is 30.0." in " ".join(
        done.out.split()
    )
    done = cli("compare", runs["zero"], table)
    lines = [line.split() for line in done.out.splitlines()]
    assert ["big", "published", "0", "2", "50.0", "40.0"] in lines
    (own,) = [line for line in lines if line[:2] == ["demo", "run"]]
    assert own[2:4] == ["0", "2"] and "Means over the 3 languages that all of them have: amh hau yor." in " ".join(
        done.out.split()
    )
    table.write_text("model,prompt,eng\nbig,prompt_1,much\n", encoding="utf-8")
    refused = cli("compare", table)
    assert refused.code == 2 and "line 2" in refused.err


def test_native_prompts_that_nobody_reviewed_have_a_star(cli: Cli, runs: dict[str, Path]) -> None:
    out = cli("compare", runs["zero"]).out
    assert "Yoruba*" in out and "not yet reviewed by two speakers" in " ".join(out.split())


def test_a_star_stays_when_another_language_joins_the_run(run_demo: Cli, cli: Cli, tmp_path: Path) -> None:
    some = ("--task.prompt_language", "both", "--task.prompts", 1)
    for language in ("hau", "yor"):
        assert "native 1*" in run_demo(*some, "--task.languages", language).out
    out = cli("compare", tmp_path / "run").out
    assert "Hausa*" in out and "Yoruba*" in out


def test_one_cell_twice_is_refused_and_what_differs_is_said(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(runs["two"], tmp_path / "again"))
    record = (folder / "run.yaml").read_text(encoding="utf-8")
    (folder / "run.yaml").write_text(record.replace("seed: 42", "seed: 7"), encoding="utf-8")
    refused = cli("compare", runs["two"], folder)
    assert refused.code == 2 and "both have afrimmlu_amh_eng_1, with other few-shot seed" in refused.err


def test_models_of_one_name_are_two(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    """In folders that end alike, too."""
    folders = [Path(shutil.copytree(runs["letter"], tmp_path / name / "run")) for name in "ab"]
    for folder, weights in zip(folders, ("1111", "2222"), strict=True):
        record = (folder / "run.yaml").read_text(encoding="utf-8")
        (folder / "run.yaml").write_text(
            re.sub("fingerprint: .*", f"fingerprint: '{weights}'", record), encoding="utf-8"
        )
    out = " ".join(cli("compare", *folders).out.split())
    assert "demo (b/run) against demo (a/run)" in out


@pytest.mark.parametrize(
    "change", ["short", "double", "reverse", "null", "text", "empty", "other cell", "other language"]
)
def test_a_sample_file_that_no_run_wrote(cli: Cli, runs: dict[str, Path], tmp_path: Path, change: str) -> None:
    folder = Path(shutil.copytree(runs["zero"], tmp_path / "copy"))
    path = folder / "samples_afrimmlu_yor_eng_1.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    changed = {
        "short": lines[:5],
        "double": [*lines, lines[-1]],
        "reverse": lines[::-1],
        "null": [*lines[:-1], "null"],
        "text": [lines[0].replace('"acc": 0.0', '"acc": "x"').replace('"acc": 1.0', '"acc": "x"'), *lines[1:]],
        "empty": [],
        "other cell": path.with_name("samples_afrimmlu_hau_eng_1.jsonl").read_text(encoding="utf-8").splitlines(),
        "other language": [*lines[:-1], lines[-1].replace('"language": "yor"', '"language": "hau"')],
    }[change]
    path.write_text("\n".join(changed), encoding="utf-8")
    refused = cli("compare", folder)
    assert refused.code == 2 and "Traceback" not in refused.err
    assert ("is not finished" if change == "short" else str(path)) in refused.err


def test_files_that_cannot_be_written(cli: Cli, runs: dict[str, Path], tmp_path: Path) -> None:
    refused = cli("compare", runs["zero"], "--json", tmp_path)
    assert refused.code == 2 and "cannot be written" in refused.err
    assert "given for two formats" in cli("compare", runs["zero"], "--json", "-", "--csv", "-").err
    out = cli("compare", runs["zero"], "--csv", "-", "--json", tmp_path / "t.json").out
    assert "wrote" not in out and out.startswith("table,")


def test_tasks_with_published_evaluations(run_demo: Cli, cli: Cli, tmp_path: Path) -> None:
    """One table for the run, and in compare the same numbers beside the verdicts in the data."""
    evals = ("--task.evals_dataset", "meta-llama/Llama-3.1-8B-Instruct-evals")
    done = run_demo("--task.task_name", "[meta_ifeval,meta_mmlu_pro_instruct]", *evals, "--eval.max_gen_toks", 4)
    assert done.code == 0, done.err
    assert "Llama-3.1-8B-Instruct-evals, our own sample rows: demo" in done.out and "Meta's mean" in done.out
    tables = done.out.partition("Run folder")[0]
    assert max(map(len, tables.splitlines())) <= 80 and "Mean over" not in tables
    told = cli("compare", tmp_path / "run", "--json", "-")
    assert told.code == 0, told.err
    reference, verdicts = json.loads(told.out)
    assert verdicts["title"] == "demo: agreement with Meta's verdicts on Llama-3.1-8B-Instruct"
    assert {(r["task"], r["kind"]) for r in reference["rows"]} == {
        (task, kind) for task in ("meta_ifeval", "meta_mmlu_pro_instruct") for kind in ("measured", "published")
    }
    for row in verdicts["rows"]:
        lines = (tmp_path / f"run/samples_{row['task']}_eng_eng_1.jsonl").read_text(encoding="utf-8").splitlines()
        pairs = [(s[row["metric"]], s["published_correct"]) for s in map(json.loads, lines) if s["metrics"]]
        assert row["both_right"] == pairs.count((1.0, True)) and row["only_published"] == pairs.count((0.0, True))
        assert (
            row["both_right"] + row["only_here"] + row["only_published"] + row["both_wrong"] == row["n"] == len(pairs)
        )
    with (tmp_path / "run/summary.csv").open() as file:
        ifeval, mmlu = csv.DictReader(file)
    assert ifeval["metric"] == "prompt_level_strict_acc" and ifeval["ifeval_meta_mean"] and not ifeval["macro"]
    parts = {json.loads(line)["part"] for line in lines}
    assert int(mmlu["parts"]) == len(parts) and mmlu["macro"] and not mmlu["ifeval_meta_mean"]


def test_a_list_of_scores_that_is_damaged_is_refused(run_demo: Cli, cli: Cli, tmp_path: Path) -> None:
    assert run_demo("--task.task_name", "meta_ifeval", "--eval.max_gen_toks", 2, "--eval.limit", 2).code == 0
    path = tmp_path / "run/samples_meta_ifeval_eng_eng_1.jsonl"
    samples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for damaged in (["x"], None, 5):
        samples[1]["measures"]["inst_level_strict_acc"] = damaged
        path.write_text("\n".join(map(json.dumps, samples)) + "\n", encoding="utf-8")
        refused = cli("compare", tmp_path / "run")
        assert refused.code == 2 and f"{path}, line 2: measures.inst_level_strict_acc" in refused.err, refused.err


def test_a_run_with_nothing_to_compare_says_so(run_demo: Cli, cli: Cli, tmp_path: Path) -> None:
    words = ("--task.languages", "eng", "--task.prompts", "1", "--eval.limit", 1)
    assert run_demo("--task.task_name", "afrixnli", *words).code == 0
    done = cli("compare", tmp_path / "run")
    assert done.code == 2 and "alone has nothing to compare" in done.err and not done.out


def test_what_the_help_offers_is_what_there_is() -> None:
    assert get_args(Dimension) == DIMENSIONS and get_args(Grouping) == tuple(GROUPINGS)
