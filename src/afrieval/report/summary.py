"""A run folder's sample files to summary.csv, results.json and the tables at the end of a run."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from afrieval.analysis.averages import suite_averages
from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.means import means
from afrieval.analysis.memorisation import about, remembered
from afrieval.analysis.reference import has_evals
from afrieval.analysis.scores import by_language
from afrieval.analysis.trees import outlines
from afrieval.harness.scores import HarnessTaskScores, merged_results, summary_rows, task_scores, with_groups
from afrieval.report.comparison import metrics_of
from afrieval.report.contrasts import contrast_table
from afrieval.report.defects import defects_of, marked
from afrieval.report.formats import show as show_tables
from afrieval.report.harness import harness_table
from afrieval.report.memorisation import memorisation_tables
from afrieval.report.options import naming_options
from afrieval.report.reference import reference_tables
from afrieval.report.scores import score_table
from afrieval.report.suites import suite_tables
from afrieval.report.trees import tree_tables
from afrieval.report.usage import cut_off, missing_letters, usage_tables
from afrieval.results.files import write_results, write_summary, write_usage
from afrieval.results.probabilities import write_probabilities
from afrieval.results.reader import RunFolder
from afrieval.results.runs import described, model_labels
from afrieval.results.schema import HarnessGroup, Identity
from afrieval.results.scores import CellScores
from afrieval.results.summary import harness_results, summary_columns, summary_row
from afrieval.results.usage import COLUMNS, usage_rows
from afrieval.scoring.base import Metric
from afrieval.terminal import note, say


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

    Models behind a server also get usage.csv.
    Tasks that declare it get files with the probabilities of choices.

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
    others = [row for task in harness for row in summary_rows(task)]
    write_summary(run.path, summary_columns(cells, others), [*map(summary_row, cells), *others])
    write_results(run.path, merged_results(harness_results(cells, versions), harness, groups))
    write_usage(run.path, COLUMNS, usage_rows(every))
    for line in write_probabilities(run):
        note(line)
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
        unreviewed: task to the languages whose native prompts are unreviewed.
        supported: languages that the model's authors name.
        seed: of the bootstrap.
    """
    published = [cell for cell in cells if cell.n and has_evals(cell)]
    own = [cell for cell in cells if cell.n and not has_evals(cell) and not about(cell)]
    metrics = metrics_of(own)
    scores = by_language(own)
    tasks = list(dict.fromkeys(s.task for s in scores))
    african = means(own, ["Africa"])
    tables = []
    for task in tasks:
        doubtful, (title, notes) = unreviewed.get(task, set()), _heading(task, identity, metrics[task])
        of_task = [s for s in scores if s.task == task]
        over_languages = [mean for mean in african if mean.task == task]
        of_cells = [c for c in own if c.task == task]
        every = {name: known for c in of_cells for name, known in c.metrics.items()}
        notes += [*_shortened(of_cells), *_dropped(of_cells), *cut_off(of_cells), *missing_letters(of_cells)]
        own_tables = [score_table(title, of_task, notes, doubtful, supported, over_languages, every)]
        of_prompts = contrasts(sorted(of_cells, key=lambda c: c.name), "prompt_language", seed)
        own_tables += [contrast_table(contrast, doubtful, metric=metrics[task]) for contrast in of_prompts]
        own_tables += tree_tables(outlines(of_cells), metrics)
        tables += [marked(table, defects_of(of_cells)) for table in naming_options(own_tables, of_cells)]
    tables += [*reference_tables(published), *memorisation_tables(remembered(cells))]
    say()
    show_tables([*tables, *suite_tables(suite_averages(own)), *usage_tables(usage_rows(cells))])


def _heading(task: str, identity: Identity, metric: Metric) -> tuple[str, list[str]]:
    """Returns a table's title, and what has to be said of the examples."""
    described = identity["tasks"][task]
    shots = described.get("shots", identity["fewshot"]["num_fewshot"])
    notes = []
    if shots and described["fewshot"] == described["evaluate"]:
        notes = [f"Examples come from the {described['evaluate']} split itself, leaving out the question asked."]
    form = "likelihoods" if metric.needs else described["answer_form"]
    return f"{task}: {form}, {shots}-shot", notes


def _shortened(cells: list[CellScores]) -> list[str]:
    """Returns how many prompts were shortened to fit the model's context, and by how much; empty for none."""
    kept, n = [share for cell in cells for share in cell.kept], sum(cell.n for cell in cells)
    if not kept:
        return []
    named = " ".join(dict.fromkeys(cell.language for cell in cells if cell.kept))
    part = f"{np.mean(kept):.0%} of their text was kept on average, {min(kept):.0%} at least"
    return [f"{len(kept):,} of {n:,} prompts were shortened to fit the model's context ({named}); {part}."]


def _dropped(cells: list[CellScores]) -> list[str]:
    """Returns how many prompts had fewer examples than asked for; empty for none."""
    shown, n = [number for cell in cells for number in cell.fewer_examples], sum(cell.n for cell in cells)
    if not shown:
        return []
    named = " ".join(dict.fromkeys(cell.language for cell in cells if cell.fewer_examples))
    few = f"{min(shown)} at least, {np.mean(shown):.1f} on average"
    return [f"{len(shown):,} of {n:,} prompts have fewer examples, to fit the model's context ({named}): {few}."]


def show_harness(tasks: list[HarnessTaskScores], groups: Mapping[str, HarnessGroup], cleaned: bool) -> None:
    """Prints the table of harness tasks and of the groups whose tasks are all among them."""
    show_tables([harness_table(with_groups(tasks, groups), cleaned)])
