"""All that runs say of one language: scores of all models with their ranks, tokens, cost; and scores by language."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.analysis.published import over_prompts, with_english_prompts
from afrieval.analysis.published_files import PublishedRow
from afrieval.analysis.ranks import ranked
from afrieval.analysis.scores import LanguageScore, alike_but_for, by_language
from afrieval.analysis.tokenizer import OPTIONS, Fertility
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column, rows_of
from afrieval.report.run_summary import SHOWN
from afrieval.report.score_tables import (
    HEADS,
    INTERVAL,
    WRONG,
    defective_column,
    defects_of,
    marked,
    metric_column,
    named,
    naming_rows,
    score_record,
    unranked_notes,
    unread,
    unreviewed_signs,
    varying,
)
from afrieval.report.table import Table
from afrieval.report.values import SHARE, language_name, shown_score, titled
from afrieval.results.cell_scores import CellScores
from afrieval.results.usage import usage_rows

RANKS = (
    "1-3 is first, second or third among the models with the same kind of prompts; all ranks are right at once with "
    "95% confidence"
)
SIDE = ("model", "prompt_set", "shots", "answer_form")


def language_table(lines: Sequence[LanguageScore], cells: Sequence[CellScores], several: Sequence[str]) -> Table:
    """Returns the scores of all models in a language under a task.

    `several` has the dimensions that rows have to name.
    """
    first = cells[0]
    metric = first.metric
    varied = [d for d in several if d in SIDE[1:]]
    shares = [name for name in WRONG if any(name in line.others for line in lines)]
    columns = [Column("model"), *(Column(HEADS.get(d, d), "text", d) for d in varied), Column("prompts", "text", "-")]
    columns += [Column("", "hidden", "prompt_language"), Column(first.main, "score", "score", metric.bounds)]
    columns += [Column(INTERVAL, "interval", "interval", metric.bounds)]
    columns += [
        Column("rank", "rank", says=RANKS) if any(line.rank for line in lines) else Column("", "hidden", "rank")
    ]
    columns += [Column("n", "count")]
    columns += [metric_column(name, SHARE, [line.others.get(name) for line in lines]) for name in shares]
    columns += [defective_column(line.n_defect for line in lines)]
    records = []
    for line in lines:
        settings = {d: named({d: getattr(line, d)}, d) for d in ("model", *varied)}
        records.append({**score_record(line), **settings, "score": line.score, "rank": line.rank})
    chance = lines[0].chance
    notes = [] if math.isnan(chance) else [f"A random guess scores {shown_score(chance)}%."]
    notes += [*unranked_notes([metric]), *unread(lines)]
    title = titled(first.declared.get("title", first.task), metric)
    about = {"task": first.task, "language": first.language}
    signs = unreviewed_signs(line.unreviewed for line in lines)
    table = Table("language", title, columns, rows_of(columns, records), notes, about=about, signs=signs)
    return marked(naming_rows([table], cells)[0], defects_of(cells))


def language_lines(cells: Sequence[CellScores]) -> list[LanguageScore]:
    """Returns the scores of all models in a language under a task, the best first, each kind of prompts ranked."""
    lines = []
    for of_prompts in grouped(cells, lambda c: (c.prompt_language, c.prompt_set)).values():
        sides = grouped(of_prompts, lambda c: tuple(c.dimensions[d] for d in SIDE))
        ranks = ranked(sides) if len(sides) > 1 and len({c.main for c in of_prompts}) == 1 else {}
        for side, of_side in sides.items():
            lines += [replace(score, rank=ranks.get(side)) for score in by_language(of_side)]
    sign = -1 if cells[0].metric.higher_is_better else 1
    return sorted(lines, key=lambda line: sign * line.score)


def published_tables(rows: Sequence[PublishedRow], task: str, language: str) -> list[Table]:
    """Returns the published scores of a task in a language, the best first; empty if there are none."""
    in_language = [replace(row, scores={language: row.scores[language]}) for row in rows if language in row.scores]
    models = over_prompts(with_english_prompts([], [row for row in in_language if row.task == task]), [language])
    if not models:
        return []
    columns = [Column("model"), Column("source"), Column("shots", "count"), Column("prompts", "count")]
    columns += [Column("mean", "score"), Column("best", "score")]
    lines = [[one.model, one.source, one.shots, len(one.scores), one.mean, one.best] for one in models]
    notes = ["In percent, as published, with prompts of the paper, unless the source says otherwise.",
             "best: the prompt was chosen on test."]  # fmt: skip
    about = {"task": task, "language": language}
    everything = range(len(lines))
    return [Table("published", f"{task}: published scores", columns, lines, notes, about=about, dimmed=everything)]


def fertility_tables(fertilities: Sequence[Fertility]) -> list[Table]:
    """Returns tokens per word, character and byte of each language; empty if no tokens are known."""
    if not fertilities:
        return []
    notes = ["Tokens are those stored with the samples of at most 50 documents of each, spread over the test set."]
    if any(f.texts == OPTIONS for f in fertilities):
        notes.append("options: the answer options whose likelihood was computed, with the blank before each.")
    if any(f.texts != OPTIONS for f in fertilities):
        notes.append("prompts: native prompts, as the server counts them, including what its chat template adds.")
    notes.append("Words are runs of letters, marks and digits; bytes are those of UTF-8.")
    if any(f.premium for f in fertilities):
        notes.append("times English: tokens divided by those of the same documents in English.")
    of_model = [Column("model"), Column("texts", "text", "of")]
    return [fertility_table(fertilities, of_model, Column("documents", "count", "n"), notes)]


def fertility_table(
    fertilities: Sequence[Any], columns_between: Sequence[Column], counted: Column, notes: list[str]
) -> Table:
    """Returns tokens per word, character and byte.

    Each of `fertilities` has language, task, `premium`, and an attribute for each column.
    """
    columns = [Column("language", "language"), Column("task"), *columns_between]
    columns += [Column(f"tokens per {of}", "ratio", f"per_{of}") for of in ("word", "character", "byte")]
    columns += [
        *([Column("times English", "ratio", "premium")] if any(f.premium for f in fertilities) else []),
        counted,
    ]
    ordered = sorted(fertilities, key=lambda f: (language_name(f.language), f.task))
    attributes = ["texts" if column.key == "of" else column.key or column.name for column in columns]
    rows = [[getattr(f, attribute) for attribute in attributes] for f in ordered]
    return Table("fertility", "Tokens per word", columns, rows, notes)


def cost_tables(cells: Sequence[CellScores]) -> list[Table]:
    """Returns requests, tokens and cost by language, task and model; empty if no backend states them."""
    of_models = grouped(cells, lambda c: c.model).items()
    rows = [{"model": model, **row} for model, of_model in of_models for row in usage_rows(of_model)]
    if not rows:
        return []
    priced = any(row["cost"] is not None for row in rows)
    columns = [Column("language", "language"), Column("task"), Column("model"), Column("answers", "amount")]
    counts = [name for name in SHOWN if name != "reasoning_tokens" or any(row[name] for row in rows)]
    columns += [Column(SHOWN[name], "amount", name) for name in counts]
    columns += [Column("cost", "money"), Column("per 1,000 answers", "money", "cost_per_1000")] if priced else []
    names = ["language", "task", "model", "answers", *counts, *(["cost", "cost_per_1000"] if priced else [])]
    for row in rows:
        has = row["cost"] is not None and row["answers"]
        row["cost_per_1000"] = 1000 * row["cost"] / row["answers"] if has else None
    order = sorted(rows, key=lambda row: (language_name(row["language"]), row["task"]))
    notes = ["Cost is in US dollars, at the prices that the run was given; blank where they were not known."]
    return [Table("cost", "Requests, tokens and cost", columns, [[row[n] for n in names] for row in order], notes)]


N_NAMES = 2  # columns of names
HEAD = ("model", "shots", "answer_form", "prompt_set", "prompt_language")  # the parts of a head, in order


def heat_tables(cells: Sequence[CellScores]) -> list[Table]:
    """Returns scores by language: for several models a table per task, for one model a table of all tasks.

    With one language, or with one task and model, it returns none: other tables have the same numbers.
    """
    scored = [cell for cell in cells if cell.n]
    sides = alike_but_for(scored, "language", "prompt")
    of_tasks, models = grouped(sides, lambda side: side[0].task), {cell.model for cell in scored}
    if len(models) < 2 and len(of_tasks) < 2:
        return []
    tables = [_heat_table(of) for of in (of_tasks.values() if len(models) > 1 else [sides])]
    return [table for table in tables if len(table.rows) > 1]


def _heat_table(sides: list[list[CellScores]]) -> Table:
    """Returns a table with a column for each side: the cells of a task, a model and its prompts.

    A shade is how high a score is between the lowest and the highest of its task; unranked metrics have none.
    """
    firsts, scores = [side[0] for side in sides], [{score.language: score for score in by_language(s)} for s in sides]
    tasks = {first.task: first.metric for first in firsts}
    codes = {code for of_side in scores for code in of_side}
    languages = sorted(codes, key=lambda code: (LANGUAGES[code].family, LANGUAGES[code].name))
    varied = sorted({*varying([first.dimensions for first in firsts])} - {"language"}, key=HEAD.index)
    columns = [Column("family"), Column("language", "language")]
    for first in firsts:
        head = [titled(first.task, first.metric)] if len(tasks) > 1 else []
        head += [named(first.dimensions, name) for name in varied]
        columns.append(Column(" ".join(head), "score", "", first.metric.bounds))
    rows: list[list[Any]] = [
        [LANGUAGES[code].family, code, *(of_side[code].score if code in of_side else None for of_side in scores)]
        for code in languages
    ]
    shades: dict[tuple[int, int], float] = {}
    ranked = [at for at, first in enumerate(firsts) if first.metric.ranked]
    for task_columns in grouped(ranked, lambda index: firsts[index].task).values():
        cells = {(row, at + N_NAMES): of[at + N_NAMES] for row, of in enumerate(rows) for at in task_columns}
        numbers = {place: score for place, score in cells.items() if score is not None}
        low, high = min(numbers.values()), max(numbers.values())
        if low < high:
            shades |= {place: (number - low) / (high - low) for place, number in numbers.items()}
    title = "Scores by language" if len(tasks) > 1 else f"{titled(*next(iter(tasks.items())))}: scores by language"
    unreviewed = {code: score.unreviewed for of in scores for code, score in of.items() if score.unreviewed}
    about = {} if len(tasks) > 1 else {"task": firsts[0].task}
    lines = [
        f"Known defect of {score.task} {LANGUAGES[score.language].name}: {score.defect}."
        for of_side in scores
        for score in of_side.values()
        if score.defect
    ]
    notes, signs = [*dict.fromkeys(lines), *unranked_notes(tasks.values())], unreviewed_signs(unreviewed.values())
    return Table("heat", title, columns, rows, notes, [], about, signs, dict.fromkeys(unreviewed, "*"), shades=shades)
