"""What a comparison of several models begins with: who is best, and who cannot be told apart from it."""

from collections.abc import Sequence

from afrieval.analysis.best import in_languages, over_languages
from afrieval.report.best_sides import Place, places
from afrieval.report.columns import Column
from afrieval.report.contrast_tables import ComparableScores, parts
from afrieval.report.score_tables import defects_of, marked, scored_columns
from afrieval.report.table import Table
from afrieval.report.values import language_names
from afrieval.results.cell_scores import CellScores

FEWEST = 3  # models; of two, the table of their difference says it all
SURE = "ranks of all models in a language, and in the mean, are right at once with 95% confidence"


def leader_tables(cells: Sequence[CellScores]) -> list[Table]:
    """Returns a table for each task and prompt language with three models or more: the best in each language."""
    comparable = parts([cell for cell in cells if cell.is_averaged])
    return [_table(part) for part in comparable if len(part.sides) >= FEWEST]


def _table(part: ComparableScores) -> Table:
    sides = places(part, over_languages(part.sides), in_languages(part.sides), {})
    best = [place for place in sides if place.leads and place.concludes]
    columns = [
        Column("language", "language"), Column("best", "text", "side"), Column("", "hidden", "model"),
        *scored_columns("score", part.metric.bounds), Column("n", "count"),
        Column("not told apart from", "text", "rivals", says=SURE),
    ]  # fmt: skip
    rows = [
        [place.language, "none" if of.unread else of.side, place.model, of.score, of.interval, place.n, _rivals(place)]
        for place in best
        for of in [place.best]
        if place.language
    ]
    about = {"task": part.task, "prompt_language": part.kind}
    table = Table(
        "best", f"{part.title}: best in each language", columns, rows, findings=_said(part, best), about=about
    )
    return marked(table, defects_of([cell for of_side in part.sides.values() for cell in of_side]))


def _rivals(side: Place) -> str:
    return f"not above {side.best.unread}" if side.best.unread else ", ".join(side.best.rivals) or "none"


def _said(part: ComparableScores, best: Sequence[Place]) -> list[str]:
    """Returns who is best over languages, and in which languages one model is clearly the best."""
    if not best:
        return [f"{part.title}: nothing is concluded."]
    findings = [f"Over {place.n} African languages, {place.best.words}." for place in best if not place.language]
    languages = [place for place in best if place.language]
    if len(languages) == 1 and not findings:
        return [f"In {language_names([languages[0].language])}, {languages[0].best.words}."]
    clear = [place for place in languages if not place.best.rivals and not place.best.unread]
    where = [
        f"{side} in {language_names(place.language for place in clear if place.best.side == side)}"
        for side in dict.fromkeys(place.best.side for place in clear)
    ]
    among = f"in {len(clear) or 'none'} of {len(languages)} languages"
    return [*findings, f"One model is clearly the best {among}{': ' if where else ''}{'; '.join(where)}."]
