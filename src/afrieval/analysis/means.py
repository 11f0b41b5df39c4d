"""Means over languages with an interval that respects both documents and languages."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from afrieval.analysis.runs import Unit, Values
from afrieval.analysis.statistics import Interval, wilson
from afrieval.languages import LANGUAGES

Members = dict[str, dict[int, float]]
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
        interval: over languages and documents; None for a single language.
    """

    task: str
    dimensions: dict[str, Any]
    grouping: str
    name: str
    members: list[str]
    score: float
    interval: Interval | None


def means(units: list[Unit], groupings: list[str]) -> list[Mean]:
    """Returns the means over African languages, and over groups of them.

    Args:
        units: cells; those of English, French and others that are not African are left out.
        groupings: some of `GROUPINGS`.
    """
    places: dict[tuple[Any, ...], dict[str, list[Unit]]] = {}
    for unit in units:
        if LANGUAGES[unit.language].african:
            rest = {d: v for d, v in unit.dimensions.items() if d not in ("language", "prompt")}
            places.setdefault((unit.task, *rest.items()), {}).setdefault(unit.language, []).append(unit)
    found = []
    for (task, *rest_items), languages in places.items():
        values = {language: _by_document(of_language) for language, of_language in languages.items()}
        parallel = next(iter(languages.values()))[0].declared.get("parallel", [])
        for grouping in groupings:
            names = dict.fromkeys(GROUPINGS[grouping](language) for language in values)
            for name in names:
                members = {code: v for code, v in values.items() if GROUPINGS[grouping](code) == name}
                found.append(_mean(task, dict(rest_items), grouping, name, members, parallel))
    return found


def _by_document(units: list[Unit]) -> dict[int, float]:
    """Returns each document's mean over the prompts that were asked about it."""
    scores: dict[int, list[float]] = {}
    for unit in units:
        for row, value in zip(unit.ids.tolist(), unit.values.tolist(), strict=True):
            scores.setdefault(row, []).append(value)
    return {row: float(np.mean(values)) for row, values in scores.items()}


def _mean(
    task: str, dimensions: dict[str, Any], grouping: str, name: str, members: Members, parallel: list[list[str]]
) -> Mean:
    scores = [np.array(list(of_language.values())) for of_language in members.values()]
    same = any(set(members) <= set(group) for group in parallel)
    rows = sorted(set.intersection(*(set(of_language) for of_language in members.values()))) if same else []
    aligned = [np.array([of_language[row] for row in rows]) for of_language in members.values()] if rows else None
    interval = over_languages(scores, aligned) if len(members) > 1 else None
    return Mean(task, dimensions, grouping, name, sorted(members), float(np.mean([s.mean() for s in scores])), interval)


def over_languages(languages: list[Values], aligned: list[Values] | None = None) -> Interval:
    """Returns the 95 % interval of a mean of means, over languages and documents.

    The means of languages vary as languages and documents do, so that their variance over their number is the mean's
    (Cochran 1977, "Sampling Techniques", chapter 10, on sampling in two stages), with Student's t since they are few.
    Where documents are translations, an easy one is easy in all languages: the documents' means over languages add
    their own variance. A bootstrap of both levels has too few languages to draw from, and no such term: in simulations
    it covered 61 % to 94 %.

    Args:
        languages: each language's scores by document.
        aligned: the same for documents that are translations of one another, document by document; None if none are.
    """
    means = np.array([values.mean() for values in languages])
    k, middle = len(means), float(means.mean())
    within = float(np.mean([values.var() / len(values) for values in languages]))
    variance = max(float(means.var(ddof=1)), within) / k  # means that happen to be equal are no certainty
    if aligned is not None and len(aligned[0]) > 1:
        documents = np.mean(aligned, axis=0)
        variance += float(documents.var(ddof=1)) / len(documents)
    if variance == 0:
        n = min(len(values) for values in languages)
        return wilson(middle * n, n)
    half = float(stats.t.ppf(0.975, k - 1)) * math.sqrt(variance)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))
