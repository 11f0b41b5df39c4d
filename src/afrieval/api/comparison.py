"""Stored runs against each other, as `afrieval compare` does it, for Python code."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from afrieval.api.run import Run
from afrieval.errors import UserError, nearest
from afrieval.files.calls import checked_call
from afrieval.files.paths import user_path
from afrieval.files.schema import Seed

if TYPE_CHECKING:
    from afrieval.analysis.inputs import Inputs
    from afrieval.report.table import Table
    from afrieval.report.tables import Tables

Source = Run | str | os.PathLike[str]
Runs = Annotated[Source | Iterable[Source], "give one run or several, as runs or their folders"]


class Comparison:
    """Several runs, or one with several prompts, prompt languages or languages.

    Args:
        given: the runs' cells.
        seed: of bootstrap and permutations.
    """

    def __init__(self, given: "Inputs", seed: int = 42):
        self._foreign = given.foreign
        self._cells = [*given.own, *given.foreign]
        self._seed = seed

    @checked_call
    def contrasts(self, dimension: str | None = None) -> "Tables":
        """Returns a table per pair of values of a dimension, with paired intervals and tests.

        Args:
            dimension: prompt_language, prompt, model, shots, answer_form or language; if not given, all in which the
                runs differ but prompt and language.

        Raises:
            UserError: if there is nothing to compare, or nothing that may be.
        """
        from afrieval.analysis.compared import all_contrasts, check_compared
        from afrieval.report.comparison import contrast_tables
        from afrieval.results.scores import DIMENSIONS

        _check_known("dimension", dimension, [*DIMENSIONS])
        found = all_contrasts(self._cells, self._foreign, [dimension] if dimension else None, self._seed)
        check_compared(found, self._cells, needed=True)
        return self._named(contrast_tables(self._cells, found))

    @checked_call
    def means(self, grouping: str = "Africa") -> "Tables":
        """Returns means over African languages, a table per task.

        Args:
            grouping: Africa, family, script or region.

        Raises:
            UserError: for another grouping.
        """
        from afrieval.analysis.means import GROUPINGS
        from afrieval.report.comparison import mean_tables

        _check_known("grouping", grouping, [*GROUPINGS])
        return self._named(mean_tables(self._cells, [grouping]))

    def spread(self) -> "Tables":
        """Returns best, mean and worst prompt, a table per task that ran several."""
        from afrieval.report.comparison import spread_tables

        return self._named(spread_tables(self._cells))

    @checked_call
    def by(self, field: str, published: str | Iterable[str] = ()) -> "Tables":
        """Returns scores by a field of the documents, such as `subject`; or for `confusion`, by label.

        Args:
            field: its name, or `confusion`.
            published: names of published scores to show, such as Phi-3-3.8B-4K for MMLU; by default those of the same
                models.

        Raises:
            UserError: if no task declares the field or has labels, or published scores are unknown.
        """
        from afrieval.analysis.published_parts import check_published
        from afrieval.report.comparison import breakdown_tables, metrics_of

        names = [published] if isinstance(published, str) else list(published)
        check_published(self._cells, names)
        return self._named(breakdown_tables(self._cells, field, metrics_of(self._cells), names))

    def _named(self, tables: "Iterable[Table]") -> "Tables":
        """Returns tables whose titles say which rows they are of."""
        from afrieval.report.options import naming_rows
        from afrieval.report.tables import Tables

        return Tables(naming_rows(tables, self._cells))

    def _repr_html_(self) -> str:
        """Returns the contrasts as a notebook shows them."""
        return self.contrasts()._repr_html_()


def _check_known(name: str, value: str | None, known: list[str]) -> None:
    if value is not None and value not in known:
        raise UserError(f"there is no {name} {value!r}", nearest(str(value), known))


@checked_call
def compare(runs: Runs, *, metric: str | None = None, seed: Seed = 42) -> Comparison:
    """Returns a comparison of stored runs; no model is loaded.

    Args:
        runs: runs, or folders of runs, or results of lm_eval, lighteval or inspect_ai, in the order to compare them.
        metric: which metric; the main one of each task if not given.
        seed: of bootstrap and permutations.

    Raises:
        UserError: for a folder that is not a run or is not finished, or a metric that no run has.
    """
    from afrieval.analysis.inputs import is_published, read_inputs

    paths = paths_of(runs)
    if not paths:
        raise UserError("there is no run to compare", "give one run or several")
    if tables := [path for path in paths if is_published(path)]:
        raise UserError(
            f"{tables[0]} has published scores, not a run", "compare published tables with `afrieval compare`"
        )
    return Comparison(read_inputs(paths).on(metric), seed)


def paths_of(runs: Runs) -> list[Path]:
    """Returns the paths of one run or several."""
    several = [runs] if isinstance(runs, Run | str | os.PathLike) else runs
    return [run.path if isinstance(run, Run) else user_path(run) for run in several]
