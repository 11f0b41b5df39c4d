"""Heat maps: languages, grouped by family, against models, coloured by score."""

import math
from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

from afrieval.analysis.leaders import Entry
from afrieval.grouping import grouped
from afrieval.languages import LANGUAGES
from afrieval.pages.matrix import Cell, Line, matrix
from afrieval.pages.places import place
from afrieval.report.best import shown_rank
from afrieval.report.defects import note_on
from afrieval.report.scores import DEFECTIVE
from afrieval.report.values import SHARE, Bounds, shown_interval, shown_score

STEPS = 10  # classes h0 to h9 of the style
MARKS = (
    "★: the highest of a row; ≈: cannot be told apart from it (5%, all pairs of models, Holm). Scores that are not "
    "above what is possible without reading have no mark."
)
LEAST = 0.1  # of a metric's range: scores that are closer than this are coloured alike

Columns = Mapping[str, Mapping[str, Entry]]


def heat(title: str, columns: Columns, bounds: Bounds, about: Mapping[str, Mapping[str, str]], task: str) -> Markup:
    """Returns the heat map of a task.

    Args:
        title: its heading.
        columns: name of each column to its entries by language.
        bounds: of the metric.
        about: what each column is about, as for `places.place`.
        task: what the heat map is about.
    """
    entries = [entry for of_column in columns.values() for entry in of_column.values()]
    span = _span(entries, bounds)
    codes = dict.fromkeys(code for of_column in columns.values() for code in of_column)
    defects = {entry.score.language: entry.score.defect for entry in entries if entry.score.defect}

    def line(code: str) -> Line:
        cells = [_cell(of.get(code), span, bounds, about[name]) for name, of in columns.items()]
        mark = DEFECTIVE if code in defects else ""
        return Line(f"{family_and_name(code)[1]}{mark}", cells, place({"language": code}))

    heads = [(name, place(about[name])) for name in columns]
    notes = ["Point at a score, or choose “Intervals”, for its 95% interval."]
    if any(_mark(entry) for entry in entries):
        notes.append(MARKS)
    notes += [note_on(code, defect) for code, defect in defects.items()]
    return matrix(title, "language", heads, by_family(codes, line), notes, place({"task": task}))


def by_family(codes: Sequence[str] | Mapping[str, None], line: Callable[[str], Line]) -> dict[str, list[Line]]:
    """Returns the rows of languages under their families.

    Args:
        codes: the languages.
        line: returns the row of one.
    """
    families = grouped(sorted(codes, key=family_and_name), lambda code: family_and_name(code)[0])
    return {family: [line(code) for code in of_family] for family, of_family in families.items()}


def _span(entries: Sequence[Entry], bounds: Bounds) -> tuple[float, float]:
    """Returns the scores of the palest and of the darkest colour: from chance, or the lowest score possible, up."""
    scores = [entry.score.score for entry in entries]
    low, high = bounds
    chances = [entry.score.chance for entry in entries if not math.isnan(entry.score.chance)]
    start = min(chances) if chances and bounds == SHARE else low if math.isfinite(low) else min(scores)
    least = LEAST * (high - low) if math.isfinite(high - low) else 0.0
    return start, max(*scores, start + least)


def _cell(entry: Entry | None, span: tuple[float, float], bounds: Bounds, about: Mapping[str, str]) -> Cell:
    if entry is None:
        return Cell(place=place(about))
    score = entry.score
    interval = shown_interval(score.interval, bounds) if score.interval else ""
    rank = f"rank {shown_rank(entry.rank)}" if entry.rank else ""
    unread = f"without reading {shown_score(max(score.baselines.values()))}" if score.baselines else ""
    says = ", ".join(part for part in (interval and f"95% CI {interval}", f"n = {score.n}", rank, unread) if part)
    shade, key = f"h{step(score.score, span)}", round(score.score, 6)
    return Cell(shown_score(score.score, bounds), interval, says, shade, _mark(entry), key, place(about))


def _mark(entry: Entry) -> str:
    if entry.rank is None:
        return ""
    if entry.floor:
        return ""
    return "best" if entry.is_highest else "alike" if entry.rank.first == 1 else ""


def step(score: float, span: tuple[float, float]) -> int:
    """Returns the number of a score's colour, between the palest and the darkest."""
    low, high = span
    return max(0, min(STEPS - 1, int(STEPS * (score - low) / (high - low)))) if high > low else 0


def family_and_name(code: str) -> tuple[str, str]:
    """Returns a language's family and name, by which languages are sorted."""
    known = LANGUAGES.get(code)
    return (known.family, known.name) if known else ("other", code)
