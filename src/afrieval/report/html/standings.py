"""Models against tasks: means over African languages, which say what they are over."""

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval.analysis.best import MeanEntry
from afrieval.analysis.ranks import PERCENT
from afrieval.analysis.suites import suite_averages
from afrieval.report.contrast_tables import ComparableScores
from afrieval.report.html.frame import place
from afrieval.report.html.tables import MatrixCell, MatrixRow, matrix
from afrieval.report.score_tables import WRITTEN
from afrieval.report.values import Bounds, language_names, shown_interval, shown_rank, shown_score
from afrieval.scoring.statistics.intervals import Interval

Found = list[tuple[ComparableScores, list[MeanEntry]]]


def standings_matrix(found: Found) -> list[Markup]:
    """Returns a matrix for each language of prompts."""
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
    complete = [{standing.side for standing in standings if standing.complete} for _, standings in found]
    averages = {}
    for side in sides if len(found) > 1 else ():
        of_side = suite_averages([cell for part, _ in found for cell in part.sides.get(side, [])])
        if len(of_side) == 1 and all(side in of for of in complete):  # of settings, there may be several averages
            averages[side] = of_side[0]
    lines = []
    for side in sides:
        cells = [_cell(side, *pair) for pair in found]
        if average := averages.get(side):
            covers = "" if len(average.parts) == len(found) else f"{len(average.parts)} of {len(found)} tasks"
            cells.append(_shown(average.score, average.interval, PERCENT, covers))
        elif averages:
            cells.append(MatrixCell())
        lines.append(MatrixRow(side, cells, place({"model": models[side]})))
    columns += [("average", Markup(""))] if averages else []
    title = f"Means over African languages{f', {WRITTEN[part.kind]} prompts' if part.named else ''}"
    notes = [note for note in _notes(found, bool(averages)) if note not in said]
    said.update(notes)
    return matrix(title, "model", columns, {"": lines}, notes, open_=True)


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
