"""The tables at the end of a run: when it ends, and later from its folder, whole or as far as it got."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.means import means
from afrieval.analysis.scores import by_language
from afrieval.analysis.subgroups import outlines
from afrieval.analysis.suites import suite_averages
from afrieval.analysis.verdicts import one_answer
from afrieval.report.citing import likelihoods
from afrieval.report.columns import Column
from afrieval.report.comparison import tree_tables
from afrieval.report.contrast_tables import contrast_table
from afrieval.report.judged_tables import judged_tables
from afrieval.report.score_tables import (
    defects_of,
    marked,
    naming_options,
    naming_rows,
    not_better,
    noting_systems,
    run_table,
    score_table,
)
from afrieval.report.suite_tables import as_language_score, derived_tables, harness_table, suite_tables
from afrieval.report.table import EVALUATION_TABLES, Table
from afrieval.report.values import ANY, Bounds, language_names
from afrieval.report.verdict_words import one_answer_notes, rare_notes
from afrieval.results.cell_key import prompt_order
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Row
from afrieval.results.identity import words
from afrieval.results.run_files import RUN, read_run
from afrieval.results.run_folder import RunFolder
from afrieval.results.schema import Identity, RunRecord
from afrieval.results.usage import usage_rows, works
from afrieval.run.finish import Summary, config_of, read_summary, stored_references
from afrieval.run.harness.harness_scores import task_scores, with_groups
from afrieval.run.suites.reference import published_for
from afrieval.run.suites.run import scores_of_run
from afrieval.scoring.labels import TOO_LONG

SHOWN = {
    "requests": "requests",
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "answer tokens",
    "reasoning_tokens": "thinking",
}


def usage_tables(rows: Sequence[Row]) -> list[Table]:
    """Returns requests, tokens and cost by task, language and in total, from the rows of usage.csv."""
    if not rows:
        return []
    names = [name for name in SHOWN if name != "reasoning_tokens" or any(row[name] for row in rows)]
    priced = ["cost"] if any(row["cost"] is not None for row in rows) else []
    columns = [Column("task"), Column("language", "language"), *(Column(SHOWN[n], "amount", n) for n in names)]
    rows_shown = [[row[name] for name in ("task", "language", *names, *priced)] for row in rows]
    ends = (len(rows_shown) - 1,) if len(rows_shown) > 1 else ()
    total = [["total", "", *(sum(filter(None, of)) for of in list(zip(*rows_shown, strict=True))[2:])]] if ends else []
    columns += [Column(name, "money") for name in priced]
    answers, unknown = (sum(row[name] for row in rows) for name in ("answers", "unknown"))
    uncounted = f"{unknown:,} of {answers:,} answers; they are in no sum and no cost."
    notes = [f"The server states no usable number of tokens for {uncounted}"] if unknown else []
    return [Table("usage", "Requests and tokens", columns, [*rows_shown, *total], notes, ends=ends)]


def cut_off(cells: Sequence[CellScores]) -> list[str]:
    """Returns how many answers ended at their limit of tokens, and questions were too long; empty for none."""
    n, cut, long = _answers(cells), _sum(cells, "cut_off"), _sum(cells, TOO_LONG)
    thinks = _sum(cells, "reasoning_tokens") > 0
    cure = "; --model.api.reasoning_effort leaves more room for thinking" if thinks else ""
    room = "a smaller --eval.max_gen_toks or --eval.num_fewshot leaves more room"
    unasked = f"{long:,} of {n:,} questions were too long for the server, and are unanswered; {room}."
    return [*_cut(cut, n, cure), *([unasked] if long else [])]


def _cut(cut: int, n: int, cure: str = "") -> list[str]:
    return [f"{cut:,} of {n:,} answers were cut off at max_gen_toks{cure}."] if cut else []


def _answers(cells: Iterable[CellScores]) -> int:
    """Returns the number of answers, which servers count themselves."""
    return int(sum(cell.usage.get("answers", cell.n) for cell in cells))


def _sum(cells: Iterable[CellScores], name: str) -> int:
    return int(sum(cell.usage.get(name, 0) for cell in cells))


def thought(cells: Sequence[CellScores], record: RunRecord) -> list[str]:
    """Returns how many answers hold thinking, and how many nothing else; empty for none."""
    n, end = _answers(cells), config_of(record).get("model", {}).get("thinking_end")
    only, ended = _sum(cells, "thought_only"), _sum(cells, "thought_ended")
    cure = "" if end else "--model.thinking_end with what ends it, or "
    cure += "a larger --eval.max_gen_toks or a lower --model.api.reasoning_effort, leaves room for answers"
    lacking = f"{only:,} of {n:,} answers are thinking that did not end in an answer, and are unparsed: {cure}."
    after = "only what follows it is scored; --model.thinking_end, such as </think>, gives it room"
    begun = f"{ended:,} of {n:,} answers begin with thinking: {after}."
    return [lacking] * (only > 0) + [begun] * (ended > 0 and not end)


def missing_letters(cells: Sequence[CellScores]) -> list[str]:
    """Returns how many letters had no likelihood, if answers are letters; empty if all had one."""
    names = ("missing_letters", "letters", "no_letter", "answers")
    missing, letters, none, answers = (_sum(cells, name) for name in names)
    if not missing:
        return []
    of_all = f"{none:,} of {answers:,} questions, whose answers are unparsed"
    return [f"{missing:,} of {letters:,} letters were not among the tokens that the server returns; all in {of_all}."]


def run_tables(summary: Summary, record: RunRecord, supported: Collection[str], seed: int) -> list[Table]:
    """Returns the tables at the end of a run.

    The average over several tasks is first. There is one table per task, and one of differences where both prompt
    languages ran; derived metrics are last. Tasks with a published evaluation, which are in English alone, share one
    table, and so do harness tasks.

    `supported` has the languages that the model's authors name.
    """
    cells = [cell for cell in summary.cells if cell.n]
    published, of_suite = [cell for cell in cells if "evals" in cell.declared], suite_cells(cells)
    tables = [
        table
        for of_task in grouped(of_suite, lambda c: c.task).values()
        for table in _of_task(of_task, record, supported, seed)
    ]
    notes = [*cut_off(published), *thought(published, record)]
    references = [table for _, of in EVALUATION_TABLES.items() for table in of.reference_tables(published)]
    references = [replace(of, notes=[*of.notes, *notes * (not at)]) for at, of in enumerate(references)]
    tables = [*suite_tables(suite_averages(of_suite)), *tables, *references]
    tables += [*judged_tables(cells), *usage_tables(usage_rows(summary.cells))]
    tables = naming_rows(tables, summary.cells)
    if summary.harness:
        cleaned = any(of.get("clean_prompts") for of in record["identity"].get("harness_tasks", {}).values())
        selection = words(of.selection for of in summary.harness)
        table = harness_table(with_groups(summary.harness, summary.groups), cleaned, selection)
        cut, n = sum(of.cut for of in summary.harness), sum(of.record["n"] for of in summary.harness)
        tables.append(replace(table, notes=[*table.notes, *_cut(cut, n)]))
    if summary.derived:
        suite = record["suite"]["name"]
        tables += derived_tables(suite, summary.derived, published_for(suite, summary.derived))
    return tables


def suite_cells(cells: Iterable[CellScores]) -> list[CellScores]:
    """Returns the cells with scores that tables per task and language show."""
    return [cell for cell in cells if cell.n and "evals" not in cell.declared and cell.is_averaged]


def _of_task(cells: list[CellScores], record: RunRecord, supported: Collection[str], seed: int) -> list[Table]:
    task, metric = cells[0].task, cells[0].metric
    described = record["identity"]["tasks"][task]
    shots, notes = cells[0].shots, list[str]()
    if shots and described["fewshot"] == described["evaluate"]:
        notes = [f"Examples come from the {described['evaluate']} split itself, leaving out the question asked."]
    title = f"{task}: {'likelihoods' if metric.needs else described['answer_form']}, {shots}-shot"
    metrics = {name: known for c in cells for name, known in c.metrics.items()}
    notes += [*_fitted(cells), *cut_off(cells), *thought(cells, record)]
    notes += missing_letters(cells)
    notes += [*one_answer_notes(cells), *rare_notes(cells)]
    # a model's preference for a label hides what it knows
    shown = {cell.contrast for cell in cells if one_answer(cell) and cell.contrast}
    table = score_table(title, by_language(cells), notes, set(supported), means(cells, ["Africa"]), metrics, shown)
    table = replace(table, findings=[*table.findings, *not_better(cells)])
    tables = [replace(table, signs=[*table.signs, *likelihoods(cells)])]
    of_prompts = contrasts(sorted(cells, key=lambda c: c.name), "prompt_language", seed)
    tables += [noting_systems(contrast_table(contrast, metric), cells) for contrast in of_prompts]
    tables += tree_tables(outlines(cells))
    return [marked(table, defects_of(cells)) for table in naming_options(tables, cells)]


def _fitted(cells: list[CellScores]) -> list[str]:
    """Returns how many prompts were shortened, and how many have fewer examples, to fit the model's context."""
    notes, n = [], sum(cell.n for cell in cells)
    if shares := [share for cell in cells for share in cell.kept_shares]:
        named = language_names({cell.language for cell in cells if cell.kept_shares})
        part = f"{np.mean(shares):.0%} of their text was kept on average, {min(shares):.0%} at least"
        notes.append(f"{len(shares):,} of {n:,} prompts were shortened to fit the model's context ({named}); {part}.")
    if counts := [number for cell in cells for number in cell.fewer_examples]:
        named = language_names({cell.language for cell in cells if cell.fewer_examples})
        few = f"{min(counts)} at least, {np.mean(counts):.1f} on average"
        fewer = f"{len(counts):,} of {n:,} prompts have fewer examples, to fit the model's context"
        notes.append(f"{fewer} ({named}): {few}.")
    return notes


PLAIN = "tokens that the harness computes, with the whole prompt for each choice"
COMPUTED = "tokens of the forward passes, padding and generated answers included"
WORK_COLUMNS = [
    Column("session", "text", "visit"),
    Column("requests for"),
    Column("requests", "amount"),
    Column("plain tokens", "amount", "plain_tokens", says=PLAIN, minor=True),
    Column("computed tokens", "amount", "computed_tokens", says=COMPUTED, minor=True),
    Column("in answers", "amount", "answer_tokens", minor=True),
    Column("seconds", "amount"),
    Column("tokens/s", "amount", "tokens_per_second"),
]


def work_of(folder: Path) -> list[Table]:
    """Returns the usage of each session of a run, a row for each kind of request; empty if none is stored.

    It is empty for other programs' folders, too.

    Raises:
        UserError: if run.yaml cannot be read.
    """
    rows: list[list[Any]] = []
    for visit in works(read_run(folder), folder) if (folder / RUN).exists() else []:
        work = visit.amount
        computed, seconds = work.get("computed"), work["seconds"]
        rate = round(computed / seconds) if computed and seconds else None
        counts = [work["requests"], work.get("plain"), computed, work.get("written")]
        rows.append([visit.date[:16].replace("T", " "), visit.kind, *counts, round(seconds, 1), rate])
    counted = any(row[3] or row[4] for row in rows)
    written = any(row[5] for row in rows)
    hidden = {} if counted else dict.fromkeys(("plain_tokens", "computed_tokens", "tokens_per_second"), "hidden")
    hidden |= {} if written else {"answer_tokens": "hidden"}
    columns = [column._replace(form=hidden.get(column.key, column.form)) for column in WORK_COLUMNS]
    return [Table("work", "Usage of each session", columns, rows)] if rows else []


CONTINUES = "the same `afrieval run` command continues"


def stored_tables(run: RunFolder, label: str) -> tuple[list[Table], list[CellScores]]:
    """Returns the tables of a run, derived metrics last, and the cells that they show.

    What an unfinished run lacks is in the notes of tables, and in one line on standard error.

    Raises:
        UserError: if a file of the folder is damaged.
    """
    record, stored = run.record, read_summary(run)
    cells = in_order((replace(cell, model=label) for cell in stored.cells), record["identity"])
    order = {name: at for at, name in enumerate(record["identity"].get("harness_tasks", {}))}
    harness = sorted(stored.harness, key=lambda task: order.get(task.record["task"], len(order)))
    config = config_of(record)
    supported, seed = config.get("model", {}).get("languages_supported") or [], config.get("eval", {})
    lacking = _lacking(run, cells)
    for line in lacking.values():
        note(f"{run.path}: {line}")
    summary = Summary(cells, harness, stored.groups, scores_of_run(record, cells, stored_references(config)))
    tables = run_tables(summary, record, supported, seed.get("numpy_random_seed", 42))
    for index, table in enumerate(tables):
        if lack := lacking.get("" if table.kind == "harness" else table.about.get("task", "-")):
            tables[index] = replace(table, notes=[lack, *table.notes])
    return tables, cells


def in_order(cells: Iterable[CellScores], identity: Identity) -> list[CellScores]:
    """Returns cells in the order in which they were planned, as run.yaml has tasks and languages."""
    tasks = identity.get("tasks", {})

    def place(cell: CellScores) -> tuple[Any, ...]:
        languages = list(tasks[cell.task]["data"])
        index = languages.index(cell.language) if cell.language in languages else len(languages)
        return list(tasks).index(cell.task), index, cell.prompt_language, prompt_order(cell.prompt)

    return sorted(cells, key=place)


def _lacking(run: RunFolder, cells: list[CellScores]) -> dict[str, str]:
    """Returns what is missing of each task of the suite, and of all tasks of the harness together, as sentences."""
    tasks, finished = run.record["identity"].get("tasks", {}), set(run.names)

    def task_of(name: str) -> str:  # empty for a task of the harness
        return max((task for task in tasks if name.startswith(f"{task}_")), key=len, default="")

    planned = grouped(run.record.get("cells", []), task_of)
    lines = {}
    for task, names in planned.items():
        if missing := [name for name in names if name not in finished]:
            which = f"{len(missing)} of {len(names)} cells are missing, such as {missing[0]}"
            lines[task] = f"Not finished: {which}; {CONTINUES}."
    for (task, _), prompts in grouped(cells, lambda cell: (cell.task, cell.language)).items():
        first, last = min(prompts, key=lambda cell: cell.rows), max(prompts, key=lambda cell: cell.rows)
        if first.rows < last.rows:
            rows = f"{first.name} has {first.rows} rows, and {last.name} {last.rows}"
            lines.setdefault(task, f"Not finished: {rows}; {CONTINUES}.")
    return lines


def of_model(tables: Iterable[Table], label: str, path: Path) -> list[Table]:
    """Returns tables whose titles name the model, since tables of other runs are next to them."""
    about = {"model": label, "run": str(path)}
    return [replace(table, title=f"{label}, {table.title}", about={**about, **table.about}) for table in tables]


def one_table(run: RunFolder) -> Table:
    """Returns the scores, averaged over prompts: one row per task, language and prompt language.

    Harness tasks come last, each with the main metric, on the harness' own scale.

    Raises:
        UserError: if a file of the folder is damaged; its line is named.
    """
    cells = [run.scores(name) for name in run.names]
    of_suite = [cell for cell in cells if not cell.harness]
    bounds: dict[tuple[str, str], Bounds] = {(c.task, c.main): c.metric.bounds for c in of_suite if c.n}
    scores = by_language(of_suite)
    harness = [scored.scores[0] for cell in cells if cell.harness and (scored := task_scores(cell)).scores]
    scales = [bounds[s.task, s.metric] for s in scores] + [ANY for _ in harness]
    table = run_table(f"Scores of {run.path.name}", [*scores, *map(as_language_score, harness)], scales)
    return naming_rows([table], cells)[0]
