"""Heat maps of leaderboards: languages against entrants."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from afrieval.analysis.entrants import Entrant
from afrieval.analysis.standings import Board, Standing
from afrieval.pages.heat import MARKS, by_family, family_and_name, step
from afrieval.pages.links import link
from afrieval.pages.matrix import Cell, Line, matrix
from afrieval.pages.places import place
from afrieval.pages.tables import Links
from afrieval.report.best import shown_rank
from afrieval.report.entrants import titles
from afrieval.report.values import Bounds, shown_interval, shown_score

OTHERS = "Empty: no score in this language, or not in all tasks that the others of the row have."


def board_heat(
    title: str, boards: Mapping[str, Board], order: Sequence[Entrant], bounds: Bounds, addresses: Links, note: str = ""
) -> Markup:
    """Returns the heat map.

    Args:
        title: its heading.
        boards: language to its entrants, of which those over other tasks are left out, and those never ranked.
        order: entrants from left to right.
        bounds: of the scores.
        addresses: of the pages of languages.
        note: what scores are.
    """
    whole = {code: {s.entrant: s for s in board.standings if s.whole} for code, board in boards.items()}
    rows = {code: row for code, row in whole.items() if row}
    if not rows:
        return Markup("")
    here = {entrant for row in rows.values() for entrant in row}
    names = titles(entrant for entrant in order if entrant in here)
    scores = [standing.score for row in rows.values() for standing in row.values()]
    span = min(scores), max(scores)

    def line(code: str) -> Line:
        top = boards[code].standings[0]
        cells = [_cell(rows[code].get(entrant), entrant, top, span, bounds) for entrant in names]
        name = family_and_name(code)[1]
        address = addresses["language"].get(code, "")
        return Line(link(name, address) if address else name, cells, place({"language": code}))

    heads = [(name, place({"model": entrant.model})) for entrant, name in names.items()]
    return matrix(title, "language", heads, by_family(list(rows), line), [note, MARKS, OTHERS])


def _cell(
    standing: Standing | None, entrant: Entrant, top: Standing, span: tuple[float, float], bounds: Bounds
) -> Cell:
    about = place({"model": entrant.model})
    if standing is None:
        return Cell(place=about)
    interval = shown_interval(standing.interval, bounds) if standing.interval else ""
    rank = f"rank {shown_rank(standing.rank)}" if standing.rank else ""
    size = f"n = {standing.n}" if standing.n else ""
    published = "published" if entrant.published else ""
    says = ", ".join(part for part in (published, interval and f"95% CI {interval}", size, rank) if part)
    mark = "best" if standing is top else "alike" if standing.rank and standing.rank.first == 1 else ""
    shade = f"h{step(standing.score, span)}"
    return Cell(shown_score(standing.score, bounds), interval, says, shade, mark, round(standing.score, 6), about)
