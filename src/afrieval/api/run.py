"""A stored run, as Python code gets it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from afrieval.errors import UserError, nearest
from afrieval.files.calls import checked_call
from afrieval.files.paths import user_path

if TYPE_CHECKING:
    from afrieval.report.table import Table
    from afrieval.report.tables import Tables
    from afrieval.results.samples import Sample


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
        from afrieval.results.reader import RunFolder

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

    def scores(self) -> "Table":
        """Returns the scores, averaged over prompts: one row per task, language and prompt language.

        Raises:
            UserError: if a file of the folder is damaged; its line is named.
        """
        from afrieval.report.run import scores_of_run

        return scores_of_run(self._folder)

    def derived(self) -> "Tables":
        """Returns the derived metrics of the run's suite, in a table; none if it declares none.

        A metric that needs a reference run is absent without it, and the table says why.

        Raises:
            UserError: if a file of the folder or of a reference is damaged, or a reference is not comparable.
        """
        from afrieval.report.derived import derived_tables
        from afrieval.report.tables import Tables
        from afrieval.results.runs import model_labels, run_cells
        from afrieval.suites.run import of_runs

        label = model_labels({self.path: self._folder.record})[self.path]
        found = of_runs(run_cells(self._folder, label), self._reference)
        return Tables(table for suite, scores in found.items() for table in derived_tables(suite, scores))

    @checked_call
    def samples(self, task: str, language: str, prompt_language: str = "eng", prompt: int = 1) -> "list[Sample]":
        """Returns the documents of a cell in order: prompt, answers, what was extracted, measures.

        Args:
            task: name of the task.
            language: ISO 639-3 code.
            prompt_language: `eng` or `native`.
            prompt: number of the prompt.

        Raises:
            UserError: if the run has no such cell, or its file is damaged.
        """
        name, names = f"{task}_{language}_{prompt_language}_{prompt}", self._folder.names
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
    from afrieval.results.runs import check_run

    path = user_path(folder)
    check_run(path)
    return Run(path, reference)
