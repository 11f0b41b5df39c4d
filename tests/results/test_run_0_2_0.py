"""A packed run that version 0.2.0 wrote, with two tasks in a folder: it is read, shown, scored again and continued."""

import csv
import shutil
from pathlib import Path

import pytest
from tests.conftest import Cli

from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_files import read_run

STORED = Path(__file__).parent / "run_0_2_0"
WORDS = ("--task.folder", STORED / "tasks")
TASKS = ("--task.task_name", "colours,sums", "--eval.max_gen_toks", 4)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return shutil.copytree(STORED / "run", tmp_path / "run")


def rows(folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    with (folder / "summary.csv").open(encoding="utf-8", newline="") as file:
        return {(row["task"], row["language"]): row for row in csv.DictReader(file)}


def test_its_scores_are_those_that_it_wrote(run: Path) -> None:
    cells = {(cell.task, cell.language): cell for cell in read_runs([run])}
    assert cells.keys() == rows(run).keys()
    for key, row in rows(run).items():
        low, high = cells[key].interval or (None, None)
        assert [cells[key].score, low, high, cells[key].n] == [
            float(row[name]) for name in ("score", "low", "high", "n")
        ]


def test_it_is_shown_and_compared(cli: Cli, run: Path) -> None:
    shown = cli("show", run)
    assert shown.code == 0 and "Hausa     English 1  50.0  9.5-90.5  2" in shown.out, shown.err
    assert "Usage of each session" in shown.out
    assert cli("compare", run, "--csv", "-").code == 0


def test_it_is_scored_again_without_a_change(cli: Cli, run: Path) -> None:
    before = rows(run)
    scored = cli("score", run, *WORDS)
    assert scored.code == 0 and "no score moved (6 answers, 3 cells)" in scored.err, scored.err
    assert {key: row["score"] for key, row in rows(run).items()} == {key: row["score"] for key, row in before.items()}


def test_it_goes_on_where_it_was(cli: Cli, run: Path) -> None:
    words = ("run", "--model.model_name", "demo", *WORDS, *TASKS, "--run_dir", run, "--eval.limit")
    again = cli(*words, 2)
    assert again.code == 0 and "to run" not in again.err, "all of its answers are there"
    larger = cli(*words, 3)
    assert larger.code == 0 and "10 of which are stored" in larger.err, larger.err
    assert {row["n"] for row in rows(run).values()} == {"3"}
    first, _ = (str({**visit}["versions"]) for visit in read_run(run)["visits"])
    assert "'afrieval': '0.2.0'" in first
