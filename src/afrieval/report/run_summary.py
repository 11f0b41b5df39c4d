"""The tables at the end of a run."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.means import means
from afrieval.analysis.published_evaluations import has_evals
from afrieval.analysis.scores import by_language
from afrieval.analysis.subgroups import outlines
from afrieval.analysis.suites import suite_averages
from afrieval.report.citing import likelihoods
from afrieval.report.columns import Column
from afrieval.report.comparison import tree_tables
from afrieval.report.contrast_tables import contrast_table
from afrieval.report.published_tables import reference_tables
from afrieval.report.score_tables import defects_of, harness_table, marked, naming_options, naming_rows, score_table
from afrieval.report.suite_tables import derived_tables, suite_tables
from afrieval.report.table import Table
from afrieval.report.verdict_words import one_answer_notes, rare_notes
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import words
from afrieval.results.run_files import RUN, read_run
from afrieval.results.schema import Identity, RunRecord
from afrieval.results.summary import Row, VisitWork, usage_rows, works
from afrieval.run.finish import Summary
from afrieval.run.harness.harness_scores import with_groups
from afrieval.run.suites.reference import published_for
from afrieval.scoring.base import Metric

SHOWN = {
    "requests": "requests",
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "answer tokens",
    "reasoning_tokens": "thinking",
}


def usage_tables(rows: Sequence[Row]) -> list[Table]:
    """Returns what answers took, from the rows of usage.csv, by task and language and in all; empty for no rows."""
    if not rows:
        return []
    names = [name for name in SHOWN if name != "reasoning_tokens" or any(row[name] for row in rows)]
    priced = ["cost"] if any(row["cost"] is not None for row in rows) else []
    columns = [Column("task"), Column("language", "language"), *(Column(SHOWN[n], "amount", n) for n in names)]
    found = [[row[name] for name in ("task", "language", *names, *priced)] for row in rows]
    ends = (len(found) - 1,) if len(found) > 1 else ()
    total = [["total", "", *(sum(filter(None, of)) for of in list(zip(*found, strict=True))[2:])]] if ends else []
    columns += [Column(name, "money") for name in priced]
    answers, unknown = (sum(row[name] for row in rows) for name in ("answers", "unknown"))
    of = f"{unknown:,} of {answers:,} answers; they are in no sum and no cost."
    notes = [f"The server states no usable number of tokens for {of}"] if unknown else []
    return [Table("usage", "Requests and tokens", columns, [*found, *total], notes, ends=ends)]


def cut_off(cells: Iterable[CellScores]) -> list[str]:
    """Returns how many answers ended at their limit of tokens; empty for none."""
    every = list(cells)
    n, cut = (int(sum(cell.usage.get(name, 0) for cell in every)) for name in ("answers", "cut_off"))
    thinks = any(cell.usage.get("reasoning_tokens") for cell in every)
    cure = "; --model.api.reasoning_effort leaves more room for thinking" if thinks else ""
    return [f"{cut:,} of {n:,} answers were cut off at max_gen_toks{cure}."] if cut else []


def missing_letters(cells: Iterable[CellScores]) -> list[str]:
    """Returns how many letters had no likelihood, if answers are letters; empty if all had one."""
    every = list(cells)
    names = ("missing_letters", "letters", "no_letter", "answers")
    missing, letters, none, answers = (int(sum(cell.usage.get(name, 0) for cell in every)) for name in names)
    if not missing:
        return []
    of_all = f"{none:,} of {answers:,} questions, whose answers are unparsed"
    return [f"{missing:,} of {letters:,} letters were not among the tokens that the server returns; all in {of_all}."]


def run_tables(found: Summary, record: RunRecord, supported: Collection[str], seed: int) -> list[Table]:
    """Returns the tables at the end of a run.

    There is one per task, one of differences where both prompt languages ran, and one of all tasks; those of
    derived metrics are last.
    Tasks with a published evaluation, which are in English alone, have one table together, and so have harness tasks.

    `supported` has the languages that the model's authors name.
    """
    cells = [cell for cell in found.cells if cell.n]
    published, own = [cell for cell in cells if has_evals(cell)], suite_cells(cells)
    tables = [
        table
        for of_task in grouped(own, lambda c: c.task).values()
        for table in _of_task(of_task, record, supported, seed)
    ]
    tables += [*reference_tables(published), *suite_tables(suite_averages(own))]
    tables += usage_tables(usage_rows(found.cells))
    cleaned = any(of.get("clean_prompts") for of in record["identity"].get("harness_tasks", {}).values())
    tables = naming_rows(tables, found.cells)
    if found.harness:
        selection = words(of.selection for of in found.harness)
        tables.append(harness_table(with_groups(found.harness, found.groups), cleaned, selection))
    if found.derived:
        suite = record["suite"]["name"]
        tables += derived_tables(suite, found.derived, published_for(suite, found.derived))
    return tables


def suite_cells(cells: Iterable[CellScores]) -> list[CellScores]:
    """Returns the cells with scores that tables per task and language show."""
    return [cell for cell in cells if cell.n and not has_evals(cell) and cell.is_averaged]


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
    described = identity["tasks"][task]
    shots = described.get("shots", identity["fewshot"]["num_fewshot"])
    notes = []
    if shots and described["fewshot"] == described["evaluate"]:
        notes = [f"Examples come from the {described['evaluate']} split itself, leaving out the question asked."]
    form = "likelihoods" if metric.needs else described["answer_form"]
    return f"{task}: {form}, {shots}-shot", notes


def _shortened(cells: list[CellScores]) -> list[str]:
    kept, n = [share for cell in cells for share in cell.kept], sum(cell.n for cell in cells)
    if not kept:
        return []
    named = " ".join(dict.fromkeys(cell.language for cell in cells if cell.kept))
    part = f"{np.mean(kept):.0%} of their text was kept on average, {min(kept):.0%} at least"
    return [f"{len(kept):,} of {n:,} prompts were shortened to fit the model's context ({named}); {part}."]


def _dropped(cells: list[CellScores]) -> list[str]:
    shown, n = [number for cell in cells for number in cell.fewer_examples], sum(cell.n for cell in cells)
    if not shown:
        return []
    named = " ".join(dict.fromkeys(cell.language for cell in cells if cell.fewer_examples))
    few = f"{min(shown)} at least, {np.mean(shown):.1f} on average"
    return [f"{len(shown):,} of {n:,} prompts have fewer examples, to fit the model's context ({named}): {few}."]


WORK_COLUMNS = [
    Column("visit"),
    Column("requests for"),
    Column("requests", "amount"),
    Column("plain tokens", "amount", "plain_tokens"),
    Column("computed", "amount", "computed_tokens"),
    Column("in answers", "amount", "answer_tokens"),
    Column("seconds", "amount"),
    Column("tokens/s", "amount", "tokens_per_second"),
]
NOTES = [
    "Plain tokens are those that the harness computes, with the whole prompt for each choice.",
    "Computed tokens are those of the forward passes, padding and generated answers included.",
]


def work_tables(visits: Iterable[VisitWork]) -> list[Table]:
    """Returns what visits took, a row for each kind of request; empty if none is stored."""
    rows = [_row(visit) for visit in visits]
    counted = any(row[3] or row[4] for row in rows)
    written = any(row[5] for row in rows)
    hidden = {} if counted else dict.fromkeys(("plain_tokens", "computed_tokens", "tokens_per_second"), "hidden")
    hidden |= {} if written else {"answer_tokens": "hidden"}
    columns = [column._replace(form=hidden.get(column.key, column.form)) for column in WORK_COLUMNS]
    return [Table("work", "What the run took", columns, rows, NOTES if counted else [])] if rows else []


def work_of(folder: Path) -> list[Table]:
    """Returns what the visits to a run folder took; empty for other programs' folders.

    Raises:
        UserError: if run.yaml cannot be read.
    """
    return work_tables(works(read_run(folder), folder)) if (folder / RUN).exists() else []


def _row(visit: VisitWork) -> list[Any]:
    taken = visit.taken
    computed, seconds = taken.get("computed"), taken["seconds"]
    rate = round(computed / seconds) if computed and seconds else None
    counts = [taken["requests"], taken.get("plain"), computed, taken.get("written")]
    return [visit.date[:16].replace("T", " "), visit.kind, *counts, round(seconds, 1), rate]
