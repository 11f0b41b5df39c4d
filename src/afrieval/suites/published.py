"""Published scores of derived metrics: `published_suite.yaml` in the folder of a suite's tasks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, NamedTuple

from afrieval.errors import UserError, nearest
from afrieval.files.schema import AT_LEAST_ONE, CLOSED
from afrieval.files.yaml import read_as
from afrieval.suites.scores import DerivedScore
from afrieval.tasks.spec import TASKS

FILE = "published_suite.yaml"
Numbers = list[float | int]


@dataclass(frozen=True)
class Checkpoint:
    """A model on the hub that is one of the published ones."""

    __pydantic_config__ = CLOSED

    model: str
    method: str


@dataclass(frozen=True)
class PublishedSuite:
    """The content of the file.

    Attributes:
        suites: names of the suites.
        source: who published the scores.
        setting: how they were measured, in words.
        metrics: names of derived metrics, in the order of the numbers.
        option: the tasks' option that the scores are by.
        tables: model to method to value of the option to numbers.
        checkpoints: repository on the hub to what it is in the tables.
    """

    __pydantic_config__ = CLOSED

    suites: Annotated[list[str], AT_LEAST_ONE]
    source: str
    setting: str
    metrics: Annotated[list[str], AT_LEAST_ONE]
    option: str
    tables: dict[str, dict[str, dict[str, Numbers]]]
    checkpoints: dict[str, Checkpoint] = field(default_factory=dict)


class PublishedScore(NamedTuple):
    """A published score of a derived metric; `model` names model, method and value of the option."""

    metric: str
    model: str
    score: float
    source: str


@cache
def published_suites() -> list[PublishedSuite]:
    """Returns the content of all such files."""
    return [read_as(PublishedSuite, path) for path in sorted(TASKS.glob(f"*/{FILE}"))]


def methods() -> list[str]:
    """Returns the names of all methods."""
    return list(dict.fromkeys(m for known in published_suites() for of in known.tables.values() for m in of))


def published_for(suite: str, found: Sequence[DerivedScore], asked: Sequence[str] = ()) -> list[PublishedScore]:
    """Returns the published scores to show next to those of runs.

    Args:
        suite: its name.
        found: scores of runs.
        asked: names of methods; if there are none, those that the runs' models are.

    Raises:
        UserError: if the suite has no published scores of a method.
    """
    known = next((each for each in published_suites() if suite in each.suites), None)
    of_methods = list(dict.fromkeys(method for of in known.tables.values() for method in of)) if known else []
    if unknown := [name for name in asked if name not in of_methods]:
        hint = nearest(unknown[0], of_methods) if of_methods else "leave --published out"
        raise UserError(f"the suite {suite} has no published scores of {unknown[0]!r}", hint)
    if known is None:
        return []
    models = {score.model for score in found}
    named = {(of.model, of.method) for name, of in known.checkpoints.items() if name in models}
    options = _values(found, known.option)
    return [
        PublishedScore(metric, f"{model} {method} {value}", float(number), f"{known.source}: {known.setting}")
        for model, of_model in known.tables.items()
        for method, of_method in of_model.items()
        if method in asked or (not asked and (model, method) in named)
        for value, numbers in of_method.items()
        if value in (options or of_method)
        for metric, number in zip(known.metrics, numbers, strict=True)
    ]


def _values(found: Sequence[DerivedScore], option: str) -> set[str]:
    """Returns the values of an option that runs were made with; empty if that is not known."""
    cells = [cell for score in found for cell in score.cells.values()]
    return {value for cell in cells if (value := dict(cell.declared.get("options", {})).get(option))}
