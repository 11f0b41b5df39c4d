"""Heat maps: a table of languages, grouped by family, whose cells are coloured by score."""

from typing import NamedTuple

from markupsafe import Markup

from afrieval.grouping import grouped
from afrieval.languages import LANGUAGES
from afrieval.pages.places import place
from afrieval.pages.shell import fragment
from afrieval.pages.tables import Links
from afrieval.report.values import Bounds, shown_interval, shown_score
from afrieval.statistics.intervals import Interval

STEPS = 10  # classes h0 to h9 of the style


class Spot(NamedTuple):
    """A cell of a heat map."""

    language: str
    side: str
    score: float
    interval: Interval | None = None
    n: int = 0


def heat(
    title: str, spots: list[Spot], bounds: Bounds, task: str, models: dict[str, str], links: Links | None = None
) -> Markup:
    """Returns the heat map of a task.

    Args:
        title: its heading.
        spots: in any order; sides are columns in the order in which they occur.
        bounds: of the metric.
        task: what it is about.
        models: side to its model.
        links: addresses of pages about a `language` or a `model`.
    """
    addresses: Links = {"language": {}, "model": {}, **(links or {})}
    sides = list(dict.fromkeys(spot.side for spot in spots))
    low, high = min(s.score for s in spots), max(s.score for s in spots)
    of_language = grouped(spots, lambda spot: spot.language)
    families = grouped(sorted(of_language, key=_family_and_name), lambda code: _family_and_name(code)[0])
    rows = {
        family: [
            {
                "place": place({"language": code}),
                "name": _family_and_name(code)[1],
                "address": addresses["language"].get(code, ""),
                "cells": _cells(of_language[code], sides, (low, high), bounds, models),
            }
            for code in codes
        ]
        for family, codes in families.items()
    }
    columns = [(side, place({"model": models[side]}), addresses["model"].get(models[side], "")) for side in sides]
    return fragment("heat.html", place=place({"task": task}), title=title, columns=columns, families=rows)


def _cells(
    spots: list[Spot], sides: list[str], span: tuple[float, float], bounds: Bounds, models: dict[str, str]
) -> list[dict[str, object]]:
    known = {spot.side: spot for spot in spots}
    best = max(spot.score for spot in spots) if len(spots) > 1 else None
    return [{"place": place({"model": models[side]}), **_cell(known.get(side), span, bounds, best)} for side in sides]


def _cell(spot: Spot | None, span: tuple[float, float], bounds: Bounds, best: float | None) -> dict[str, object]:
    if spot is None:
        return {"text": "", "step": "", "best": False, "says": ""}
    interval = f"{shown_interval(spot.interval, bounds)}, " if spot.interval else ""
    return {
        "text": shown_score(spot.score, bounds),
        "step": f"h{_step(spot.score, span)}",
        "best": spot.score == best,
        "says": f"{interval}n = {spot.n}",
    }


def _step(score: float, span: tuple[float, float]) -> int:
    low, high = span
    return min(STEPS - 1, int(STEPS * (score - low) / (high - low))) if high > low else 0


def _family_and_name(code: str) -> tuple[str, str]:
    known = LANGUAGES.get(code)
    return (known.family, known.name) if known else ("other", code)
