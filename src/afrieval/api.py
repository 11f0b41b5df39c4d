"""The Python API of stored runs: reads, compares and reports them, as the commands do."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, cast

from afrieval._util.calls import checked_call
from afrieval._util.errors import UserError, nearest
from afrieval._util.files import user_path
from afrieval._util.schema import Seed
from afrieval._util.terminal import note
from afrieval._util.whole_files import write_output
from afrieval.analysis.inputs import Inputs
from afrieval.analysis.means import GROUPINGS
from afrieval.analysis.published import check_published
from afrieval.analysis.run_contrasts import all_contrasts, check_compared
from afrieval.exchange.discovery import read_inputs
from afrieval.exchange.readers import is_published
from afrieval.report.comparison import breakdown_tables, contrast_tables, mean_tables, spread_tables
from afrieval.report.html.report import report
from afrieval.report.run_summary import one_table
from afrieval.report.score_tables import naming_rows
from afrieval.report.suite_tables import derived_tables
from afrieval.report.table import Table, Tables
from afrieval.results.cell_key import CellKey
from afrieval.results.cell_scores import DIMENSIONS
from afrieval.results.comparable_runs import check_run, model_labels, run_cells
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample
from afrieval.run.suites.run import of_runs


@checked_call
class Run:
    """A run folder: what was run, its scores and its samples.

    Files are read when they are asked for, and again only if they have changed.

    Attributes:
        path: the folder.

    Args:
        path: the folder.
        reference: name to folder or file of stored runs that derived metrics compare with.
    """

    def __init__(self, path: str | os.PathLike[str], reference: Mapping[str, str | os.PathLike[str]] | None = None):
        self.path: Path = user_path(path)
        self._reference = {name: os.fspath(of) for name, of in (reference or {}).items()}
        self._folder = RunFolder(self.path)

    @property
    def identity(self) -> dict[str, Any]:
        """What makes the run another one: model, data, prompts, shots."""
        return cast(dict[str, Any], self._folder.record["identity"])

    @property
    def config(self) -> dict[str, Any]:
        """The settings with which the folder was last written."""
        return cast(dict[str, Any], self._folder.record["visits"][-1]["config"])

    def scores(self) -> Table:
        """Returns the scores, averaged over prompts: one row per task, language and prompt language.

        Raises:
            UserError: if a file of the folder is damaged; its line is named.
        """
        return one_table(self._folder)

    def derived(self) -> Tables:
        """Returns the derived metrics of the run's suite, in a table; none if it declares none.

        A metric that needs a reference run is absent without it, and the table says why.

        Raises:
            UserError: if a file of the folder or of a reference is damaged, or a reference is not comparable.
        """
        label = model_labels({self.path: self._folder.record})[self.path]
        derived_scores = of_runs(run_cells(self._folder, label), self._reference)
        return Tables(table for suite, scores in derived_scores.items() for table in derived_tables(suite, scores))

    @checked_call
    def samples(self, task: str, language: str, prompt_language: str = "eng", prompt: int = 1) -> list[Sample]:
        """Returns the documents of a cell in order: prompt, answers, what was extracted, measures.

        Args:
            task: name of the task.
            language: ISO 639-3 code.
            prompt_language: `eng` or `native`.
            prompt: number of the prompt.

        Raises:
            UserError: if the run has no such cell, or its file is damaged.
        """
        name, names = CellKey(task, language, prompt, prompt_language).text(), self._folder.names
        name = task if task in names else name  # a task of the harness is one cell
        if name not in names:
            raise UserError(f"{self.path} has no cell {name!r}", nearest(name, names))
        return self._folder.samples(name)

    def __fspath__(self) -> str:
        """Returns the folder, so that a run can be given where a folder can, such as for a reference."""
        return str(self.path)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def _repr_html_(self) -> str:
        """Returns the scores as a notebook shows them."""
        return self.scores()._repr_html_()


@checked_call
def load_run(folder: str | os.PathLike[str], reference: Mapping[str, str | os.PathLike[str]] | None = None) -> Run:
    """Returns a stored run; the run need not be finished.

    Args:
        folder: a run folder of `evaluate` or of the command.
        reference: name to folder or file of stored runs that derived metrics of its suite compare with.

    Raises:
        UserError: if the folder is not a run, or has no finished cell.
    """
    path = user_path(folder)
    check_run(path)
    return Run(path, reference)


Source = Run | str | os.PathLike[str]
Runs = Annotated[Source | Iterable[Source], "give one run or several, as runs or their folders"]


class Comparison:
    """Several runs, or one with several prompts, prompt languages or languages.

    Args:
        inputs: the runs' cells.
        seed: of bootstrap and permutations.
    """

    def __init__(self, inputs: Inputs, seed: int = 42):
        self._foreign = inputs.foreign
        self._cells = inputs.cells
        self._seed = seed

    @checked_call
    def contrasts(self, dimension: str | None = None) -> Tables:
        """Returns a table per pair of values of a dimension, with paired intervals and tests.

        Args:
            dimension: prompt_language, prompt, model, shots, answer_form or language; if not given, all in which the
                runs differ but prompt and language.

        Raises:
            UserError: if there is nothing to compare, or nothing that may be.
        """
        _check_known("dimension", dimension, [*DIMENSIONS])
        contrasts = all_contrasts(self._cells, self._foreign, [dimension] if dimension else None, self._seed)
        check_compared(contrasts, self._cells, needed=True)
        return self._named(contrast_tables(self._cells, contrasts))

    @checked_call
    def means(self, grouping: str = "Africa") -> Tables:
        """Returns means over African languages, a table per task.

        Args:
            grouping: Africa, family, script or region.

        Raises:
            UserError: for another grouping.
        """
        _check_known("grouping", grouping, [*GROUPINGS])
        return self._named(mean_tables(self._cells, [grouping]))

    def spread(self) -> Tables:
        """Returns best, mean and worst prompt, a table per task that ran several."""
        return self._named(spread_tables(self._cells))

    @checked_call
    def by(self, field: str, published: str | Iterable[str] = ()) -> Tables:
        """Returns scores by a field of the documents, such as `subject`; or for `confusion`, by label.

        Args:
            field: its name, or `confusion`.
            published: names of published scores to show, such as Phi-3-3.8B-4K for MMLU; by default scores of the same
                models.

        Raises:
            UserError: if no task declares the field or has labels, or published scores are unknown.
        """
        names = [published] if isinstance(published, str) else list(published)
        check_published(self._cells, names)
        return self._named(breakdown_tables(self._cells, field, names))

    def _named(self, tables: Iterable[Table]) -> Tables:
        """Returns tables whose titles say which rows they are of."""
        return Tables(naming_rows(tables, self._cells))

    def _repr_html_(self) -> str:
        """Returns the contrasts as a notebook shows them."""
        return self.contrasts()._repr_html_()


def _check_known(name: str, value: str | None, names: list[str]) -> None:
    if value is not None and value not in names:
        raise UserError(f"there is no {name} {value!r}", nearest(str(value), names))


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


SUFFIXES = (".html", ".htm")


@checked_call
def write_report(runs: Runs, output: str | os.PathLike[str] = "report.html") -> Path:
    """Writes stored runs as one page and returns the file; no model is loaded.

    Args:
        runs: runs, folders of runs, results of lm_eval, lighteval or inspect_ai, and published tables (CSV), in the
            order to show.
        output: file to write, which ends in .html; it is replaced if it exists.

    Raises:
        UserError: for another file name, a folder that does not exist, or a run that is damaged, not finished or
            without scores.
    """
    path = user_path(output)
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"a report must be a file that ends in .html, not {os.fspath(output)!r}", "name such a file")
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist", "name a file in an existing folder")

    paths = paths_of(runs)
    if not paths:
        raise UserError("there is no run to show", "give one run or several")
    inputs = read_inputs(paths)
    for line in inputs.notes:
        note(line)
    if not (inputs.run_cells or inputs.foreign or inputs.published):
        raise UserError(f"{paths[0]} has nothing to show", "give a run with scores")
    write_output(path, report(inputs))
    return path
