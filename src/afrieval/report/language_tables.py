"""All that runs say of one language: scores of all models with their ranks, tokens per word, and cost."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from afrieval._util.grouping import grouped
from afrieval.analysis.published import over_prompts, with_english_prompts
from afrieval.analysis.published_files import PublishedRow
from afrieval.analysis.ranks import Rank, ranked
from afrieval.analysis.scores import LanguageScore, by_language
from afrieval.analysis.tokenizer import OPTIONS, Fertility
from afrieval.report.columns import Column
from afrieval.report.run_summary import SHOWN
from afrieval.report.score_tables import (
    HEADS,
    INTERVAL,
    WRITTEN,
    WRONG,
    defective_column,
    defects_of,
    marked,
    metric_column,
    named,
    naming_rows,
    unranked_notes,
    unread,
    unreviewed_signs,
)
from afrieval.report.table import Table
from afrieval.report.values import SHARE, language_name, shown_score, titled
from afrieval.results.cell_key import prompt_ranges
from afrieval.results.cell_scores import CellScores
from afrieval.results.summary import usage_rows

RANKS = (
    "1-3 is first, second or third among the models with the same kind of prompts; all ranks are right at once with "
    "95% confidence"
)
SIDE = ("model", "prompt_set", "shots", "answer_form")


class ScoreLine(NamedTuple):
    """A score with its dimensions, and its rank among the scores under one kind of prompts."""

    dimensions: dict[str, Any]
    score: LanguageScore
    rank: Rank | None


def language_table(lines: Sequence[ScoreLine], cells: Sequence[CellScores], several: Sequence[str]) -> Table:
    """Returns the scores of all models in a language under a task.

    `several` has the dimensions that rows have to name.
    """
    first = cells[0]
    metric = first.metric
    varied = [d for d in several if d in SIDE[1:]]
    shares = [name for name in WRONG if any(name in line.score.others for line in lines)]
    columns = [Column("model"), *(Column(HEADS.get(d, d), "text", d) for d in varied), Column("prompts", "text", "-")]
    columns += [Column("", "hidden", "prompt_language"), Column(first.main, "score", "score", metric.bounds)]
    columns += [Column(INTERVAL, "interval", "interval", metric.bounds)]
    columns += [
        Column("rank", "rank", says=RANKS) if any(line.rank for line in lines) else Column("", "hidden", "rank")
    ]
    columns += [Column("n", "count")]
    columns += [metric_column(name, SHARE, [line.score.others.get(name) for line in lines]) for name in shares]
    columns += [defective_column(line.score.n_defect for line in lines)]
    rows = [_row(line, varied, shares) for line in lines]
    chance = lines[0].score.chance
    notes = [] if math.isnan(chance) else [f"A random guess scores {shown_score(chance)}%."]
    notes += [*unranked_notes([metric]), *unread([line.score for line in lines])]
    table = Table(
        "language",
        titled(first.declared.get("title", first.task), metric),
        columns,
        rows,
        notes,
        about={"task": first.task, "language": first.language},
        signs=unreviewed_signs(line.score.unreviewed for line in lines),
    )
    return marked(naming_rows([table], cells)[0], defects_of(cells))


def language_lines(cells: Sequence[CellScores]) -> list[ScoreLine]:
    """Returns the scores of all models in a language under a task, the best first."""
    lines = []
    for of_prompts in grouped(cells, lambda c: (c.prompt_language, c.prompt_set)).values():
        sides = grouped(of_prompts, lambda c: tuple(c.dimensions[d] for d in SIDE))
        ranks = ranked(sides) if len(sides) > 1 and len({c.main for c in of_prompts}) == 1 else {}
        for side, of_side in sides.items():
            lines += [ScoreLine(of_side[0].dimensions, s, ranks.get(side)) for s in by_language(of_side)]
    sign = -1 if cells[0].metric.higher_is_better else 1
    return sorted(lines, key=lambda line: sign * line.score.score)


def _row(line: ScoreLine, varied: list[str], shares: list[str]) -> list[Any]:
    score = line.score
    written = f"{WRITTEN[score.prompt_language]} {prompt_ranges(score.prompts)}{'*' * bool(score.unreviewed)}"
    settings = [named(line.dimensions, d) for d in varied]
    values = [score.score, score.interval, line.rank, score.n, *(score.others.get(name) for name in shares)]
    return [line.dimensions["model"], *settings, written, score.prompt_language, *values, score.n_defect]


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
