"""Large runs are read in several processes, with the same results and the same errors."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.results.test_reader import line, record

from afrieval._util.errors import UserError
from afrieval.results import in_parallel, run_folder
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_files import sample_path, write_run, write_samples
from afrieval.results.samples import Sample

CELLS = [f"t_yor_eng_{prompt}" for prompt in (1, 2)]
DECLARED = {"t": {"metrics": ["acc", "f1"], "groups": {"hard": {"subject": ["physics"]}}, "derived": {
    "both": {"how": "mean", "of": ["acc", "hard.acc"]},
}}}  # fmt: skip

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="processes are forked on Linux only")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Lets two processes read any runs; yields the cells that this one has read."""
    read: list[str] = []

    def cell_lines(folder: Path, name: str) -> Iterator[Sample]:
        read.append(name)
        return plain(folder, name)

    plain = run_folder.cell_lines
    monkeypatch.setattr(run_folder, "cell_lines", cell_lines)
    monkeypatch.setattr(in_parallel, "LARGE", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    yield read


def run(folder: Path, model: str) -> Path:
    folder.mkdir()
    write_run(folder, record(declared=DECLARED) | {"cells": CELLS})
    for at, name in enumerate(CELLS):
        lines = [
            line(i, {"acc": [float(i > at)], "f1": [1.0, 0.0]}, prompt=at + 1, doc={"subject": subject})
            for i, subject in enumerate(["physics", "law", "physics"])
        ]
        write_samples(folder, name, lines)
    return folder


def killed(*given: Any) -> None:
    os._exit(1)


def told(cells: list[CellScores]) -> list[str]:
    """Returns all that is known of cells; texts, since NaN is unlike itself."""
    return [
        repr((c.name, c.folder, c.score, c.derived, {of: v.tolist() for of, v in c.measures.items()})) for c in cells
    ]


def test_several_processes_read_the_same_as_one(tmp_path: Path, here: list[str], monkeypatch: Any) -> None:
    runs = [run(tmp_path / name, name) for name in "ab"]
    monkeypatch.setattr("afrieval.results.comparable_runs._check_once", lambda cells: None)  # both are of one model
    cells = read_runs(runs)
    assert not here and len(cells) == 4 and "both" in cells[0].metrics
    monkeypatch.setattr(in_parallel, "LARGE", 10**9)
    assert told(cells) == told(read_runs(runs)) and here == CELLS * 2


def test_the_first_error_is_the_one_that_one_process_finds(tmp_path: Path, here: list[str], monkeypatch: Any) -> None:
    folder = run(tmp_path / "a", "a")
    for name in CELLS:
        sample_path(folder, name).open("a").write("{}\n")
    with pytest.raises(UserError, match=f"samples_{CELLS[0]}.jsonl, line 4") as several:
        read_runs([folder])
    monkeypatch.setattr(in_parallel, "LARGE", 10**9)
    with pytest.raises(UserError) as one:
        read_runs([folder])
    assert (several.value.message, several.value.hint) == (one.value.message, one.value.hint)


def test_what_killed_processes_did_not_read_is_read_here(tmp_path: Path, here: list[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(in_parallel, "_send", killed)
    assert len(read_runs([run(tmp_path / "a", "a")])) == 2 and here == CELLS


def test_a_process_with_threads_is_not_forked(tmp_path: Path, here: list[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert len(read_runs([run(tmp_path / "a", "a")])) == 2 and here == CELLS
