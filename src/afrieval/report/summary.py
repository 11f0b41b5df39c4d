"""A run folder's sample files to summary.csv, results.json and the tables at the end of a run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.means import means
from afrieval.analysis.reference import Evaluated, has_evals
from afrieval.analysis.scores import by_language
from afrieval.harness.scores import HarnessTaskScores, merged_results, summary_rows, task_scores, with_groups
from afrieval.report.contrasts import contrast_table
from afrieval.report.formats import show as show_tables
from afrieval.report.harness import harness_table
from afrieval.report.reference import reference_tables
from afrieval.report.scores import overview_tables, score_table
from afrieval.results.cells import SUMMARY_COLUMNS, CellScores, cell_scores, harness_results, summary_row
from afrieval.results.files import (
    cell_names,
    read_cell,
    read_harness,
    read_run,
    write_results,
    write_summary,
)
from afrieval.results.samples import is_harness
from afrieval.results.units import Unit
from afrieval.terminal import say


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
    groups: dict[str, dict[str, Any]]


def summarise(folder: Path) -> Summary:
    """Writes summary.csv and results.json from all sample files of a run folder, and returns what they say.

    Raises:
        UserError: if a sample file is damaged; its line is named.
    """
    cells, harness = [], []
    for name in cell_names(folder):
        samples = read_cell(folder, name)
        if is_harness(samples[0]):
            harness.append(task_scores(read_harness(folder, name), samples))
        else:
            cells.append(cell_scores(name, samples))
    known = read_run(folder)
    identity, groups = known["identity"], known.get("harness_groups", {})
    versions = {task: described["version"] for task, described in identity.get("tasks", {}).items()}
    ours = harness_results(cells, identity.get("fewshot", {}).get("num_fewshot", 0), versions)
    rows = [summary_row(cell) for cell in cells] + [row for task in harness for row in summary_rows(task)]
    write_summary(folder, SUMMARY_COLUMNS, rows)
    write_results(folder, merged_results(ours, harness, groups))
    return Summary(cells, harness, groups)


def show(
    cells: list[CellScores],
    units: list[Unit],
    identity: dict[str, Any],
    unreviewed: dict[str, set[str]],
    supported: set[str],
    seed: int,
) -> None:
    """Prints a table per task, where both prompt languages ran one of their difference, and one of all tasks.

    Tasks with a published evaluation, which are in English alone, have one table together.

    Args:
        cells: what to show.
        units: the same cells, for comparison.
        identity: what run.yaml says the run is.
        unreviewed: task to the languages whose native prompts nobody has reviewed.
        supported: languages that the model's authors name.
        seed: of the bootstrap.
    """
    published = {u.name: u for u in units if has_evals(u)}
    scores = by_language([cell for cell in cells if cell.name not in published])
    tasks = list(dict.fromkeys(s.task for s in scores))
    order = {cell.name: place for place, cell in enumerate(cells)}
    in_order = sorted(units, key=lambda unit: order[unit.name])
    african = means([unit for unit in in_order if unit.task in tasks], ["Africa"])
    tables = []
    for task in tasks:
        doubtful, (title, notes) = unreviewed.get(task, set()), _heading(task, identity)
        of_task = [s for s in scores if s.task == task]
        over_languages = [mean for mean in african if mean.task == task]
        tables.append(score_table(title, of_task, notes, doubtful, supported, over_languages))
        of_prompts = contrasts([u for u in units if u.task == task], "prompt_language", seed)
        tables += [contrast_table(contrast, doubtful) for contrast in of_prompts]
    tables += reference_tables([Evaluated(published[c.name], c) for c in cells if c.name in published])
    say()
    show_tables([*tables, *(overview_tables(african, scores) if len(tasks) > 1 else [])])


def _heading(task: str, identity: dict[str, Any]) -> tuple[str, list[str]]:
    """Returns a table's title, and what has to be said of the examples."""
    described, shots = identity["tasks"][task], identity["fewshot"]["num_fewshot"]
    notes = []
    if shots and described["fewshot"] == described["evaluate"]:
        notes = [f"Examples come from the {described['evaluate']} split itself, leaving out the question asked."]
    return f"{task}: {described['answer_form']}, {shots}-shot", notes


def show_harness(tasks: list[HarnessTaskScores], groups: dict[str, dict[str, Any]], cleaned: bool) -> None:
    """Prints the table of harness tasks and of the groups whose tasks are all among them."""
    show_tables([harness_table(with_groups(tasks, groups), cleaned)])
