"""Readers of other packages: they are found by their entry points, and what they raise is explained."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.addons.readers.lighteval_runs import write_lighteval
from tests.conftest import ROOT, Cli

from afrieval._util.errors import UserError
from afrieval.exchange.discovery import gathered, paths_below, read_inputs
from afrieval.exchange.foreign_cells import RunReader
from afrieval.exchange.readers import READERS, cells_of_run, reader_of_run, run_readers
from afrieval.results.cell_scores import CellScores


def broken(path: Path) -> list[CellScores]:
    rows = [1, 0]
    raise ZeroDivisionError(f"{1 / rows[0]} in row 1 of {path.name}")


class MineReader(RunReader):
    """Knows files that end in .mine, and cannot read them."""

    of_files = True

    def wrote(self, path: Path) -> bool:
        return path.suffix == ".mine"

    def read(self, path: Path) -> list[CellScores]:
        return broken(path)

    def paths_in(self, folder: Path, subfolders: Sequence[str]) -> list[Path]:
        return sorted(folder.glob("*.mine"))


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(READERS._entries, "mine", MineReader())


def test_a_reader_that_raises_is_answered_with_its_line(mine: None, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "a.mine"
    file.touch()
    assert reader_of_run(file) and not reader_of_run(tmp_path / "a.other")
    line = broken.__code__.co_firstlineno + 2
    problem = f"{__file__}, line {line}: ZeroDivisionError: 1.0 in row 1 of a.mine, in the reader mine for {file}"
    with pytest.raises(UserError) as e:
        cells_of_run(file)
    assert e.value.message == problem
    found = cli("compare", file, file)
    assert found.code == 2 and problem in found.err.replace("\n", " ")


def test_other_results_below_a_folder_are_read_all_the_same(mine: None, tmp_path: Path) -> None:
    (tmp_path / "a.mine").touch()
    write_lighteval(tmp_path / "b")
    found = gathered(tmp_path, paths_below(tmp_path))
    assert len(found.cells) == 1 and [left.path for left in found.left_out] == ["a.mine"]


def test_the_example_of_the_page_reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/exchange.md").read_text(encoding="utf-8"), re.S)
    names: dict[str, Any] = {"__name__": "example"}
    exec(code, names)
    monkeypatch.setitem(READERS._entries, "mine", names["reader"])
    log = {"task": "sums_yor", "model": "m", "version": 1, "scores": [1, 0, 1]}
    (tmp_path / "a.mine.json").write_text(json.dumps(log))
    (cell,) = read_inputs([tmp_path]).foreign
    assert (cell.task, cell.language, cell.model) == ("sums", "yor", "m (mine)")
    assert cell.score == pytest.approx(2 / 3)


def test_lm_eval_is_asked_last_of_the_readers_of_folders() -> None:
    assert [name for name, _ in run_readers()] == ["lighteval", "lm_eval", "inspect_ai"]
