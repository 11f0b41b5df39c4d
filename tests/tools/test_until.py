"""Runs whose sample grows until their scores are precise enough."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from tests.conftest import Cli

from afrieval.results.cell_scores import CellScores
from afrieval.results.run_files import read_run
from afrieval.results.run_folder import RunFolder
from afrieval.tools import until

WORDS = ("--task.task_name", "sib200", "--task.languages", "yor,hau", "--task.prompts", "1")  # 14 rows each


@pytest.fixture(autouse=True)
def small_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afrieval.scoring.statistics.looks.FIRST", 2)  # 2, 4, 8 and 14


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def rows(folder: Path) -> dict[str, int]:
    return {code: RunFolder(folder).scores(f"sib200_{code}_eng_1").rows for code in ("yor", "hau")}


def farther(right: int, n: int, looks: int = 4) -> float:
    low, high = stats.binomtest(right, n).proportion_ci(1 - 0.05 / looks, method="wilson")
    return 100 * max(float(high) - right / n, right / n - float(low))


def samples(folder: Path) -> list[Any]:
    visits: list[Any] = read_run(folder)["visits"]
    return [visit["config"]["eval"]["sample"] for visit in visits]


def test_a_sample_grows_until_each_score_is_precise_enough(run_demo: Cli, folder: Path) -> None:
    done = run_demo(*WORDS, "--eval.until", 48)
    assert done.code == 0
    for code, n in rows(folder).items():
        cell = RunFolder(folder).scores(f"sib200_{code}_eng_1")
        right = cell.measures["acc"][:, 0]
        assert farther(int(right.sum()), n) <= 48 and n in (4, 8)
    assert samples(folder) == [2, 4, 8][: samples(folder).index(max(rows(folder).values())) + 1]
    assert read_run(folder)["looks"] == 4
    assert "look 1 of 4, 2 questions: 0 of 2 scores are within 48 points" in done.err
    assert "hold at all of its 4 looks together" in done.out and "sample of" in done.out
    again = run_demo(*WORDS, "--eval.until", 48)
    assert again.code == 0 and "to run" not in again.err, "what is stored is precise enough"


def test_scores_that_are_precise_enough_keep_their_sample(
    run_demo: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def widths(cells: list[CellScores], of_mean: bool) -> dict[until.Score, float]:
        return {until._score_of(cell, of_mean): 1.0 if cell.language == "yor" else 9.0 for cell in cells}

    monkeypatch.setattr(until, "margins_of_error", widths)
    assert run_demo(*WORDS, "--eval.until", 5, "--eval.sample", 8).code == 0
    assert rows(folder) == {"yor": 2, "hau": 8}
    assert run_demo(*WORDS, "--eval.until", 0.5, "--eval.sample", 4).code == 0
    assert rows(folder) == {"yor": 4, "hau": 8}, "more precision; nothing that is stored is lost"
    assert run_demo(*WORDS, "--eval.sample", 14).code == 0
    assert rows(folder) == {"yor": 14, "hau": 14} and read_run(folder)["looks"] == 4, "looks stay counted"


def test_prompts_in_both_languages_have_the_same_questions(
    run_demo: Cli, folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def widths(cells: list[CellScores], of_mean: bool) -> dict[until.Score, float]:
        return {until._score_of(cell, of_mean): 9.0 if cell.prompt_language == "native" else 1.0 for cell in cells}

    monkeypatch.setattr(until, "margins_of_error", widths)
    assert run_demo(*WORDS, "--task.prompt_language", "both", "--eval.until", 5, "--eval.sample", 4).code == 0
    assert {cell: RunFolder(folder).scores(cell).rows for cell in RunFolder(folder).names} == {
        f"sib200_{code}_{of}_1": 4 for code in ("hau", "yor") for of in ("eng", "native")
    }
    assert cli("compare", folder).code == 0


def test_the_mean_over_languages_may_be_what_has_to_be_precise(run_demo: Cli, folder: Path) -> None:
    done = run_demo(*WORDS, "--eval.until", 30, "--eval.until_of", "mean")
    assert done.code == 0 and "of 1 scores are within 30 points" in done.err
    cells = [RunFolder(folder).scores(f"sib200_{code}_eng_1") for code in ("yor", "hau")]
    (found,) = until.margins_of_error(cells, of_mean=True).values()
    assert found <= 30 and len(set(rows(folder).values())) == 1


def test_a_metric_without_points_has_no_width(run_demo: Cli, folder: Path) -> None:
    run_demo(*WORDS, "--eval.sample", 4)
    cell = RunFolder(folder).scores("sib200_yor_eng_1")
    endless = replace(cell, metrics={cell.main: replace(cell.metric, bounds=(0.0, math.inf))})
    assert list(until.margins_of_error([endless], of_mean=False).values()) == [math.inf]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--eval.until", 2, "--eval.limit", 3), "eval.limit asks for the first documents"),
        (("--eval.until", 0), "--eval.until must be"),
        (("--eval.until", 2, "--task.harness_tasks", "arc_easy"), "does not support tasks of the harness"),
    ],
)
def test_what_cannot_grow_is_refused(run_demo: Cli, words: tuple[Any, ...], problem: str) -> None:
    done = run_demo(*WORDS, *words)
    assert done.code == 2 and problem in done.err
