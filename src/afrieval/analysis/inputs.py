"""What compare is given: folders of our runs, runs of other programs, published tables and records."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from afrieval.analysis.published import PublishedRow, PublishedTable, read_published
from afrieval.errors import UserError, nearest
from afrieval.foreign.every_eval_ever import is_records
from afrieval.foreign.runs import foreign_cells, is_foreign
from afrieval.grouping import grouped
from afrieval.results.files import RUN
from afrieval.results.runs import read_runs
from afrieval.results.scores import CellScores


class Inputs(NamedTuple):
    """What was read.

    Attributes:
        own: cells of our runs.
        foreign: cells of other programs' runs.
        published: rows of published tables and records.
        left_out: what of published tables and records is not used, each with its path.
    """

    own: list[CellScores]
    foreign: list[CellScores]
    published: list[PublishedRow]
    left_out: Sequence[tuple[Path, str]] = ()

    @property
    def notes(self) -> list[str]:
        """What is not used, a line for each."""
        return [f"left out of {path}: {why}" for path, why in self.left_out]

    def on(self, metric: str | None) -> "Inputs":
        """Returns the cells that have a metric, with it as their score; all with their main one for None.

        Raises:
            UserError: if no cell has it.
        """
        if metric is None:
            return self
        own, foreign = (
            [replace(c.on(metric), contrast="") for c in cells if metric in c.metrics]
            for cells in (self.own, self.foreign)
        )
        if not own and not foreign:
            known = dict.fromkeys(name for c in [*self.own, *self.foreign] for name in c.metrics)
            raise UserError(f"no run here has the metric {metric!r}", nearest(metric, list(known)))
        return self._replace(own=own, foreign=foreign)


def read_inputs(paths: list[Path]) -> Inputs:
    """Returns what is in the given folders and files.

    Raises:
        UserError: for one that is none of the three, or is damaged; and if two have the same published score.
    """
    tables = [p for p in paths if is_published(p)]
    foreign = [p for p in paths if p not in tables and is_foreign(p)]
    own = [p for p in paths if p not in tables and p not in foreign]
    of_tables = {path: read_published(path) for path in tables}
    left_out = [(path, why) for path, table in of_tables.items() for why in table.left_out]
    return Inputs(read_runs(own, sent=bool(foreign)), _foreign(foreign), _published(of_tables), left_out)


def _published(tables: Mapping[Path, PublishedTable]) -> list[PublishedRow]:
    """Returns the rows of all tables and records, each score of which is in one of them."""
    rows = []
    first: dict[tuple[object, ...], Path] = {}
    for path, table in tables.items():
        for row in table.rows:
            rows.append(row)
            for code in row.scores:
                place = row.task, row.model, row.prompt, row.prompt_language, row.shots, code
                if (before := first.setdefault(place, path)) != path:
                    what = f"{row.model}, {row.task}, {code}, prompt {row.prompt}"
                    raise UserError(f"{path} and {before} both have a score of {what}", "give one of the two")
    return rows


def is_published(path: Path) -> bool:
    """Returns whether a path has published scores: a table, a record of Every Eval Ever or a folder of records."""
    if path.is_dir() and ((path / RUN).exists() or is_foreign(path)):
        return False
    return path.suffix == ".csv" or is_records(path)


def _foreign(paths: list[Path]) -> list[CellScores]:
    """Returns the cells of all paths; one model in several folders is distinguished by the folder's name.

    Files of one folder belong together, unless they have the same cell.
    """
    found = [(path, cell) for path in paths for cell in foreign_cells(path)]
    of_models = grouped(found, lambda pair: pair[1].model)
    return [
        replace(c, model=f"{c.model} {name}") if (name := _other_name(p, of_models[c.model])) else c for p, c in found
    ]


def _other_name(path: Path, of_model: list[tuple[Path, CellScores]]) -> str:
    """Returns what is added to the name of a model for what a path has of it; empty if that is all there is."""
    folders = {_folder(other) for other, _ in of_model}
    places = Counter((_folder(other), cell.task, *cell.dimensions.items()) for other, cell in of_model)
    if max(places.values()) > 1:
        return path.stem if path.is_file() else path.name
    return _folder(path).name if len(folders) > 1 else ""


def _folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent
