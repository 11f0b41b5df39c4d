"""Models against tasks: means over African languages, which say what they are over."""

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval.analysis.best import MeanEntry
from afrieval.analysis.ranks import PERCENT
from afrieval.analysis.suites import SuiteAverage, suite_averages
from afrieval.report.contrast_tables import ComparableScores
from afrieval.report.html.frame import place
from afrieval.report.html.tables import MatrixCell, MatrixRow, matrix
from afrieval.report.score_tables import WRITTEN
from afrieval.report.values import Bounds, language_names, shown_interval, shown_rank, shown_score
from afrieval.scoring.statistics.intervals import Interval

Found = list[tuple[ComparableScores, list[MeanEntry]]]


def standings_matrix(found: Found) -> list[Markup]:
    """Returns a matrix for each language of prompts.

    Args:
        found: the parts with their sides' means.
    """
    kinds = grouped(((part, of) for part, of in found if of), lambda pair: pair[0].kind)
    said: set[str] = set()
    return [_matrix(of_kind, said) for of_kind in kinds.values()]


def _matrix(found: Found, said: set[str]) -> Markup:
    part = found[0][0]
    sides = dict.fromkeys(standing.side for _, standings in found for standing in standings)
    models = {side: cells[0].model for part, _ in found for side, cells in part.sides.items()}
    widest = [len(_languages(standings)) for _, standings in found]
    columns = [
        (f"{part._replace(named=False).title} ({n} language{'' if n == 1 else 's'})", place({"task": part.task}))
        for (part, _), n in zip(found, widest, strict=True)
    ]
    everywhere = [side for side in sides if all(_is_complete(side, standings) for _, standings in found)]
    averages = {side: average for side in everywhere if len(found) > 1 and (average := _average(side, found))}
    lines = []
    for side in sides:
        cells = [_cell(side, *pair) for pair in found]
        cells += [_of_average(averages.get(side), len(found))] if averages else []
        lines.append(MatrixRow(side, cells, place({"model": models[side]})))
    columns += [("average", Markup(""))] if averages else []
    title = f"Means over African languages{f', {WRITTEN[part.kind]} prompts' if part.named else ''}"
    notes = [note for note in _notes(found, bool(averages)) if note not in said]
    said.update(notes)
    return matrix(title, "model", columns, {"": lines}, notes, open_=True)


def _average(side: str, found: Found) -> SuiteAverage | None:
    """Returns the average over tasks of a side; None if it has settings of which there are several averages."""
    averages = suite_averages([cell for part, _ in found for cell in part.sides.get(side, [])])
    return averages[0] if len(averages) == 1 else None


def _cell(side: str, part: ComparableScores, standings: list[MeanEntry]) -> MatrixCell:
    standing = next((s for s in standings if s.side == side), None)
    if standing is None:
        return MatrixCell(place=place({"task": part.task}))
    mean, top = standing.mean, standings[0].mean.score
    mark = ""
    if standing.rank:
        mark = "best" if mean.score == top else "alike" if standing.rank.first == 1 else ""
    every = _languages(standings)
    covers = "" if every <= {*mean.members} else f"{len(mean.members)} of {len(every)} languages"
    rank = f"rank {shown_rank(standing.rank)}" if standing.rank else ""
    cell = _shown(mean.score, mean.interval, part.metric.bounds, covers)
    return cell._replace(says=rank, mark=mark, place=place({"task": part.task}))


def _languages(standings: list[MeanEntry]) -> set[str]:
    return {code for standing in standings for code in standing.mean.members}


def _is_complete(side: str, standings: list[MeanEntry]) -> bool:
    return any(standing.side == side and standing.complete for standing in standings)


def _of_average(average: SuiteAverage | None, tasks: int) -> MatrixCell:
    if average is None:
        return MatrixCell()
    covers = "" if len(average.parts) == tasks else f"{len(average.parts)} of {tasks} tasks"
    return _shown(average.score, average.interval, PERCENT, covers)


def _shown(score: float, interval: Interval | None, bounds: Bounds, covers: str) -> MatrixCell:
    between = shown_interval(interval, bounds) if interval else ""
    return MatrixCell(shown_score(score, bounds), between, key=round(score, 6), covers=covers)


def _notes(found: Found, averaged: bool) -> list[str]:
    notes = ["Small: 95% interval, over languages and documents."]
    if any(standing.rank for _, standings in found for standing in standings):
        notes.append("★: the highest mean of a task; ≈: cannot be told apart from it (5%, all pairs of models, Holm).")
    for part, standings in found:
        for standing in standings:
            if lacks := _languages(standings) - {*standing.mean.members}:
                named = language_names(lacks)
                notes.append(f"{standing.side} lacks {named} in {part.task}: do not compare its mean with the others.")
    if averaged:
        notes.append(
            "average: of the means over languages, each in percent of its metric's range; tasks have the same weight "
            "in their group of the suite, and groups in the average. Models that lack a language have none."
        )
    return notes
