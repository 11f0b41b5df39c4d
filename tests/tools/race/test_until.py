"""Runs whose sample grows until their scores are precise enough."""

import csv
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from tests.analysis.cells import scored
from tests.conftest import Cli

from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import Selection
from afrieval.results.run_files import read_run
from afrieval.results.run_folder import RunFolder
from afrieval.results.schema import Declared
from afrieval.tools.race import until

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
    done = run_demo(*WORDS, "--eval.until", 48).ok()
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


def test_a_sample_that_was_looked_at_before_counts_as_a_look(run_demo: Cli, folder: Path) -> None:
    assert run_demo(*WORDS, "--eval.sample", 8).code == 0 and "looks" not in read_run(folder)
    done = run_demo(*WORDS, "--eval.until", 48)
    assert done.code == 0 and "to run" not in done.err and read_run(folder)["looks"] == 4 + 1
    assert run_demo(*WORDS, "--eval.sample", 8, "--eval.looks", 9).code == 0
    assert read_run(folder)["looks"] == 9, "though nothing is left to ask"
    assert run_demo(*WORDS, "--eval.sample", 8).code == 0 and read_run(folder)["looks"] == 9


def test_files_say_for_how_many_looks_an_interval_holds(run_demo: Cli, cli: Cli, folder: Path, tmp_path: Path) -> None:
    assert run_demo(*WORDS, "--eval.until", 48).code == 0
    for form in ("csv", "every-eval-ever"):
        assert cli("export", "--to", form, tmp_path / form, "--run", folder).code == 0
    for path in (folder / "summary.csv", tmp_path / "csv/scores.csv", tmp_path / "csv/metrics.csv"):
        assert {row["looks"] for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())} == {"4"}
    (path,) = tmp_path.glob("every-eval-ever/**/*.json")
    for result in json.loads(path.read_text(encoding="utf-8"))["evaluation_results"]:
        found = result["score_details"]
        assert "for 4 looks" in found["uncertainty"]["confidence_interval"]["method"]
        assert found["details"]["looks"] == "4"


def of_language(code: str, right: int, n: int = 50, **changes: Any) -> CellScores:
    return scored([1.0] * right + [0.0] * (n - right), language=code, looks=5, **changes)


def margin(*cells: CellScores) -> float:
    (found,) = until.margins_of_error(cells, of_mean=True).values()
    return found


def test_the_mean_is_over_african_languages_without_defects_if_there_are_any() -> None:
    ids = [*range(50, 100)]
    both = margin(of_language("yor", 20), of_language("hau", 30, ids=ids))
    defective = Declared(defective={"ibo": "other data"})
    others = of_language("eng", 45, ids=[*range(100, 150)]), of_language("ibo", 2, declared=defective)
    assert margin(of_language("yor", 20), of_language("hau", 30, ids=ids), *others) == both
    assert margin(others[0]) < math.inf, "English alone has a mean, too"


def test_means_near_100_percent_are_no_more_precise_than_they_are() -> None:
    (alone,) = until.margins_of_error([of_language("yor", 49)], of_mean=False).values()
    assert alone > 12 and margin(of_language("yor", 49)) == alone
    several = margin(of_language("yor", 49), of_language("hau", 50, ids=[*range(50, 100)]))
    low, _ = stats.binomtest(99, 100).proportion_ci(1 - 0.05 / 5, method="wilson")
    assert several > 0.8 * 100 * (0.99 - low), "about that of 100 questions of one language"


def test_samples_of_other_sizes_are_no_look() -> None:
    few, many = of_language("yor", 20), of_language("hau", 60, n=100)
    few, many = (replace(cell, selection=Selection("sample", cell.rows, 600)) for cell in (few, many))
    assert margin(few, many) == math.inf
    assert margin(replace(few, selection=Selection("all", 50, 50)), many) < math.inf, "50 are all that it has"


def test_cells_without_a_scored_document_grow(run_demo: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = until._scores
    monkeypatch.setattr(until, "_scores", lambda session: [c for c in stored(session) if c.language == "hau"])
    assert run_demo(*WORDS, "--eval.until", 100).code == 0
    assert rows(folder) == {"yor": 14, "hau": 2}
