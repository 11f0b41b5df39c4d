"""Matrices with a score in each cell: heat maps of languages against models, and means of models by task."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval.analysis.best import LanguageEntry, MeanEntry
from afrieval.analysis.entries import LeaderboardModel
from afrieval.analysis.leaderboard import Board, Standing
from afrieval.analysis.ranks import PERCENT, Rank
from afrieval.analysis.suites import suite_averages
from afrieval.languages import LANGUAGES
from afrieval.report.boards import doubts_of, titles
from afrieval.report.contrast_tables import ComparableScores
from afrieval.report.html.frame import filter_attributes, fragment, link
from afrieval.report.html.tables import Links
from afrieval.report.score_tables import DEFECTIVE, WRITTEN, doubts, note_on, unranked_notes, unreviewed_of
from afrieval.report.values import SHARE, Bounds, language_names, shown_interval, shown_rank, shown_score
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval

EMPTY = Markup("")
MANY = 8  # columns from which their names are written vertically
SIGNS = {  # what a cell's mark looks like, and what it says
    "best": ("★", "highest"),
    "alike": ("≈", "cannot be told apart from the highest"),
    "up": ("▲", "native prompts help"),
    "down": ("▼", "native prompts hurt"),
}


class MatrixCell(NamedTuple):
    """A cell of a matrix.

    Attributes:
        text: the score; empty if there is none.
        interval: next to it or below it, on request.
        says: what else is known of it, shown when it is pointed at.
        step: class of its colour; empty for none.
        mark: one of `SIGNS`, or empty.
        key: what rows are sorted by.
        attributes: what it is about, as `frame.filter_attributes` has it.
        covers: below the score, what it is of, if that is less than others.
    """

    text: str = ""
    interval: str = ""
    says: str = ""
    step: str = ""
    mark: str = ""
    key: float | None = None
    attributes: Markup = EMPTY
    covers: str = ""


class MatrixRow(NamedTuple):
    """A row of a matrix, under its name."""

    name: str
    cells: Sequence[MatrixCell]
    attributes: Markup = EMPTY


def matrix(
    title: str,
    corner: str,
    columns: Sequence[tuple[str, Markup]],
    groups: Mapping[str, Sequence[MatrixRow]],
    notes: Sequence[str] = (),
    attributes: Markup = EMPTY,
    open_: bool = False,
) -> Markup:
    """Returns a matrix under a heading.

    `groups` has rows under what they have in common; an empty name is not shown. `open_` always shows intervals.
    """
    return fragment(
        "matrix.html",
        title=title,
        corner=corner,
        columns=columns,
        groups=groups,
        notes=notes,
        attributes=attributes,
        open_=open_,
        many=len(columns) >= MANY,
        signs=SIGNS,
    )


def family_and_name(code: str) -> tuple[str, str]:
    """Returns a language's family and name, by which languages are sorted."""
    language = LANGUAGES.get(code)
    return (language.family, language.name) if language else ("other", code)


def by_family(codes: Iterable[str], line: Callable[[str], MatrixRow]) -> dict[str, list[MatrixRow]]:
    """Returns the rows of languages under their families."""
    families = grouped(sorted(codes, key=family_and_name), lambda code: family_and_name(code)[0])
    return {family: [line(code) for code in of_family] for family, of_family in families.items()}


STEPS = 10  # classes h0 to h9 of the style
LEAST_SPREAD = 0.1  # of a metric's range: scores that are closer than this are coloured alike
MARKS = (
    "★: the highest of a row; ≈: cannot be told apart from it (5%, all pairs of models, Holm). Scores that are not "
    "above what is possible without reading have no mark."
)
OTHERS = "Empty: no score in this language, or not in all tasks that the others of the row have."
Columns = Mapping[str, Mapping[str, LanguageEntry]]


class HeatScore(NamedTuple):
    """A score of a heat map.

    Attributes:
        mark: one of `SIGNS`, or empty.
        before, after: said first and last when the cell is pointed at.
        starred: whether it is of native prompts that nobody has reviewed.
    """

    score: float
    interval: Interval | None
    n: int | None
    rank: Rank | None
    mark: str
    before: str = ""
    after: str = ""
    starred: bool = False


def heat(
    title: str,
    columns: Columns,
    metric: Metric,
    about: Mapping[str, Mapping[str, str]],
    task: str,
    further_notes: Sequence[str] = (),
) -> Markup:
    """Returns the heat map of a task: a column for each side, a row for each language.

    `about` says what each column is about, as `filter_attributes` takes it; `further_notes` are below the map. Scores
    that do not say how good answers are have no colours.
    """
    bounds = metric.bounds
    entries = [entry for of_column in columns.values() for entry in of_column.values()]
    codes = dict.fromkeys(code for of_column in columns.values() for code in of_column)
    defects = {entry.score.language: entry.score.defect for entry in entries if entry.score.defect}
    scores = {name: {code: _of_entry(entry) for code, entry in of.items()} for name, of in columns.items()}
    names = {code: f"{family_and_name(code)[1]}{DEFECTIVE if code in defects else ''}" for code in codes}
    notes = ["Point at a score, or choose “Intervals”, for its 95% interval."]
    notes += [MARKS] if any(score.mark for of_column in scores.values() for score in of_column.values()) else []
    notes += [*further_notes, *unranked_notes([metric]), *(note_on(code, defect) for code, defect in defects.items())]
    span = _span(entries, bounds) if metric.ranked else None
    return _heat(title, scores, about, names, bounds, span, notes, filter_attributes({"task": task}))


def _of_entry(entry: LanguageEntry) -> HeatScore:
    score = entry.score
    mark = "" if entry.rank is None or entry.floor else _mark(entry.is_highest, entry.rank)
    unread = "" if score.best_baseline is None else f"without reading {shown_score(score.best_baseline)}"
    return HeatScore(score.score, score.interval, score.n, entry.rank, mark, "", unread, bool(score.unreviewed))


def _span(entries: Sequence[LanguageEntry], bounds: Bounds) -> tuple[float, float]:
    """Returns the scores of the palest and of the darkest colour: from chance, or the lowest score possible, up."""
    scores = [entry.score.score for entry in entries]
    low, high = bounds
    chances = [entry.score.chance for entry in entries if not math.isnan(entry.score.chance)]
    start = min(chances) if chances and bounds == SHARE else low if math.isfinite(low) else min(scores)
    least = LEAST_SPREAD * (high - low) if math.isfinite(high - low) else 0.0
    return start, max(*scores, start + least)


def board_heats(
    title: str,
    boards: Mapping[str, Board],
    order: Sequence[LeaderboardModel],
    bounds: Bounds,
    addresses: Links,
    note: str = "",
) -> Markup:
    """Returns the heat maps of a leaderboard, one for each language of prompts: models in columns, languages in rows.

    Models that are over other tasks, or never ranked, are left out; `order` is from left to right.
    """
    whole = {code: {s.model: s for s in board.standings if s.whole} for code, board in boards.items()}
    rows = {code: row for code, row in whole.items() if row}
    ranked_models = {model for row in rows.values() for model in row}
    kinds = grouped((model for model in order if model in ranked_models), lambda model: model.prompt_language)
    addressed = addresses["language"]
    names = {code: link(name, addressed[code]) if code in addressed else name for code, name in _named(rows).items()}
    standings = [standing for row in rows.values() for standing in row.values()]
    all_scores, notes = [standing.score for standing in standings], [note, MARKS, OTHERS, *doubts_of(standings)]
    maps = []
    for kind, models in kinds.items():
        of_kind = {name: model for model, name in titles(models).items()}
        scores = {
            name: {code: _of_standing(row[model], boards[code]) for code, row in rows.items() if model in row}
            for name, model in of_kind.items()
        }
        about = {name: {"model": model.name} for name, model in of_kind.items()}
        of_title = f"{title}, {WRITTEN[kind]} prompts" if len(kinds) > 1 else title
        span = min(all_scores), max(all_scores)
        maps.append(_heat(of_title, scores, about, names, bounds, span, notes))
    return Markup("").join(maps)


def _named(codes: Iterable[str]) -> dict[str, str]:
    return {code: family_and_name(code)[1] for code in codes}


def _of_standing(side: Standing, board: Board) -> HeatScore:
    mark = "" if side.floor else _mark(side is board.standings[0], side.rank)
    before, starred = "published" if side.model.published else "", bool(side.unreviewed)
    return HeatScore(side.score, side.interval, side.n, side.rank, mark, before, starred=starred)


def _mark(is_best: bool, rank: Rank | None) -> str:
    return "best" if is_best else "alike" if rank and rank.first == 1 else ""


def _heat(
    title: str,
    scores: Mapping[str, Mapping[str, HeatScore]],
    about: Mapping[str, Mapping[str, str]],
    names: Mapping[str, str],
    bounds: Bounds,
    span: tuple[float, float] | None,
    notes: Sequence[str],
    of_all: Markup = EMPTY,
) -> Markup:
    """Returns a heat map of scores by column and language.

    `span` has the palest and the darkest score, None for no colours.
    """

    def cell(name: str, score: HeatScore | None) -> MatrixCell:
        if score is None:
            return MatrixCell(attributes=filter_attributes(about[name]))
        shown = shown_interval(score.interval, bounds) if score.interval else ""
        ranked = f"rank {shown_rank(score.rank)}" if score.rank else ""
        parts = (score.before, shown and f"95% CI {shown}", f"n = {score.n}" if score.n else "", ranked, score.after)
        colour, key = f"h{step(score.score, span)}" if span else "", round(score.score, 6)
        says = ", ".join(filter(None, parts))
        return MatrixCell(
            shown_score(score.score, bounds), shown, says, colour, score.mark, key, filter_attributes(about[name])
        )

    def line(code: str) -> MatrixRow:
        return MatrixRow(
            names[code],
            [cell(name, of.get(code)) for name, of in scores.items()],
            filter_attributes({"language": code}),
        )

    stars = {name: "*" * any(score.starred for score in of.values()) for name, of in scores.items()}
    heads = [(name + star, filter_attributes(about[name])) for name, star in stars.items()]
    return matrix(title, "language", heads, by_family(names, line), notes, of_all)


def step(score: float, span: tuple[float, float]) -> int:
    """Returns the number of a score's colour, between the palest and the darkest."""
    low, high = span
    return max(0, min(STEPS - 1, int(STEPS * (score - low) / (high - low)))) if high > low else 0


Means = Sequence[tuple[ComparableScores, list[MeanEntry]]]  # of each task, the means of its sides, the best first


def mean_matrices(task_means: Means) -> list[Markup]:
    """Returns a matrix of models and tasks for each language of prompts: means over African languages."""
    kinds = grouped(((part, of) for part, of in task_means if of), lambda pair: pair[0].kind)
    seen: set[str] = set()
    return [_mean_matrix(of_kind, seen) for of_kind in kinds.values()]


def _mean_matrix(task_means: Means, seen: set[str]) -> Markup:
    """Returns a matrix; notes in `seen` are left out, and its own are added."""
    part = task_means[0][0]
    sides = dict.fromkeys(of.side for _, means in task_means for of in means)
    models = {side: cells[0].model for part, _ in task_means for side, cells in part.sides.items()}
    columns = [
        (
            f"{part._replace(named=False).title} ({n} language{'' if n == 1 else 's'})",
            filter_attributes({"task": part.task}),
        )
        for part, means in task_means
        for n in [len(_languages(means))]
    ]
    averages = {}
    cells_of = {side: [cell for part, _ in task_means for cell in part.sides.get(side, [])] for side in sides}
    for side in sides if len(task_means) > 1 else ():
        of_side = suite_averages(cells_of[side])
        complete = all(any(of.side == side and of.complete for of in means) for _, means in task_means)
        if len(of_side) == 1 and complete:  # of settings, there may be several averages
            averages[side] = of_side[0]
    lines = []
    for side in sides:
        cells = [_mean_cell(side, *pair) for pair in task_means]
        if average := averages.get(side):
            covers = "" if len(average.parts) == len(task_means) else f"{len(average.parts)} of {len(task_means)} tasks"
            cells.append(_shown(average.score, average.interval, PERCENT, covers))
        elif averages:
            cells.append(MatrixCell())
        lines.append(
            MatrixRow(
                side + "*" * bool(unreviewed_of(cells_of[side])), cells, filter_attributes({"model": models[side]})
            )
        )
    columns += [("average", EMPTY)] if averages else []
    title = f"Means over African languages{f', {WRITTEN[part.kind]} prompts' if part.named else ''}"
    notes = [note for note in _mean_notes(task_means, bool(averages)) if note not in seen]
    seen.update(notes)
    return matrix(title, "model", columns, {"": lines}, notes, open_=True)


def _mean_cell(side: str, part: ComparableScores, means: list[MeanEntry]) -> MatrixCell:
    about = filter_attributes({"task": part.task})
    entry = next((of for of in means if of.side == side), None)
    if entry is None:
        return MatrixCell(attributes=about)
    mean, members = entry.mean, _languages(means)
    mark = _mark(mean.score == means[0].mean.score, entry.rank) if entry.rank and not entry.floor else ""
    covers = "" if members <= {*mean.members} else f"{len(mean.members)} of {len(members)} languages"
    rank = f"rank {shown_rank(entry.rank)}" if entry.rank else ""
    cell = _shown(mean.score, mean.interval, part.metric.bounds, covers)
    return cell._replace(says=rank, mark=mark, attributes=about)


def _languages(means: list[MeanEntry]) -> set[str]:
    return {code for of in means for code in of.mean.members}


def _shown(score: float, interval: Interval | None, bounds: Bounds, covers: str) -> MatrixCell:
    between = shown_interval(interval, bounds) if interval else ""
    return MatrixCell(shown_score(score, bounds), between, key=round(score, 6), covers=covers)


def _mean_notes(task_means: Means, averaged: bool) -> list[str]:
    notes = ["Small: 95% interval, over languages and documents."]
    if any(of.rank for _, means in task_means for of in means):
        notes.append(MARKS.replace("a row", "a task"))
    for part, means in task_means:
        for entry in means:
            if lacks := _languages(means) - {*entry.mean.members}:
                named = language_names(lacks)
                notes.append(f"{entry.side} lacks {named} in {part.task}: do not compare its mean with the others.")
    notes += unranked_notes(part.metric for part, _ in task_means)
    notes += doubts(cell for part, _ in task_means for cells in part.sides.values() for cell in cells)
    if averaged:
        notes.append(
            "average: of the means over languages, each in percent of its metric's range; tasks have the same weight "
            "in their group of the suite, and groups in the average. Models that lack a language have none."
        )
    return notes
