"""The rows that scores are on, and what may be concluded from them: one data hash and one selection for each score."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from afrieval.grouping import grouped
from afrieval.results.scores import CellScores
from afrieval.results.selection import Selection

OWN = "the suite's own sample rows, written by hand"
OTHER = "other data"
ORDER = ("all", "sample", "first")  # of selections, the best first


class Rows(NamedTuple):
    """The rows that scores are on.

    Attributes:
        words: what they are called; empty for all rows of a data set.
        concludes: whether scores on them may have a rank.
    """

    words: str = ""
    concludes: bool = True


def rows_of(cells: Sequence[CellScores]) -> list[Rows]:
    """Returns the rows of each cell.

    A run has one selection of rows, although some of its test sets may be smaller than its sample. In a task and
    language, ranks are on the data that most models have, then on that with most rows.

    Args:
        cells: of any runs.
    """
    selected = {folder: _selected(of_run) for folder, of_run in grouped(cells, lambda cell: cell.folder).items()}
    usual = {
        place: _usual([cell for cell in here if not cell.own_rows])
        for place, here in grouped(cells, lambda cell: (cell.task, cell.language)).items()
    }
    return [_rows(cell, selected[cell.folder], usual[cell.task, cell.language]) for cell in cells]


def _rows(cell: CellScores, selection: Selection, usual: object) -> Rows:
    if cell.own_rows:
        return Rows(OWN, concludes=False)
    if (data := data_of(cell)) and data != usual:
        return Rows(f"{OTHER} ({str(data)[:8]})", concludes=False)
    if selection.kind == "all":
        return Rows()
    rows = f"{selection.kind} {selection.n:,} rows" if selection.kind == "first" else f"sample of {selection.n:,} rows"
    return Rows(rows if selection.concludes else f"{rows}: for debugging", selection.concludes)


def _selected(cells: Sequence[CellScores]) -> Selection:
    """Returns the selection of a run: that of its largest test sets."""
    return max((cell.selection for cell in cells), key=lambda of: (ORDER.index(of.kind), of.n))


def _usual(cells: Sequence[CellScores]) -> object:
    """Returns the data that most models have, then that with most rows."""
    models: dict[object, set[str]] = {}
    sizes: dict[object, int] = {}
    for cell in cells:
        data = data_of(cell)
        models.setdefault(data, set()).add(cell.model)
        sizes[data] = max(sizes.get(data, 0), cell.rows)
    return max(models, key=lambda data: (len(models[data]), sizes[data], str(data)), default=None)


def data_of(cell: CellScores) -> object:
    """Returns the hash of a cell's data; None of other programs' runs, whose documents are compared one by one."""
    return None if cell.sent else cell.must.get("data")


def preference(cell: CellScores) -> tuple[bool, int, int]:
    """Returns what makes a cell preferred to another one of the same model, task, language and prompt, if higher.

    Rows of a data set are preferred to sample rows of the suite, all to a sample, and both to the first rows.
    """
    return not cell.own_rows, -ORDER.index(cell.selection.kind), cell.n


def concluding(sides: Mapping[str, Sequence[CellScores]]) -> list[str]:
    """Returns the sides that may have ranks among each other; others have other data, or rows that conclude nothing.

    Args:
        sides: cells of one task and metric.
    """
    every = [(side, cell) for side, cells in sides.items() for cell in cells]
    found = zip((side for side, _ in every), rows_of([cell for _, cell in every]), strict=True)
    return [side for side, of in grouped(found, lambda pair: pair[0]).items() if all(rows.concludes for _, rows in of)]


def marks(cells: Iterable[CellScores]) -> list[str]:
    """Returns a sentence for each kind of rows that have no ranks, with what they are of."""
    every = list(cells)
    found = grouped(zip(every, rows_of(every), strict=True), lambda pair: pair[1])
    return [_mark(rows, [cell for cell, _ in of]) for rows, of in found.items() if not rows.concludes]


def _mark(rows: Rows, cells: Sequence[CellScores]) -> str:
    names = dict.fromkeys(f"{cell.model}, {cell.task}" for cell in cells)
    said = "Nothing can be concluded from these rows, so they have no ranks."
    return f"{rows.words[0].upper()}{rows.words[1:]}: {'; '.join(names)}. {said}"
