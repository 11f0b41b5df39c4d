"""A run folder's sample files to summary.csv, results.json and the tables at the end of a run."""

from collections.abc import Mapping
from dataclasses import dataclass

from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.means import means
from afrieval.analysis.reference import Evaluated, has_evals, reference_grids
from afrieval.analysis.scores import by_language
from afrieval.harness.scores import HarnessTaskScores, merged_results, summary_rows, task_scores, with_groups
from afrieval.report.comparison import contrast_grid
from afrieval.report.harness import harness_table
from afrieval.report.scores import mean_lines, overview_table, score_table
from afrieval.report.table import terminal
from afrieval.results.files import write_results, write_summary
from afrieval.results.reader import RunFolder
from afrieval.results.runs import described, model_labels
from afrieval.results.schema import HarnessGroup, Identity
from afrieval.results.scores import CellScores
from afrieval.results.summary import harness_results, summary_columns, summary_row
from afrieval.terminal import console


@dataclass(frozen=True)
class Summary:
    """What a run folder's samples say.

    Attributes:
        cells: our own tasks'.
        harness: the harness' tasks.
        groups: the harness' groups, as run.yaml has them.
    """

    cells: list[CellScores]
    harness: list[HarnessTaskScores]
    groups: Mapping[str, HarnessGroup]


def summarise(run: RunFolder) -> Summary:
    """Writes summary.csv and results.json from all sample files of a run folder, and returns what they say.

    Raises:
        UserError: if a sample file is damaged; its line is named.
    """
    every = [run.scores(name) for name in run.names]
    harness = [task_scores(cell) for cell in every if cell.harness]
    record = run.record
    label = model_labels({run.path: record})[run.path]
    cells = [described(cell, run, label) for cell in every if not cell.harness]
    identity, groups = record["identity"], record.get("harness_groups", {})
    versions = {task: known["version"] for task, known in identity.get("tasks", {}).items()}
    shots = identity["fewshot"]["num_fewshot"] if "fewshot" in identity else 0
    others = [row for task in harness for row in summary_rows(task)]
    write_summary(run.path, summary_columns(cells, others), [*map(summary_row, cells), *others])
    write_results(run.path, merged_results(harness_results(cells, shots, versions), harness, groups))
    return Summary(cells, harness, groups)


def show(
    cells: list[CellScores],
    identity: Identity,
    unreviewed: dict[str, set[str]],
    supported: set[str],
    seed: int,
) -> None:
    """Prints a table per task, where both prompt languages ran one of their difference, and one of all tasks.

    Tasks with a published evaluation, which are in English alone, have one table together.

    Args:
        cells: what to show.
        identity: what run.yaml says the run is.
        unreviewed: task to the languages whose native prompts nobody has reviewed.
        supported: languages that the model's authors name.
        seed: of the bootstrap.
    """
    screen = console(least=80)
    published = [cell for cell in cells if has_evals(cell)]
    own = [cell for cell in cells if cell.n and not has_evals(cell)]
    scores = by_language(own)
    tasks = list(dict.fromkeys(s.task for s in scores))
    african = means(own, ["Africa"])
    for task in tasks:
        doubtful = unreviewed.get(task, set())
        screen.print()
        of_task = [s for s in scores if s.task == task]
        title, notes = _heading(task, identity)
        screen.print(score_table(title, of_task, notes, doubtful, supported))
        for line in mean_lines(mean for mean in african if mean.task == task):
            screen.print(line)
        for contrast in contrasts([c for c in own if c.task == task], "prompt_language", seed):
            screen.print()
            screen.print(terminal(contrast_grid(contrast, doubtful)))
    for grid in reference_grids([Evaluated(cell) for cell in published if cell.n]):
        screen.print()
        screen.print(terminal(grid))
    screen.print()
    if len(tasks) > 1 and any(mean.interval for mean in african):
        screen.print(overview_table(african, scores))
        screen.print()


def _heading(task: str, identity: Identity) -> tuple[str, list[str]]:
    """Returns a table's title, and what has to be said of the examples."""
    described, shots = identity["tasks"][task], identity["fewshot"]["num_fewshot"]
    notes = []
    if shots and described["fewshot"] == described["evaluate"]:
        notes = [f"Examples come from the {described['evaluate']} split itself, leaving out the question asked."]
    return f"{task}: {described['answer_form']}, {shots}-shot", notes


def show_harness(tasks: list[HarnessTaskScores], groups: Mapping[str, HarnessGroup], cleaned: bool) -> None:
    """Prints the table of harness tasks and of the groups whose tasks are all among them."""
    screen = console(least=80)
    screen.print(harness_table(with_groups(tasks, groups), cleaned))
    screen.print()
