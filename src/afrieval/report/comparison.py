"""What compare says, as tables: contrasts, spread over prompts, means over languages, breakdowns."""

from collections.abc import Collection
from typing import Any

from afrieval.analysis.breakdown import CONFUSION, Confusion, confusions, parts
from afrieval.analysis.contrasts import Contrast, Row, sentence
from afrieval.analysis.means import Mean
from afrieval.analysis.spread import Spread
from afrieval.languages import LANGUAGES
from afrieval.report.scores import WRITTEN, ranges
from afrieval.report.table import Column, Grid
from afrieval.results.scores import CellScores

NAMES = {"prompt_language": "prompt language", "answer_form": "answer form"}
LEGEND = (
    "diff.: the second minus the first, in points; p: after Holm; visible: the smallest difference that would be found "
    "four times out of five; +/-: questions gained and lost."
)
SIDES = {"eng": "English", "native": "native"}


def contrast_grid(contrast: Contrast, starred: Collection[str] = (), legend: bool = True) -> Grid:
    """Returns a contrast's table: one row per language, and in words what it shows.

    Args:
        contrast: what to show.
        starred: languages whose native prompts nobody has reviewed.
        legend: whether the columns are explained.
    """
    first, second = (side_name(contrast.dimension, side) for side in (contrast.first, contrast.second))
    notes = [sentence(contrast)]
    notes += [LEGEND] if legend else []
    if dropped := sum(row.dropped for row in contrast.rows):
        notes.append(f"{dropped} questions are on one side only, or have another right answer.")
    notes += [f"Not compared: {line}." for line in contrast.refused]
    notes += [f"Different, and allowed to be: {line}." for line in contrast.settings]
    if any(row.language in starred for row in contrast.rows):
        notes.append("*\u00a0machine-written prompts that no speaker has reviewed.")
    prompts = dict.fromkeys(ranges(row.prompts) for row in contrast.rows if contrast.dimension != "prompt")
    columns = [Column("language", "language"), *([Column("prompts")] if len(prompts) > 1 else [])]
    heads = _heads(first, second)
    columns += [Column(heads[0], "percent", "first_score"), Column(heads[1], "percent", "second_score")]
    columns += [Column("diff.", "points", "difference"), Column("95 % interval", "difference", "interval")]
    columns += [Column("p", "p", "p_adjusted"), Column("visible", "percent")]
    columns += [Column("+/-", "count"), Column("n", "count")]
    about = {"task": contrast.task, "dimension": contrast.dimension, "first": contrast.first, "second": contrast.second}
    which = f", prompt{'s' * (not ''.join(prompts).isdigit())} {next(iter(prompts))}" if len(prompts) == 1 else ""
    title = f"{contrast.task}: {second} against {first}{_where(contrast.fixed)}{which}"
    rows = [_contrast_row(r, len(prompts) > 1) for r in contrast.rows]
    return Grid("contrast", title, columns, rows, notes, about | contrast.fixed, starred)


def side_name(dimension: str, side: Any) -> str:
    """Returns what a value of a dimension is called."""
    if dimension == "prompt_language":
        return f"{SIDES[side]} prompts"
    if dimension == "language":
        return LANGUAGES[side].name
    return {"prompt": f"prompt {side}", "shots": f"{side}-shot", "answer_form": f"answer form {side}"}.get(
        dimension, str(side)
    )


def _heads(first: str, second: str) -> tuple[str, str]:
    """Returns column heads that leave room for the others; names that are long are in the title."""
    heads = first.removesuffix(" prompts"), second.removesuffix(" prompts")
    return heads if max(map(len, heads)) <= 10 else ("first", "second")


def _where(fixed: dict[str, Any]) -> str:
    return "".join(f", {side_name(d, v)}" for d, v in fixed.items())


def _contrast_row(row: Row, with_prompts: bool) -> list[Any]:
    flips = f"{row.gained}/{row.lost}"
    interval = tuple(row.interval) if row.interval else None
    head = [row.language, *([ranges(row.prompts)] if with_prompts else []), row.first, row.second, row.difference]
    return [*head, interval, row.adjusted, row.visible, flips, row.n]


def spread_grid(task: str, spreads: list[Spread]) -> Grid:
    """Returns best, mean and worst prompt of each language."""
    varying = _varying([s.dimensions for s in spreads])
    columns = [*(_dimension(d) for d in varying), Column("best", "percent")]
    columns += [Column("prompt", "count", "best_prompt"), Column("mean", "percent"), Column("worst", "percent")]
    columns += [Column("prompt", "count", "worst_prompt")]
    columns += [Column("spread", "percent")]
    rows = [
        [*(_named(s.dimensions, d) for d in varying), s.highest, s.best, s.mean, s.lowest, s.worst, s.spread]
        for s in spreads
    ]
    notes = ["Best and worst were chosen on test, so the best is too good: do not report it as the model's score."]
    return Grid("prompts", f"{task}: prompts", columns, rows, notes, {"task": task})


def _varying(dimensions: list[dict[str, Any]]) -> list[str]:
    """Returns the dimensions that have several values, the language first."""
    names = [d for d in ("language", "prompt_language", "model", "shots", "answer_form") if dimensions]
    return [d for d in names if d == "language" or len({str(x.get(d)) for x in dimensions}) > 1]


def _dimension(name: str) -> Column:
    return Column(NAMES.get(name, name), "language" if name == "language" else "text", name)


def _named(dimensions: dict[str, Any], name: str) -> str:
    value = dimensions[name]
    if name == "language":
        return str(value)
    return WRITTEN[value] if name == "prompt_language" else str(value)


def mean_grid(task: str, means: list[Mean]) -> Grid:
    """Returns means over languages with their members."""
    varying = [d for d in _varying([m.dimensions for m in means]) if d != "language"]
    columns = [Column("languages of"), *(_dimension(d) for d in varying), Column("mean", "percent")]
    columns += [Column("95 % interval", "interval", "interval"), Column("languages", "count", "n_languages")]
    columns += [Column("members", "members")]
    rows = [
        [
            m.name,
            *(_named(m.dimensions, d) for d in varying),
            m.score,
            tuple(m.interval) if m.interval else None,
            len(m.members),
            m.members,
        ]
        for m in means
    ]
    whole = {f"{m.name}: {' '.join(m.members)}." for m in means if len(m.members) > 4}
    notes = ["Each language counts the same; the interval is over languages and documents.", *sorted(whole)]
    if len({(m.name, tuple(m.members)) for m in means}) > len({m.name for m in means}):
        notes.append("Do not compare means that have other members.")
    notes += _shared_notes([m for m in means if m.grouping == "Africa" and m.interval])
    return Grid("means", f"{task}: means over languages", columns, rows, notes, {"task": task})


def _shared_notes(means: list[Mean]) -> list[str]:
    """Returns what has to be said of the questions that languages share, or do not."""
    notes = []
    if alone := sorted({code for m in means for code in m.alone}):
        notes.append(f"Not known to share questions with the others: {' '.join(alone)}.")
    if differing := max((m.differing for m in means), default=0):
        notes.append(f"Other right answers in some language: {differing} questions; there, they count as others.")
    return notes


def breakdown_grids(cells: list[CellScores], name: str) -> list[Grid]:
    """Returns the scores by a field, one table per task, or confusion tables.

    Raises:
        UserError: if no task declares the field or has labels.
    """
    if name == CONFUSION:
        return [_confusion_grid(c) for c in confusions(cells)]
    found = parts(cells, name)
    grids = []
    for task in dict.fromkeys(p.task for p in found):
        of_task = [p for p in found if p.task == task]
        varying = _varying([p.dimensions for p in of_task])
        columns = [*(_dimension(d) for d in varying), Column(name, "name"), Column("score", "percent")]
        columns += [Column("95 % interval", "interval"), Column("n", "count")]
        rows = [
            [*(_named(p.dimensions, d) for d in varying), p.value, p.score, p.interval and tuple(p.interval), p.n]
            for p in of_task
        ]
        grids.append(Grid("breakdown", f"{task}: by {name}", columns, rows, [], {"task": task, "field": name}))
    return grids


def _confusion_grid(confusion: Confusion) -> Grid:
    where = ", ".join(side_name(d, v) for d, v in confusion.dimensions.items() if d != "prompt")
    columns = [Column("right"), *(Column(label, "count") for label in [*confusion.labels, "none"])]
    rows = [[label, *map(int, row)] for label, row in zip(confusion.labels, confusion.counts, strict=True)]
    notes = ["Columns: what the model picked, over all prompts; none: no label could be read."]
    about = {"task": confusion.task, **confusion.dimensions}
    return Grid("confusion", f"{confusion.task}: {where}", columns, rows, notes, about)
