"""Derived metrics of suites as a table."""

from collections.abc import Sequence

from afrieval.report.scores import INTERVAL, WRITTEN
from afrieval.report.table import Column, Table
from afrieval.report.values import ANY
from afrieval.suites.places import DIMENSIONS
from afrieval.suites.scores import DerivedScore

HEADS = {"model": "model", "language": "language", "prompt_language": "prompts", "prompt": "prompt"}


def derived_tables(suite: str, found: Sequence[DerivedScore]) -> list[Table]:
    """Returns the table of a suite's derived metrics, a row for each; none if there are none.

    Args:
        suite: its name.
        found: of one run, or several.
    """
    if not found:
        return []
    places = [_place(score) for score in found]
    varying = [name for name in HEADS if len({place[name] for place in places if place[name] is not None}) > 1]
    columns = [
        Column("metric", "name"),
        *(Column(HEADS[n], "language" if n == "language" else "text", n) for n in varying),
    ]
    columns += [Column("score", "exact"), Column(INTERVAL, "limits", "interval", ANY), Column("n", "count")]
    columns += [Column("needs", "text", "references"), Column("absent because", "text", "reason")]
    rows = [
        [
            score.name,
            *(place[name] for name in varying),
            score.score,
            score.interval,
            score.n or None,
            " ".join(score.references),
            score.reason,
        ]
        for score, place in zip(found, places, strict=True)
    ]
    if not any(score.reason for score in found):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    notes = dict.fromkeys(f"{score.name}: {note}." for score in found for note in score.notes)
    return [Table("derived", suite, columns, rows, list(notes), about={"suite": suite})]


def _place(score: DerivedScore) -> dict[str, object]:
    cells = list(score.cells.values())
    of = {name: {getattr(cell, name) for cell in cells} for name in DIMENSIONS}
    found: dict[str, object] = {name: next(iter(values)) if len(values) == 1 else None for name, values in of.items()}
    found["prompt_language"] = WRITTEN.get(str(found["prompt_language"]), found["prompt_language"])
    return {"model": score.model, **found}
