"""Means over languages with an interval that respects both documents and languages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from afrieval.analysis.runs import Unit, Values
from afrieval.analysis.statistics import Interval
from afrieval.languages import LANGUAGES

RESAMPLES = 5_000
GROUPINGS: dict[str, Callable[[str], str]] = {
    "Africa": lambda code: "Africa",
    "family": lambda code: LANGUAGES[code].family,
    "script": lambda code: LANGUAGES[code].script,
    "region": lambda code: LANGUAGES[code].region,
}


@dataclass(frozen=True)
class Mean:
    """A macro mean: each language counts the same.

    Attributes:
        dimensions: what the cells are, but for language and prompt.
        grouping: what the languages have in common: Africa, family, script or region.
        members: the languages.
        interval: by hierarchical bootstrap; None for a single language.
    """

    task: str
    dimensions: dict[str, Any]
    grouping: str
    name: str
    members: list[str]
    score: float
    interval: Interval | None


def means(units: list[Unit], groupings: list[str], seed: int) -> list[Mean]:
    """Returns the means over African languages, and over groups of them.

    Args:
        units: cells; those of English, French and others that are not African are left out.
        groupings: some of `GROUPINGS`.
        seed: of the bootstrap.
    """
    places: dict[tuple[Any, ...], dict[str, list[Unit]]] = {}
    for unit in units:
        if LANGUAGES[unit.language].african:
            rest = {d: v for d, v in unit.dimensions.items() if d not in ("language", "prompt")}
            places.setdefault((unit.task, *rest.items()), {}).setdefault(unit.language, []).append(unit)
    found = []
    for (task, *rest_items), languages in places.items():
        values = {language: _by_document(of_language) for language, of_language in languages.items()}
        for grouping in groupings:
            names = dict.fromkeys(GROUPINGS[grouping](language) for language in values)
            for name in names:
                members = {code: v for code, v in values.items() if GROUPINGS[grouping](code) == name}
                found.append(_mean(task, dict(rest_items), grouping, name, members, seed))
    return found


def _by_document(units: list[Unit]) -> Values:
    """Returns each document's mean over the prompts that were asked about it."""
    ids = np.unique(np.concatenate([u.ids for u in units]))
    total, count = np.zeros(len(ids)), np.zeros(len(ids))
    for unit in units:
        at = np.searchsorted(ids, unit.ids)
        total[at] += unit.values
        count[at] += 1
    return np.asarray(total / count)


def _mean(
    task: str, dimensions: dict[str, Any], grouping: str, name: str, members: dict[str, Values], seed: int
) -> Mean:
    score = float(np.mean([v.mean() for v in members.values()]))
    interval = hierarchical(list(members.values()), np.random.default_rng(seed)) if len(members) > 1 else None
    return Mean(task, dimensions, grouping, name, sorted(members), score, interval)


def hierarchical(languages: list[Values], rng: np.random.Generator, resamples: int = RESAMPLES) -> Interval:
    """Returns the 95 % interval of a mean of means, by drawing languages and then documents within each.

    Davison & Hinkley 1997, "Bootstrap Methods and their Application", section 3.8: both levels with replacement. Each
    place of a resample has a language of its own draw and documents of its own draw.

    Args:
        languages: each language's scores by document.
        rng: source of randomness.
        resamples: how many are drawn.
    """
    k = len(languages)
    levels = [np.unique(values, return_counts=True) for values in languages]
    drawn = rng.integers(0, k, (resamples, k))
    totals = np.zeros(resamples)
    for language, (values, counts) in enumerate(levels):
        at, _ = np.nonzero(drawn == language)  # once for each place that it has
        n = int(counts.sum())
        documents = rng.multinomial(n, counts / n, len(at)) @ values / n
        np.add.at(totals, at, documents)
    low, high = np.quantile(totals / k, [0.025, 0.975])
    return Interval(float(low), float(high))
