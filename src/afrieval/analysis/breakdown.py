"""Scores by a field of the documents, and which label was taken for which."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from afrieval.errors import UserError
from afrieval.results.samples import Sample, read_lines
from afrieval.results.units import Unit
from afrieval.statistics.intervals import Interval, clustered_wilson

CONFUSION = "confusion"


@dataclass(frozen=True)
class Part:
    """Scores of the documents with one value of a field, over prompts.

    Attributes:
        dimensions: what the cells are, but for the prompt.
    """

    task: str
    dimensions: dict[str, Any]
    value: str
    score: float
    interval: Interval
    n: int


@dataclass(frozen=True)
class Confusion:
    """How often each label was picked where each was right, over prompts.

    Attributes:
        labels: names, in order.
        counts: gold by picked, shape (labels, labels + 1); the last column is of answers that name no label.
    """

    task: str
    dimensions: dict[str, Any]
    labels: list[str]
    counts: Any


def parts(units: list[Unit], name: str) -> list[Part]:
    """Returns the scores by a field.

    Args:
        units: cells whose task declares the field.
        name: the field's.

    Raises:
        UserError: if none declares it, or the samples were stored without their documents.
    """
    fitting = [u for u in units if name in u.declared.get("breakdowns", [])]
    if not fitting:
        known = sorted({field for u in units for field in u.declared.get("breakdowns", [])})
        raise UserError(
            f"no task here can be broken down by {name!r}",
            f"there is: {', '.join([*known, *([CONFUSION] if any(u.declared.get('labels') for u in units) else [])])}",
        )
    found = []
    for dimensions, of_place in _places(fitting):
        scores: dict[str, dict[int, list[float]]] = {}
        for unit in of_place:
            for line in _scored(unit):
                scores.setdefault(_field(unit, line, name), {}).setdefault(line["doc_id"], []).append(line[unit.metric])
        for value in sorted(scores):
            means = np.array([np.mean(s) for s in scores[value].values()])
            interval = clustered_wilson(means, len(of_place))
            found.append(Part(of_place[0].task, dimensions, value, float(means.mean()), interval, len(means)))
    return found


def confusions(units: list[Unit]) -> list[Confusion]:
    """Returns a confusion table per language, of tasks with labels.

    Raises:
        UserError: if no task here has labels, or the samples are of an older version.
    """
    found = []
    for dimensions, of_place in _places([u for u in units if u.declared.get("labels")]):
        labels = of_place[0].declared["labels"]
        counts = np.zeros((len(labels), len(labels) + 1), dtype=int)
        for unit in of_place:
            for line in _scored(unit):
                picked = line.get("picked")
                if line["n_choices"] != len(labels) or "gold" not in line:
                    raise UserError(
                        f"{unit.path} has no gold answers among the labels {', '.join(labels)}",
                        "run again in another folder: an older version wrote it, or a file was changed",
                    )
                counts[line["gold"], len(labels) if picked is None else picked] += 1
        found.append(Confusion(of_place[0].task, dimensions, labels, counts))
    if not found:
        raise UserError("no task here has labels that can be confused", "leave --by confusion out")
    return found


def _field(unit: Unit, line: Sample, name: str) -> str:
    document = line.get("doc")
    if not isinstance(document, dict) or name not in document:
        raise UserError(f"{unit.path} has no documents, only scores", "run with --eval.log_samples true to keep them")
    return str(document[name])


def _places(units: list[Unit]) -> Iterator[tuple[dict[str, Any], list[Unit]]]:
    groups: dict[tuple[Any, ...], list[Unit]] = {}
    for unit in units:
        rest = {d: v for d, v in unit.dimensions.items() if d != "prompt"}
        groups.setdefault((unit.task, *rest.items()), []).append(unit)
    for (_, *rest_items), members in groups.items():
        yield dict(rest_items), members


def _scored(unit: Unit) -> list[dict[str, Any]]:
    return [line for line in read_lines(unit.path) if line["metrics"]] if unit.path else []
