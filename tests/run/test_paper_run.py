"""Runs with prompts of the paper: stored, resumed, shown and compared under names of their own."""

from pathlib import Path

from tests.conftest import Cli, csv_rows

import afrieval
from afrieval.analysis.means import means
from afrieval.analysis.scores import by_language
from afrieval.config.settings import ModelConfig, RunConfig, TaskConfig
from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_folder import RunFolder
from afrieval.run.manifest import default_folder

RUN = ("--model.model_name", "demo", "--task.task_name", "afrixnli", "--task.languages", "yor,hau")
FEW = ("--data.source", "samples", "--eval.limit", "3")
PAPER = ("--task.prompt_set", "paper", "--task.prompts", "3,5")


def ran(run_demo: Cli, folder: Path, *words: str) -> list[dict[str, str]]:
    run_demo(*RUN, *FEW, "--run_dir", folder, *words).ok()
    return csv_rows(folder / "summary.csv")


def test_sets_of_prompts_never_mix(run_demo: Cli, tmp_path: Path) -> None:
    """One folder may hold all of them, and is resumed with each."""
    folder = tmp_path / "run"
    ran(run_demo, folder, "--task.prompts", "3")
    ran(run_demo, folder, *PAPER)
    ran(run_demo, folder, *PAPER, "--task.uncleaned")
    rows = ran(run_demo, folder, *PAPER)
    everything = {"3", "paper3", "paper5", "paper3_uncleaned", "paper5_uncleaned"}
    assert {row["prompt"] for row in rows} <= everything
    run = RunFolder(folder)
    assert {name.removeprefix("afrixnli_yor_eng_") for name in run.names if "_yor_" in name} == everything
    prompts = run.record["identity"]["tasks"]["afrixnli"]["prompts"]
    assert list(prompts["eng"]) == [3] and set(prompts["yor"]) == everything - {"3"}
    assert prompts["yor"]["paper3"] != prompts["hau"]["paper3"], "the prompt names the language"
    cells = read_runs([folder])
    assert sorted(map(str, (score.prompts for score in by_language(cells) if score.language == "yor"))) == [
        "['paper3', 'paper5']", "['paper3_uncleaned', 'paper5_uncleaned']", "[3]"
    ]  # fmt: skip
    assert len(means(cells, ["Africa"])) == 3


def test_runs_are_paired_by_id_alone(run_demo: Cli, cli: Cli, tmp_path: Path) -> None:
    suite, paper = tmp_path / "suite", tmp_path / "paper"
    ran(run_demo, suite, "--task.prompts", "3")
    ran(run_demo, paper, *PAPER)
    refused = cli("compare", suite, paper)
    assert refused.code == 2 and "share nothing" in refused.err and "--contrast prompt" in refused.err
    shown = cli("compare", suite, paper, "--contrast", "prompt").out
    assert "prompt paper3 against prompt 3" in shown and "prompt paper5 against prompt paper3" in shown
    shown = cli("samples", paper, "--language", "yor", "--prompts", "engpaper3", "--n", "1").out
    assert "in Yoruba" in shown


def test_the_default_folder_says_whose_prompts_it_has() -> None:
    def folder(**chosen: bool) -> str:
        task = TaskConfig(task_name="afrixnli", prompt_set="paper", **chosen)  # type: ignore[arg-type]
        return default_folder(RunConfig(ModelConfig(model_name="demo"), task)).name

    assert "-paper" in folder() and "uncleaned" not in folder()
    assert "-paper-uncleaned" in folder(uncleaned=True)


def test_a_run_from_python(tmp_path: Path) -> None:
    run = afrieval.evaluate(
        "demo", "afrixnli", languages="yor", prompt_set="paper", prompts=2, data_source="samples", limit=2,
        run_dir=tmp_path / "run",
    )  # fmt: skip
    assert "paper2" in str(run.scores())
