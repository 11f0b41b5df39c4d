"""Loads the finished runs that an export writes, and writes text and JSON that any program can read."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, NotRequired

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval._util.schema import OpenMap, validated
from afrieval._util.terminal import note
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_files import RESTORE, RUN, read_run
from afrieval.results.run_folder import cell_lines
from afrieval.results.samples import Sample
from afrieval.results.schema import RunRecord


class LastVisit(OpenMap):
    """What exports need of the circumstances of a session."""

    date: datetime
    versions: NotRequired[dict[str, Any]]
    config: NotRequired[dict[str, Any]]
    data_commits: NotRequired[dict[str, Any] | None]


class StoredRun(NamedTuple):
    """A run folder.

    Attributes:
        name: its folder's, with parents where two have the same.
        record: run.yaml.
        cells: of the suite's own tasks, described as for a comparison.
    """

    name: str
    record: RunRecord
    cells: list[CellScores]

    @property
    def visit(self) -> Mapping[str, Any]:
        """The circumstances in which it was run last."""
        return self.record["visits"][-1]

    @property
    def model(self) -> str:
        """What its model is called: its id on the hub, or the end of its path."""
        return self.cells[0].model


def stored_runs(folders: Iterable[Path]) -> list[StoredRun]:
    """Returns finished runs, and prints a note on the tasks of the harness in them, which are left out.

    Raises:
        UserError: for a folder that is not a run, is not finished or is damaged; or if two have the same cell.
    """
    cells = grouped(read_runs(folders), lambda cell: cell.folder)
    of_folders = {folder: of for folder, of in cells.items() if folder}
    names = _names(list(of_folders))
    runs = [StoredRun(names[folder], read_run(folder), of) for folder, of in of_folders.items()]
    for folder, run in zip(of_folders, runs, strict=True):
        validated(LastVisit, run.visit, f"{folder / RUN}: the last of its visits", RESTORE)
        if of_harness := run.record["identity"].get("harness_tasks"):
            note(f"left out: tasks of the harness in {run.name}: {', '.join(of_harness)}")
    return runs


def _names(folders: list[Path]) -> dict[Path, str]:
    """Returns the shortest ends of paths that distinguish all folders."""
    parts = {folder: folder.resolve().parts for folder in folders}
    for length in range(1, max(map(len, parts.values()), default=0) + 1):
        names = {folder: "/".join(of[-length:]) for folder, of in parts.items()}
        if len(set(names.values())) == len(folders):
            break
    return names


def scored_lines(cell: CellScores) -> Iterator[Sample]:
    """Yields the samples of a cell that have a score."""
    assert cell.folder
    return (line for line in cell_lines(cell.folder, cell.name) if line["metrics"])


def hub_id(cell: CellScores) -> str:
    """Returns the data set of a cell on the hub; empty if it is not known, or depends on the model as Meta's do."""
    return "" if "{" in cell.data_set else cell.data_set


def generation_options(line: Sample) -> dict[str, Any] | None:
    """Returns how the answer of a sample was generated, as far as its request says it; None if it was not."""
    requests = line.get("arguments") or [[]]
    return dict(requests[0][1]) if len(requests[0]) > 1 and isinstance(requests[0][1], dict) else None


def has_texts(cell: CellScores) -> bool:
    """Returns whether documents and prompts are stored; `--eval.log_samples false` stores none."""
    first = next(scored_lines(cell))
    return "doc" in first and "arguments" in first


_LONE = re.compile("[\ud800-\udfff]")  # halves of pairs in UTF-16, which UTF-8 does not have
_UNSAFE = re.compile(r"[\"<>:/|\\?*\[\]\x00-\x1f]+")  # what the harness replaces, and control characters


def unicode_text(text: str) -> str:
    r"""Returns a text with invalid characters as escapes such as `\ud800`."""
    return _LONE.sub(lambda match: f"\\u{ord(match[0]):x}", text)


def strict_json(value: Any, indent: int | None = None) -> bytes:
    """Returns a value as JSON that strict parsers accept; numbers must be finite."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError as e:
        hint = "correct it in the run's sample files, or run again"
        raise UserError(f"a stored number cannot be exported: {e}", hint) from None
    return _LONE.sub(lambda match: f"\\\\u{ord(match[0]):x}", text).encode()


def file_name(name: str) -> str:
    """Returns a name, such as a model's, as a file or folder may be called; as the harness does, `a/b` is `a__b`."""
    return _UNSAFE.sub("__", unicode_text(name)).rstrip(". ") or "_"
