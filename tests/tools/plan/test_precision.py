"""How many questions a plan says a decision takes, against what the tables of a run say afterwards."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.conftest import Cli

from afrieval.results.run_folder import RunFolder

ALL = ("afrixnli,afrimmlu", "--languages", "hau,swa,yor", "--data", "samples", "--prompts", "1,2")


def tables(cli: Cli, *words: object) -> dict[str, list[dict[str, Any]]]:
    done = cli(*words, "--json", "-").ok()
    found: dict[str, list[dict[str, Any]]] = {}
    for table in json.loads(done.out):
        found.setdefault(table["rows"][0]["table"], []).extend(table["rows"])
    return found


def width(rows: list[dict[str, Any]]) -> float:
    """Returns half the width of the widest interval."""
    return max(float(row["interval"][1] - row["interval"][0]) / 2 for row in rows)


def half_of_mean(run: Path, task: str) -> float:
    """Returns half the width of the interval of the mean over languages that share their questions."""
    folder = RunFolder(run)
    cells = [[folder.scores(f"{task}_{code}_eng_{prompt}") for prompt in (1, 2)] for code in ("hau", "swa", "yor")]
    scores = np.array([[cell.values for cell in of_language] for of_language in cells]).mean(axis=1)
    (k, n), covariances = scores.shape, np.cov(scores)
    shared = max(0.0, (covariances.sum() - np.trace(covariances)) / (k * (k - 1)))
    variance = (np.trace(covariances) / k - shared) / k + shared
    return float(stats.t.ppf(0.975, n - 1) * np.sqrt(variance / n))


def test_all_rows_give_what_a_run_like_it_has(cli: Cli, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert cli("run", "demo", *ALL, "--out", run).code == 0
    stored = tables(cli, "show", run)
    expected = tables(cli, "plan", "demo", *ALL, "--precision", 20, "--like", run)
    whole = expected["samples"][-1]
    assert whole["precision"][1] == pytest.approx(width(stored["scores"]))
    of_mean = half_of_mean(run, "afrixnli")
    assert any(half == pytest.approx(of_mean) for half in whole["mean"])
    assert whole["average"] == pytest.approx(math.hypot(*whole["mean"]) / 2), "two data sets of equal weight"
    for row in expected["questions"]:
        assert row["task"] == "afrimmlu" or (row["for_mean"] <= row["rows"]) == (of_mean <= 0.2)
        of_task = width([scored for scored in stored["scores"] if scored["task"] == row["task"]])
        assert row["precision"] == pytest.approx(of_task)
        assert (row["for_precision"] <= row["rows"]) == (of_task <= 0.2)


def test_requests_are_in_proportion(cli: Cli) -> None:
    left = tables(cli, "plan", "demo", *ALL)["estimate"][-1]
    by_sample = tables(cli, "plan", "demo", *ALL, "--precision", 20, "--difference", 30)["samples"]
    assert by_sample[-1]["sample"] == "all"
    assert by_sample[-1]["requests"] == left["requests"]
    assert by_sample[-1]["prompt_tokens"] == left["prompt_tokens"]


def test_a_sample_is_enough_for_an_average_over_tasks(cli: Cli) -> None:
    words = ("demo", "afrixnli,sib200", "--languages", "hau,swa", "--data", "samples", "--prompts", 1)
    said = cli("plan", *words, "--precision", 19).out
    assert "For an average over tasks of +/- 19.0 points, a sample of 10 is enough" in said
    assert math.hypot(half(9), half(10)) / 2 <= 19 < math.hypot(half(9), half(9)) / 2  # afrixnli has 9 rows
    whole = tables(cli, "plan", *words, "--precision", 2)["samples"][-1]
    assert 100 * whole["average"] == pytest.approx(math.hypot(half(9), half(14)) / 2)
    assert "there are too few rows" in cli("plan", *words, "--precision", 2).out
    alone = tables(cli, "plan", "demo", "afrixnli", *words[2:], "--precision", 2)
    assert alone["samples"][-1].get("average") is None


def half(n: int) -> float:
    """Returns half the width of Wilson's interval if half of the answers are right, in points."""
    z2 = 1.959964**2
    return 100 * math.sqrt(z2 / n + z2**2 / n**2) / (2 * (1 + z2 / n))


def test_what_is_not_known_is_not_guessed(cli: Cli) -> None:
    words = ("demo", "flores_from_eng", "--languages", "hau", "--data", "samples", "--prompts", 1)
    found = tables(cli, "plan", *words, "--precision", 2)
    assert found["samples"][-1]["precision"] is None
    assert found["questions"][0]["for_precision"] is None
