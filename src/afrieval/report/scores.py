"""Scores per language at the end of a run, and their means over languages."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from afrieval.analysis.means import Mean
from afrieval.analysis.scores import LanguageScore
from afrieval.languages import LANGUAGES
from afrieval.report.table import Column, Table
from afrieval.report.values import ANY, Bounds, bounds_of, shown_interval, shown_score
from afrieval.results.prompts import PAPER, SUITE, UNCLEANED, prompt_ranges
from afrieval.scoring.base import Metric
from afrieval.scoring.labels import DESCRIPTIONS, label

WRITTEN = {"eng": "English", "native": "native"}
SETS = {SUITE: "prompts of the suite", PAPER: "prompts of the paper", UNCLEANED: "prompts of the paper, uncleaned"}
DEFECTIVE = "†"  # follows what has a known defect of its whole data
UNREVIEWED = "*: machine-written prompts, not yet reviewed by two speakers."
INTERVAL = "95% CI"


def score_table(
    title: str,
    scores: list[LanguageScore],
    notes: list[str],
    unreviewed: set[str],
    supported: set[str],
    means: Iterable[Mean] = (),
    metrics: Mapping[str, Metric] | None = None,
) -> Table:
    """Returns a task's table: one row per language and prompt language.

    Args:
        title: what it is about.
        scores: the task's scores, one or more.
        notes: what else a reader has to know.
        unreviewed: languages whose native prompts are unreviewed; marked with a star.
        supported: languages that the model's authors name; others are marked. Empty if they name none.
        means: the task's means over languages; of two languages or more are shown.
        metrics: those of the scores by name; one that is missing is a share.
    """
    main, others = scores[0].metric, list(dict.fromkeys(name for row in scores for name in row.others))
    bounds = {name: bounds_of((metrics or {}).get(name)) for name in (main, *others)}
    marks = {row.language: "°" for row in scores if supported and row.language not in supported}
    described = [f"{label(name)}: {DESCRIPTIONS[name]}." for name in others if name in DESCRIPTIONS]
    return Table(
        kind="scores",
        title=title,
        columns=_columns(main, others, bounds),
        rows=[_row(row, others, unreviewed) for row in scores],
        notes=[*notes, *described, *_legend(scores, unreviewed, bool(marks))],
        findings=[_mean_line(mean, bounds[main]) for mean in means if len(mean.members) > 1],
        about={"task": scores[0].task},
        marks=marks,
    )


def run_table(
    title: str, scores: list[LanguageScore], unreviewed: Mapping[str, set[str]], bounds: list[Bounds]
) -> Table:
    """Returns all scores of a run in one table: one row per task, language and prompt language.

    Args:
        title: what it is about.
        scores: those of all tasks.
        unreviewed: task to the languages whose native prompts are unreviewed; marked with a star.
        bounds: of each score's metric; where they differ, scores are shown as plain numbers.
    """
    scale = bounds[0] if len({*bounds}) == 1 else ANY  # nothing is in percent where one is not
    rows = [_row(row, [], unreviewed.get(row.task, set())) for row in scores]
    starred = any(row[1].endswith("*") for row in rows)
    for row, score_of in zip(rows, scores, strict=True):
        row[1] += DEFECTIVE if score_of.defect else ""
    defects = dict.fromkeys(f"{s.task} {LANGUAGES[s.language].name}: {s.defect}" for s in scores if s.defect)
    score = Column("score", "score", "", scale), Column(INTERVAL, "interval", "interval", scale)
    columns = [Column("task"), *_PLACE, Column("metric", "text", "-"), Column("", "hidden", "metric"), *score]
    named = [(s.task, s.metric) for s in scores]
    return Table(
        kind="scores",
        title=title,
        columns=[*columns, *_COUNTS],
        rows=[[task, *row[:4], label(of), of, *row[4:]] for (task, of), row in zip(named, rows, strict=True)],
        notes=[*([UNREVIEWED] if starred else []), *(f"{DEFECTIVE}: known defect of {line}." for line in defects)],
    )


_PLACE = [
    Column("language", "language"),
    Column("prompts", "text", "-"),
    *(Column("", "hidden", key) for key in ("prompt_language", "prompts")),
]
_COUNTS = [Column("n", "count"), Column("bad", "count", "n_defect")]


def _columns(main: str, others: list[str], bounds: Mapping[str, Bounds]) -> list[Column]:
    return [
        *_PLACE,
        Column(label(main), "score", main, bounds[main]),
        Column(INTERVAL, "interval", "interval", bounds[main]),
        *(Column(label(name), "score", name, bounds[name]) for name in others),
        *_COUNTS,
    ]


def _row(row: LanguageScore, others: list[str], unreviewed: set[str]) -> list[Any]:
    star = "*" if row.prompt_language == "native" and row.language in unreviewed else ""
    prompts = f"{WRITTEN[row.prompt_language]} {prompt_ranges(row.prompts)}{star}" if row.prompts else ""
    score = [row.score, row.interval, *(row.others.get(name) for name in others)]
    return [row.language, prompts, row.prompt_language, row.prompts, *score, row.n, row.n_defect]


def _legend(rows: list[LanguageScore], unreviewed: set[str], marked: bool) -> list[str]:
    notes = [] if math.isnan(rows[0].chance) else [f"A random guess scores {shown_score(rows[0].chance)}%."]
    notes.append("bad: rows with a defect.")
    notes += [UNREVIEWED] if any(r.prompt_language == "native" and r.language in unreviewed for r in rows) else []
    return notes + (["°: not among the languages that the model's authors name."] if marked else [])


def _mean_line(mean: Mean, bounds: Bounds) -> str:
    """Returns a mean of two languages or more in words, with its interval and members."""
    members = f"{len(mean.members)} African languages, {_prompts(mean)}"
    interval = f", {INTERVAL} {shown_interval(mean.interval, bounds)}" if mean.interval else ""
    return f"Mean over {members}: {shown_score(mean.score, bounds)}{interval} ({' '.join(mean.members)})"


def _prompts(mean: Mean) -> str:
    """Returns what the prompts of a mean are called."""
    of_set = mean.dimensions["prompt_set"]
    return f"{WRITTEN[mean.dimensions['prompt_language']]} prompts" if of_set == SUITE else SETS[of_set]
