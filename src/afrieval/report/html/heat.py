"""Heat maps of boards, with languages in rows and sides in columns, and matrices of means by task."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval.analysis.entries import LeaderboardModel
from afrieval.analysis.leaderboard import ModelBoard
from afrieval.analysis.ranks import PERCENT
from afrieval.analysis.standings import Board, S, Standing
from afrieval.analysis.suites import suite_averages
from afrieval.report.boards import doubts_of, titles
from afrieval.report.comparable_scores import ComparableScores
from afrieval.report.html.frame import filter_attributes, link
from afrieval.report.html.tables import EMPTY, Links, MatrixCell, MatrixRow, by_family, family_and_name, matrix
from afrieval.report.score_tables import DEFECTIVE, WRITTEN, doubts, note_on, unranked_notes, unreviewed_of
from afrieval.report.values import SHARE, Bounds, language_names, shown_interval, shown_rank, shown_score
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval

STEPS = 10  # classes h0 to h9 of the style
LEAST_SPREAD = 0.1  # of a metric's range: scores that are closer than this are coloured alike
MARKS = (
    "★: the highest of a row; ≈: cannot be told apart from it (5%, all pairs of models, Holm). Scores that are not "
    "above what is possible without reading have no mark."
)
OTHERS = "Empty: no score in this language, or not in all tasks that the others of the row have."


def task_heat(
    title: str, task: str, metric: Metric, boards: Mapping[str, Board[str]], cells: Mapping[str, Sequence[CellScores]]
) -> Markup:
    """Returns the heat map of a task: a column for each side, a row for each language.

    `cells` has the cells of each side, in the order of columns. Scores that do not say how good answers are have no
    colours.
    """
    firsts = {(side, cell.language): cell for side, of_side in cells.items() for cell in reversed(of_side)}
    shown = [firsts[side, code] for side in cells for code in boards if (side, code) in firsts]
    defects = {cell.language: cell.defect for cell in shown if cell.defect}
    names = {code: f"{family_and_name(code)[1]}{DEFECTIVE if code in defects else ''}" for code in boards}
    standings = [(row, board) for board in boards.values() for row in board.standings]
    notes = ["Point at a score, or choose “Intervals”, for its 95% interval."]
    notes += [MARKS] if any(_mark(row, _is_highest(row, board)) for row, board in standings) else []
    notes += doubts(cell for of_side in cells.values() for cell in of_side)
    notes += [*unranked_notes([metric]), *(note_on(code, defect) for code, defect in defects.items())]
    span = None
    if metric.ranked:  # the palest colour is that of chance, or of the lowest score possible
        low, high = metric.bounds
        chances = [cell.chance for cell in shown if not math.isnan(cell.chance)]
        finite = [row.score for row, _ in standings if math.isfinite(row.score)] or [0.0]
        start = min(chances) if chances and metric.bounds == SHARE else low if math.isfinite(low) else min(finite)
        least = LEAST_SPREAD * (high - low) if math.isfinite(high - low) else 0.0
        span = start, max(*finite, start + least)
    columns = {side: (side, of_side[0].model) for side, of_side in cells.items()}
    about = filter_attributes({"task": task})
    return _heat(title, boards, columns, names, metric.bounds, span, notes, _is_highest, about)


def board_heats(
    title: str,
    boards: Mapping[str, ModelBoard],
    order: Sequence[LeaderboardModel],
    bounds: Bounds,
    addresses: Links,
    note: str = "",
) -> Markup:
    """Returns the heat maps of a leaderboard, one for each language of prompts: models in columns, languages in rows.

    Models that are over other tasks, or never ranked, are left out; `order` is from left to right.
    """
    whole = {code: [s for s in board.standings if s.whole] for code, board in boards.items()}
    standings = [row for of_language in whole.values() for row in of_language]
    ranked_models = {row.side for row in standings}
    kinds = grouped((model for model in order if model in ranked_models), lambda model: model.prompt_language)
    addressed = addresses["language"]
    names = {code: family_and_name(code)[1] for code, of_language in whole.items() if of_language}
    linked = {code: link(name, addressed[code]) if code in addressed else name for code, name in names.items()}
    all_scores = [row.score for row in standings if math.isfinite(row.score)] or [0.0]
    notes = [note, MARKS, OTHERS, *doubts_of(standings)]
    maps = []
    for kind, models in kinds.items():
        columns = {model: (name, model.name) for model, name in titles(models).items()}
        of_title = f"{title}, {WRITTEN[kind]} prompts" if len(kinds) > 1 else title
        span = min(all_scores), max(all_scores)
        published = [model for model in models if model.published]
        maps.append(
            _heat(
                of_title,
                boards,
                columns,
                linked,
                bounds,
                span,
                notes,
                is_best=lambda row, board: row is board.standings[0],
                published=published,
            )
        )
    return Markup("").join(maps)


def _is_highest(row: Standing[S], board: Board[S]) -> bool:
    return row.rank is not None and row.score == board.standings[0].score


def _mark(row: Standing[S], is_best: bool) -> str:
    """Returns one of `tables.SIGNS`; empty for scores that are not above what takes no reading."""
    return "" if row.floor else "best" if is_best else "alike" if row.may_be_best else ""


def _heat(
    title: str,
    boards: Mapping[str, Board[S]],
    columns: Mapping[S, tuple[str, str]],
    names: Mapping[str, str],
    bounds: Bounds,
    span: tuple[float, float] | None,
    notes: Sequence[str],
    is_best: Callable[[Standing[S], Board[S]], bool],
    about: Markup = EMPTY,
    published: Collection[S] = (),
) -> Markup:
    """Returns a heat map of boards by language, with the standings over all that a board is over.

    Args:
        title: above it.
        boards: of languages.
        columns: of each side, its head and its model.
        names: of rows, by language.
        bounds: of scores.
        span: the palest and the darkest score; None for no colours.
        notes: below it.
        is_best: tells whether a row has the mark of the best of its board.
        about: attributes of all of it.
        published: sides whose scores others have published.
    """
    whole = {code: {s.side: s for s in boards[code].standings if s.whole} for code in names}

    def cell(code: str, side: S) -> MatrixCell:
        attributes = filter_attributes({"model": columns[side][1]})
        row = whole[code].get(side)
        if row is None:
            return MatrixCell(attributes=attributes)
        shown = shown_interval(row.interval, bounds) if row.interval else ""
        parts = (
            "published" if side in published else "",
            shown and f"95% CI {shown}",
            f"n = {row.n}" if row.n else "",
            f"rank {shown_rank(row.rank)}" if row.rank else "",
            "" if row.baseline is None else f"without reading {shown_score(row.baseline)}",
        )
        colour, key = colour_of(row.score, span), round(row.score, 6)
        mark = _mark(row, is_best(row, boards[code]))
        text = shown_score(row.score, bounds)
        return MatrixCell(text, shown, ", ".join(filter(None, parts)), colour, mark, key, attributes)

    def line(code: str) -> MatrixRow:
        return MatrixRow(names[code], [cell(code, side) for side in columns], filter_attributes({"language": code}))

    starred = {side for sides in whole.values() for side, row in sides.items() if row.unreviewed}
    heads = [
        (head + "*" * (side in starred), filter_attributes({"model": model})) for side, (head, model) in columns.items()
    ]
    return matrix(title, "language", heads, by_family(names, line), notes, about)


def colour_of(score: float, span: tuple[float, float] | None) -> str:
    """Returns the class of a score's colour, between the palest and the darkest; empty without, or for no number."""
    if span is None or not math.isfinite(score):
        return ""
    low, high = span
    return f"h{max(0, min(STEPS - 1, int(STEPS * (score - low) / (high - low)))) if high > low else 0}"


def mean_matrices(comparable: Sequence[ComparableScores]) -> list[Markup]:
    """Returns a matrix of models and tasks for each language of prompts: means over African languages."""
    kinds = grouped((part for part in comparable if part.mean_board.standings), lambda part: part.kind)
    seen: set[str] = set()
    return [_mean_matrix(parts, seen) for parts in kinds.values()]


def _mean_matrix(parts: Sequence[ComparableScores], seen: set[str]) -> Markup:
    """Returns a matrix; notes in `seen` are left out, and its own are added."""
    sides = dict.fromkeys(row.side for part in parts for row in part.mean_board.standings)
    models = {side: cells[0].model for part in parts for side, cells in part.sides.items()}
    columns = [
        (f"{part.titled(False)} ({n} language{'' if n == 1 else 's'})", filter_attributes({"task": part.task}))
        for part in parts
        for n in [len(_languages(part))]
    ]
    averages = {}
    cells_of = {side: [cell for part in parts for cell in part.sides.get(side, [])] for side in sides}
    for side in sides if len(parts) > 1 else ():
        of_side = suite_averages(cells_of[side])
        complete = all(any(s.side == side and s.whole for s in part.mean_board.standings) for part in parts)
        if len(of_side) == 1 and complete:  # of settings, there may be several averages
            averages[side] = of_side[0]
    lines = []
    for side in sides:
        cells = [_mean_cell(side, part) for part in parts]
        if average := averages.get(side):
            covers = "" if len(average.parts) == len(parts) else f"{len(average.parts)} of {len(parts)} tasks"
            cells.append(_shown(average.score, average.interval, PERCENT, covers))
        elif averages:
            cells.append(MatrixCell())
        name = side + "*" * bool(unreviewed_of(cells_of[side]))
        lines.append(MatrixRow(name, cells, filter_attributes({"model": models[side]})))
    columns += [("average", EMPTY)] if averages else []
    title = f"Means over African languages{f', {WRITTEN[parts[0].kind]} prompts' if parts[0].named else ''}"
    notes = [note for note in _mean_notes(parts, bool(averages)) if note not in seen]
    seen.update(notes)
    return matrix(title, "model", columns, {"": lines}, notes, open_=True)


def _mean_cell(side: str, part: ComparableScores) -> MatrixCell:
    attributes, board = filter_attributes({"task": part.task}), part.mean_board
    row = next((s for s in board.standings if s.side == side), None)
    if row is None:
        return MatrixCell(attributes=attributes)
    n, n_all = len(row.languages), len(_languages(part))
    cell = _shown(row.score, row.interval, part.metric.bounds, "" if n == n_all else f"{n} of {n_all} languages")
    rank = f"rank {shown_rank(row.rank)}" if row.rank else ""
    mark = _mark(row, _is_highest(row, board)) if row.rank else ""
    return cell._replace(says=rank, mark=mark, attributes=attributes)


def _languages(part: ComparableScores) -> set[str]:
    """Returns the languages that some mean of a task is over."""
    return {code for row in part.mean_board.standings for code in row.languages}


def _shown(score: float, interval: Interval | None, bounds: Bounds, covers: str) -> MatrixCell:
    between = shown_interval(interval, bounds) if interval else ""
    return MatrixCell(shown_score(score, bounds), between, key=round(score, 6), covers=covers)


def _mean_notes(parts: Sequence[ComparableScores], averaged: bool) -> list[str]:
    notes = ["Small: 95% interval, over languages and documents."]
    if any(row.rank for part in parts for row in part.mean_board.standings):
        notes.append(MARKS.replace("a row", "a task"))
    for part in parts:
        for row in part.mean_board.standings:
            if lacks := _languages(part) - {*row.languages}:
                named = language_names(lacks)
                notes.append(f"{row.side} lacks {named} in {part.task}: do not compare its mean with the others.")
    notes += unranked_notes(part.metric for part in parts)
    notes += doubts(cell for part in parts for cells in part.sides.values() for cell in cells)
    if averaged:
        notes.append(
            "average: of the means over languages, each in percent of its metric's range; tasks have the same weight "
            "in their group of the suite, and groups in the average. Models that lack a language have none."
        )
    return notes
