"""Derived metrics of suites as a table."""

from collections.abc import Sequence
from typing import Any

from afrieval.report.scores import INTERVAL, WRITTEN
from afrieval.report.table import Column, Table
from afrieval.report.values import ANY, SHARE
from afrieval.scoring.labels import words
from afrieval.suites.places import DIMENSIONS
from afrieval.suites.published import PublishedScore
from afrieval.suites.scores import DerivedScore

HEADS = {"model": "model", "language": "language", "prompt_language": "prompts", "prompt": "prompt"}
Place = dict[str, object]


def derived_tables(suite: str, found: Sequence[DerivedScore], published: Sequence[PublishedScore] = ()) -> list[Table]:
    """Returns the table of a suite's derived metrics, a row for each; none if there are none.

    Args:
        suite: its name.
        found: of one run, or several.
        published: scores to show below those of the same metric.
    """
    if not found:
        return []
    lines = [line for name in dict.fromkeys(s.name for s in found) for line in _lines(name, found, published)]
    places = [_place(line) for line in lines]
    varying = [name for name in HEADS if len({place[name] for place in places} - {None}) > 1]
    columns = [Column("metric", "derived", "metric"), *(_column(name) for name in varying)]
    columns += [Column("score", "exact"), Column(INTERVAL, "limits", "interval", ANY), Column("n", "count")]
    columns += [Column("needs", "text", "references"), Column("", "hidden", "reason")]
    rows = [_row(line, [place[name] for name in varying]) for line, place in zip(lines, places, strict=True)]
    notes = [f"{words(score.name)}: {note}." for score in found for note in score.notes]
    notes += (
        ["Shares and probabilities are between 0 and 1, not in percent."]
        if any(s.bounds == SHARE for s in found)
        else []
    )
    notes += [f"Published scores are those of {of.source}." for of in published]
    dimmed = [number for number, line in enumerate(lines) if isinstance(line, PublishedScore)]
    about, notes = {"suite": suite}, list(dict.fromkeys(notes))
    return [Table("derived", suite, columns, rows, notes, _absent(found), about=about, dimmed=dimmed)]


def _absent(found: Sequence[DerivedScore]) -> list[str]:
    """Returns a line for each reason why a metric has no score."""
    several = len({score.model for score in found}) > 1
    reasons: dict[str, list[str]] = {}
    for score in found:
        if score.reason:
            whose = f" of {score.model}" if several else ""
            reasons.setdefault(score.reason, []).append(f"{words(score.name)}{whose}")
    return [f"Without a score: {', '.join(dict.fromkeys(names))}: {reason}." for reason, names in reasons.items()]


def _lines(
    name: str, found: Sequence[DerivedScore], published: Sequence[PublishedScore]
) -> list[DerivedScore | PublishedScore]:
    return [*(score for score in found if score.name == name), *(of for of in published if of.metric == name)]


def _column(name: str) -> Column:
    return Column(HEADS[name], "language" if name == "language" else "text", name)


def _row(line: DerivedScore | PublishedScore, place: list[object]) -> list[Any]:
    if isinstance(line, PublishedScore):
        return [line.metric, *place, line.score, None, None, "", ""]
    references = " ".join(line.references)
    return [line.name, *place, line.score, line.interval, line.n or None, references, line.reason]


def _place(line: DerivedScore | PublishedScore) -> Place:
    if isinstance(line, PublishedScore):
        return {**dict.fromkeys(HEADS), "model": line.model}
    cells = list(line.cells.values())
    of = {name: {getattr(cell, name) for cell in cells} for name in DIMENSIONS}
    place: Place = {name: next(iter(values)) if len(values) == 1 else None for name, values in of.items()}
    return {"model": line.model, **place, "prompt_language": WRITTEN.get(str(place["prompt_language"]))}
