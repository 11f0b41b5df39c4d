"""Contrasts as tables, and in words what they show."""

from collections.abc import Collection
from typing import Any

from afrieval.analysis.contrasts import Contrast, Row
from afrieval.languages import LANGUAGES
from afrieval.report.scores import INTERVAL, SETS, UNREVIEWED, WRITTEN
from afrieval.report.table import Column, Table
from afrieval.report.values import SHARE, Bounds, bounds_of, titled
from afrieval.results.prompts import prompt_ranges
from afrieval.scoring.base import Metric
from afrieval.scoring.labels import DESCRIPTIONS

LEGEND = (
    "diff.: second minus first{unit}; p: Holm-adjusted; visible: the smallest difference detectable with 80% power; "
    "+/-: questions gained/lost."
)

BY_LENGTH = (
    "Label words differ in length, so this score cannot separate the effects of prompt language and label length; "
    "see docs/scoring.md."
)


def contrast_table(
    contrast: Contrast, starred: Collection[str] = (), legend: bool = True, metric: Metric | None = None
) -> Table:
    """Returns a contrast's table: one row per language, and in words what it shows.

    Args:
        contrast: what to show.
        starred: languages whose native prompts are unreviewed.
        legend: whether the columns are explained.
        metric: what the scores are of, if the contrast does not say; else a share of right answers.
    """
    metric = contrast.metric or metric
    prompts = dict.fromkeys(prompt_ranges(row.prompts) for row in contrast.rows if contrast.dimension != "prompt")
    first, second = (side_name(contrast.dimension, side) for side in (contrast.first, contrast.second))
    which = _which(next(iter(prompts))) if len(prompts) == 1 else ""
    where = "".join(f", {side_name(d, v)}" for d, v in contrast.fixed.items())
    about = {"task": contrast.task, "dimension": contrast.dimension, "first": contrast.first, "second": contrast.second}
    if metric and not contrast.is_score:
        about["metric"] = metric.name
    task = titled(contrast.task, metric) if contrast.is_score or not metric else f"{contrast.task}, {metric.name}"
    return Table(
        kind="contrast",
        title=f"{task}: {second} against {first}{where}{which}",
        columns=_columns(_heads(first, second), len(prompts) > 1, bounds_of(metric)),
        rows=[_row(row, len(prompts) > 1) for row in contrast.rows],
        notes=_notes(contrast, starred, legend, bounds_of(metric)),
        findings=[sentence(contrast, metric is None or metric.higher_is_better)],
        about=about | contrast.fixed,
        marks=dict.fromkeys(starred, "*"),
    )


def _which(prompts: str) -> str:
    """Returns the prompts of all rows for a title."""
    return f", prompt{'s' if set('-,') & set(prompts) else ''} {prompts}"


def side_name(dimension: str, side: Any) -> str:
    """Returns what a value of a dimension is called."""
    if dimension == "prompt_language":
        return f"{WRITTEN[side]} prompts"
    if dimension == "prompt_set":
        return SETS[side]
    if dimension == "language":
        return LANGUAGES[side].name
    names = {"prompt": f"prompt {side}", "shots": f"{side}-shot", "answer_form": f"answer form {side}"}
    return names.get(dimension, str(side))


def _heads(first: str, second: str) -> tuple[str, str]:
    """Returns column heads that leave room for the others; names that are long are in the title."""
    heads = first.removesuffix(" prompts"), second.removesuffix(" prompts")
    return heads if max(map(len, heads)) <= 10 else ("first", "second")


def _columns(heads: tuple[str, str], with_prompts: bool, bounds: Bounds) -> list[Column]:
    return [
        Column("language", "language"),
        *([Column("prompts")] if with_prompts else []),
        Column(heads[0], "score", "first_score", bounds),
        Column(heads[1], "score", "second_score", bounds),
        Column("diff.", "change", "difference", bounds),
        Column(INTERVAL, "changes", "interval", bounds),
        Column("p", "p", "p_adjusted"),
        Column("visible", "score", "", bounds),
        Column("+/-", "count"),
        Column("n", "count"),
    ]


def _row(row: Row, with_prompts: bool) -> list[Any]:
    flips = f"{row.gained}/{row.lost}"
    head = [
        row.language,
        *([prompt_ranges(row.prompts)] if with_prompts else []),
        row.first,
        row.second,
        row.difference,
    ]
    return [*head, row.interval, row.adjusted, row.visible, flips, row.n]


def _notes(contrast: Contrast, starred: Collection[str], legend: bool, bounds: Bounds) -> list[str]:
    notes = [LEGEND.format(unit=", in percentage points" if bounds == SHARE else "")] if legend else []
    if dropped := sum(row.dropped for row in contrast.rows):
        notes.append(f"Left out: {dropped} questions that one side lacks, or whose right answers differ.")
    notes += [f"Not compared: {line}." for line in contrast.refused]
    notes += [f"Settings that differ: {line}." for line in contrast.settings]
    if contrast.metric and not contrast.is_score:
        name = contrast.metric.name
        notes.append(f"{name}: {DESCRIPTIONS.get(name, 'the metric for this comparison')}.")
    notes += [BY_LENGTH] if contrast.by_length else []
    return notes + ([UNREVIEWED] if any(row.language in starred for row in contrast.rows) else [])


def sentence(contrast: Contrast, higher_is_better: bool = True) -> str:
    """Returns in plain words what a contrast shows."""
    names = {verdict: [r.language for r in contrast.rows if r.verdict == verdict] for verdict in (1, -1, 0)}
    if contrast.dimension == "language":
        if not contrast.rows:
            return f"{contrast.second} and {contrast.first}: nothing to compare."
        verdict = contrast.rows[0].verdict
        said = {1: "scores higher than", -1: "scores lower than", 0: "and"}[verdict]
        return f"{contrast.second} {said} {contrast.first}{'' if verdict else ': no visible difference'}."
    native = contrast.dimension == "prompt_language"
    subject = "Native prompts" if native else _subject(contrast, contrast.second)
    helps = ("help", "hurt") if higher_is_better else ("hurt", "help")
    higher, lower = helps if native else ("scores higher", "scores lower")
    parts = [f"{word} in {_listed(names[v])}" for v, word in ((1, higher), (-1, lower)) if names[v]]
    if names[0]:
        where = f"{len(names[0])} languages" if len(names[0]) > 3 else _listed(names[0])
        parts.append(f"no visible difference in {where}")
    text = ", ".join(parts) if parts else "nothing to compare"
    if not (names[1] or names[-1]):
        return f"{subject}: {text}."
    against = "" if native else f" (against {_subject(contrast, contrast.first)})"
    return f"{subject} {text}{against}."


def _subject(contrast: Contrast, value: Any) -> str:
    name = side_name(contrast.dimension, value)
    return name[0].upper() + name[1:] if contrast.dimension != "model" else name


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
