"""A run folder's sample files to summary.csv, results.json and the tables at the end of a run."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from afrieval.analysis.averages import suite_averages
from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.means import means
from afrieval.analysis.memorisation import about, remembered
from afrieval.analysis.reference import has_evals
from afrieval.analysis.scores import by_language
from afrieval.analysis.trees import outlines
from afrieval.grouping import grouped
from afrieval.harness.scores import HarnessTaskScores, merged_results, summary_rows, task_scores, with_groups
from afrieval.report.contrasts import contrast_table
from afrieval.report.defects import defects_of, marked
from afrieval.report.harness import harness_table
from afrieval.report.memorisation import memorisation_tables
from afrieval.report.method import likelihoods
from afrieval.report.options import naming_options, naming_rows
from afrieval.report.reference import reference_tables
from afrieval.report.scores import score_table
from afrieval.report.suites import suite_tables
from afrieval.report.table import Table
from afrieval.report.trees import tree_tables
from afrieval.report.usage import cut_off, missing_letters, usage_tables
from afrieval.report.verdicts import one_answer_notes, rare_notes
from afrieval.results.files import write_results, write_summary, write_usage
from afrieval.results.probabilities import write_probabilities
from afrieval.results.reader import RunFolder
from afrieval.results.runs import described, model_labels
from afrieval.results.schema import HarnessGroup, Identity, RunRecord
from afrieval.results.scores import CellScores
from afrieval.results.selection import words
from afrieval.results.summary import harness_results, summary_columns, summary_row
from afrieval.results.usage import COLUMNS, usage_rows
from afrieval.scoring.base import Metric
from afrieval.terminal import note


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


def read_summary(run: RunFolder) -> Summary:
    """Returns what a run folder's samples say.

    Raises:
        UserError: if a sample file is damaged; its line is named.
    """
    every = [run.scores(name) for name in run.names]
    harness = [task_scores(cell) for cell in every if cell.harness]
    label = model_labels({run.path: run.record})[run.path]
    cells = [described(cell, run, label) for cell in every if not cell.harness]
    return Summary(cells, harness, run.record.get("harness_groups", {}))


def summarise(run: RunFolder) -> Summary:
    """Writes summary.csv and results.json from all sample files of a run folder, and returns what they say.

    Models behind a server also get usage.csv.
    Tasks that declare it get files with the probabilities of choices.

    Raises:
        UserError: if a sample file is damaged; its line is named.
    """
    found = read_summary(run)
    cells, harness, groups = found.cells, found.harness, found.groups
    versions = {task: known["version"] for task, known in run.record["identity"].get("tasks", {}).items()}
    others = [row for task in harness for row in summary_rows(task)]
    write_summary(run.path, summary_columns(cells, others), [*map(summary_row, cells), *others])
    write_results(run.path, merged_results(harness_results(cells, versions), harness, groups))
    write_usage(run.path, COLUMNS, usage_rows(run.scores(name) for name in run.names))
    for line in write_probabilities(run):
        note(line)
    return found


def run_tables(found: Summary, record: RunRecord, supported: Collection[str], seed: int) -> list[Table]:
    """Returns the tables at the end of a run.

    There is one per task, where both prompt languages ran one of their difference, and one of all tasks.
    Tasks with a published evaluation, which are in English alone, have one table together, and so have harness tasks.

    Args:
        found: what to show.
        record: what run.yaml says.
        supported: languages that the model's authors name.
        seed: of the bootstrap.
    """
    cells = [cell for cell in found.cells if cell.n]
    published, own = [cell for cell in cells if has_evals(cell)], suite_cells(cells)
    tables = [
        table
        for of_task in grouped(own, lambda c: c.task).values()
        for table in _of_task(of_task, record, supported, seed)
    ]
    tables += [*reference_tables(published), *memorisation_tables(remembered(found.cells))]
    tables += [*suite_tables(suite_averages(own)), *usage_tables(usage_rows(found.cells))]
    cleaned = any(of.get("clean_prompts") for of in record["identity"].get("harness_tasks", {}).values())
    tables = naming_rows(tables, found.cells)
    return tables + ([_harness_table(found, cleaned)] if found.harness else [])


def _harness_table(found: Summary, cleaned: bool) -> Table:
    return harness_table(with_groups(found.harness, found.groups), cleaned, words(of.selection for of in found.harness))


def suite_cells(cells: Iterable[CellScores]) -> list[CellScores]:
    """Returns the cells with scores that tables per task and language show."""
    return [cell for cell in cells if cell.n and not has_evals(cell) and not about(cell)]


def _of_task(cells: list[CellScores], record: RunRecord, supported: Collection[str], seed: int) -> list[Table]:
    task, metric = cells[0].task, cells[0].metric
    doubtful = set(record.get("declared", {}).get(task, {}).get("unreviewed", {}))
    title, notes = _heading(task, record["identity"], metric)
    every = {name: known for c in cells for name, known in c.metrics.items()}
    notes += [*likelihoods(cells), *_shortened(cells), *_dropped(cells), *cut_off(cells), *missing_letters(cells)]
    notes += [*one_answer_notes(cells), *rare_notes(cells)]
    tables = [score_table(title, by_language(cells), notes, doubtful, set(supported), means(cells, ["Africa"]), every)]
    of_prompts = contrasts(sorted(cells, key=lambda c: c.name), "prompt_language", seed)
    tables += [contrast_table(contrast, doubtful, metric=metric) for contrast in of_prompts]
    tables += tree_tables(outlines(cells), {task: metric})
    return [marked(table, defects_of(cells)) for table in naming_options(tables, cells)]


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
