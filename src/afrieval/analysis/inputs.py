"""Holds the results of all programs as plain data: cells with scores per document, and published rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from afrieval._util.errors import UserError, nearest
from afrieval.analysis.published_files import PublishedRow
from afrieval.results.cell_scores import CellScores
from afrieval.results.schema import RunRecord
from afrieval.scoring.learned import is_learned


class LeftOut(NamedTuple):
    """What is not used, by its path."""

    path: str
    reason: str


class Inputs(NamedTuple):
    """All results that were read, each cell once.

    Attributes:
        run_cells: of our runs.
        foreign: cells of other programs' runs.
        published: rows of published tables and records, below a folder with their sources.
        records: below a folder, model to its runs, each with its place and what run.yaml says.
        settings: below a folder, model to its runs of other programs, each with its place and the settings of its first
            cell.
    """

    run_cells: list[CellScores]
    foreign: list[CellScores]
    published: list[PublishedRow]
    left_out: Sequence[LeftOut] = ()
    records: Mapping[str, Sequence[tuple[str, RunRecord]]] = {}
    settings: Mapping[str, Sequence[tuple[str, Mapping[str, object]]]] = {}

    @property
    def cells(self) -> list[CellScores]:
        """All cells, those of our runs first."""
        return [*self.run_cells, *self.foreign]

    @property
    def notes(self) -> list[str]:
        """What is not used, a line for each."""
        return [f"left out: {path}: {why}" for path, why in self.left_out]

    def on(self, metric: str | None) -> "Inputs":
        """Returns only the cells that have a metric, scored by it; all cells with their main one for None.

        Raises:
            UserError: if no cell has it, or it is not the same one in all runs.
        """
        if metric is None:
            return self
        run_cells, foreign = (
            [replace(c.with_metric(metric), contrast="") for c in cells if metric in c.metrics]
            for cells in (self.run_cells, self.foreign)
        )
        if not run_cells and not foreign:
            metrics = dict.fromkeys(name for c in self.cells for name in c.metrics)
            raise UserError(f"no run here has the metric {metric!r}", nearest(metric, list(metrics)))
        folders = {c.declared.get("signatures", {}).get(metric): c.folder for c in run_cells if is_learned(metric)}
        if len(folders) > 1:  # two versions of its model computed a learned metric
            (one, folder), (other, other_folder) = list(folders.items())[:2]
            problem = f"{metric} is not the same in {folder} ({one}) and {other_folder} ({other})"
            raise UserError(problem, "score both runs with the same model, see afrieval score --help")
        return self._replace(run_cells=run_cells, foreign=foreign)
