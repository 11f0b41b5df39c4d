"""The end of a run: writes what its sample files say to summary.csv, results.json, usage.csv and derived.json."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from afrieval._util.files import user_path
from afrieval._util.terminal import note
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import described, model_labels
from afrieval.results.probabilities import write_probabilities
from afrieval.results.run_files import RESULTS, SUMMARY, USAGE, write_csv, write_json
from afrieval.results.run_folder import RunFolder
from afrieval.results.schema import HarnessGroup, RunRecord, Visit
from afrieval.results.summary import harness_results, summary_columns, summary_row
from afrieval.results.usage import COLUMNS, usage_rows
from afrieval.run.harness.harness_scores import HarnessTaskScores, merged_results, summary_rows, task_scores
from afrieval.run.session import Session
from afrieval.run.suites.derived_scores import DerivedScore
from afrieval.run.suites.reference import ReferenceRun, open_references
from afrieval.run.suites.run import scores_of_run, store


@dataclass(frozen=True)
class Summary:
    """The scores of a run folder: of our own tasks and the harness', and the derived metrics of its suite."""

    cells: list[CellScores]
    harness: list[HarnessTaskScores]
    groups: Mapping[str, HarnessGroup]
    derived: list[DerivedScore] = field(default_factory=list)

    def of(self, names: Collection[str]) -> "Summary":
        """Returns the summary of some cells, in their order, with all derived metrics."""
        cells, harness = {cell.name: cell for cell in self.cells}, {of.record["task"]: of for of in self.harness}
        ours, others = [cells[n] for n in names if n in cells], [harness[n] for n in names if n in harness]
        return replace(self, cells=ours, harness=others)


def finish(session: Session) -> Summary:
    """Writes the scores and derived metrics of an evaluated run to its folder, and returns them.

    Raises:
        UserError: if the folder is gone, a sample file is damaged, or a reference run is not comparable.
    """
    session.check()
    return finish_stored(session.stored, open_references(session.config.reference))


def finish_stored(run: RunFolder, references: Sequence[ReferenceRun]) -> Summary:
    """Writes scores and derived metrics as `finish` does, for a stored run.

    Raises:
        UserError: if a sample file is damaged, or a reference run is not comparable.
    """
    summary = summarise(run)
    derived = scores_of_run(run.record, summary.cells, references)
    store(run.path, run.record, derived, references)
    return replace(summary, derived=derived)


def summarise(run: RunFolder) -> Summary:
    """Writes summary.csv and results.json from all sample files of a run folder, and returns the scores.

    Models behind a server also get usage.csv. Tasks that declare it get files with the probabilities of choices.

    Raises:
        UserError: if a sample file is damaged; its line is named.
    """
    summary = read_summary(run)  # from the files, so that what is printed is what is stored
    versions = {task: known["version"] for task, known in run.record["identity"].get("tasks", {}).items()}
    others = [row for task in summary.harness for row in summary_rows(task)]
    write_csv(run.path / SUMMARY, summary_columns(summary.cells, others), [*map(summary_row, summary.cells), *others])
    write_json(
        run.path / RESULTS, merged_results(harness_results(summary.cells, versions), summary.harness, summary.groups)
    )
    if rows := usage_rows(run.scores(name) for name in run.names):
        write_csv(run.path / USAGE, COLUMNS, rows)
    for line in write_probabilities(run):
        note(line)
    return summary


def read_summary(run: RunFolder) -> Summary:
    """Returns the scores of a run folder without derived metrics; writes nothing.

    Raises:
        UserError: if a sample file is damaged; its line is named.
    """
    stored = [run.scores(name) for name in run.names]
    harness = [task_scores(cell) for cell in stored if cell.harness]
    label = model_labels({run.path: run.record})[run.path]
    cells = [described(cell, run, label) for cell in stored if not cell.harness]
    return Summary(cells, harness, run.record.get("harness_groups", {}))


def config_of(record: RunRecord) -> Mapping[str, Any]:
    """Returns the config of the last session; empty if another program wrote the folder."""
    visits = record.get("visits") or [Visit()]
    config: Any = visits[-1].get("config", {})
    return config if isinstance(config, Mapping) else {}


def stored_references(config: Mapping[str, Any]) -> list[ReferenceRun]:
    """Returns the reference runs of a session that are still where they were."""
    paths: Mapping[str, str] = config.get("reference") or {}
    existing = {name: path for name, path in paths.items() if user_path(path).exists()}
    for name, path in paths.items():
        if name not in existing:
            note(f"the reference {name} is not at {path} any more; metrics that need it have no score")
    return open_references(existing)
