"""Models of stored runs and of published tables, averaged over the same languages."""

from typing import Any, NamedTuple

import numpy as np

from afrieval.analysis.published import PublishedRow, published_scores
from afrieval.languages import LANGUAGES
from afrieval.results.units import Unit


class Standing(NamedTuple):
    """A model's score over its prompts, 0 to 1.

    Attributes:
        source: run or published.
        prompts: how many were averaged.
        best: that of the best prompt, chosen on the documents that it is a score of.
    """

    model: str
    source: str
    shots: int | None
    prompts: int
    best: float
    mean: float


def standings(task: str, units: list[Unit], rows: list[PublishedRow]) -> tuple[list[Standing], list[str]]:
    """Returns the models, the highest mean first, and the languages averaged over; none if they share no language.

    Args:
        task: its name.
        units: of our runs; English prompts are taken, as the published scores have.
        rows: of published tables.
    """
    own = [u for u in units if u.task == task and u.dimensions["prompt_language"] == "eng"]
    of_task = [row for row in rows if row.task == task]
    languages = _languages(own, of_task)
    if not of_task or not languages:
        return [], []
    published = published_scores(of_task, task, languages)
    found = [Standing(s.model, "published", s.shots, len(s.prompts), s.best, s.mean) for s in published]
    return sorted([*_own(own, languages), *found], key=lambda standing: -standing.mean), languages


def _languages(units: list[Unit], rows: list[PublishedRow]) -> list[str]:
    """Returns the African languages that all models have, those of the table alone where there are no runs."""
    sets = [{u.language for u in of_model} for of_model in _by_model(units)]
    models = {row.model: set[str]() for row in rows}
    for row in rows:
        models[row.model] |= set(row.scores)
    common = set.intersection(*sets, *models.values()) if models else set()
    return sorted(code for code in common if code not in LANGUAGES or LANGUAGES[code].african)


def _by_model(units: list[Unit]) -> list[list[Unit]]:
    models: dict[tuple[Any, ...], list[Unit]] = {}
    for unit in units:
        models.setdefault(tuple(unit.dimensions[d] for d in ("model", "shots", "answer_form")), []).append(unit)
    return list(models.values())


def _own(units: list[Unit], languages: list[str]) -> list[Standing]:
    found = []
    for of_model in _by_model(units):
        prompts: dict[Any, dict[str, float]] = {}
        for unit in of_model:
            prompts.setdefault(unit.dimensions["prompt"], {})[unit.language] = unit.score
        means = [np.mean([s[code] for code in languages]) for s in prompts.values() if set(languages) <= set(s)]
        if means:
            model, shots = (of_model[0].dimensions[d] for d in ("model", "shots"))
            found.append(Standing(model, "run", shots, len(means), float(max(means)), float(np.mean(means))))
    return found
