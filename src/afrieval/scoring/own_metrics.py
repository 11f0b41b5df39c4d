"""Metrics in a file of Python next to the user's own `task.yaml`, and how stored runs name them."""

import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from afrieval._util.errors import UserError
from afrieval._util.files import read_text
from afrieval._util.stamps import digest
from afrieval._util.terminal import shortened
from afrieval.scoring.base import Metric, Question, Response, mean, not_measured, ratio
from afrieval.scoring.registry import Spec, functions

FILE = "metrics.py"
OWN = "own"  # the key of a stored metric whose code is not the suite's
SCORES = {"mean": mean, "ratio": ratio}  # what readers of stored runs can compute without that code
KEPT = ("higher_is_better", "interval")


@dataclass(frozen=True)
class OwnMetrics:
    """The metrics that a file defines, by name, and its hash."""

    path: Path | None = None
    makers: Mapping[str, Callable[..., Metric]] = field(default_factory=dict)
    digest: str = ""

    def has(self, spec: Spec) -> bool:
        """Returns whether a metric that a task file declares is in the file."""
        return (spec if isinstance(spec, str) else spec.get("name")) in self.makers


NONE = OwnMetrics()


def own_metrics(folder: Path) -> OwnMetrics:
    """Returns the metrics in a task's folder, which the user has named; their code is run.

    Raises:
        UserError: if the file cannot be run, or defines no metric.
    """
    path = folder / FILE
    if not path.is_file():
        return NONE
    source = read_text(path, "write Python in UTF-8")
    if not (found := functions(_module(path, source), Metric)):
        raise UserError(f"{path} defines no metric", "write a function with `-> Metric`, as in docs/adding-a-metric.md")
    return OwnMetrics(path, found, digest(source))


@lru_cache
def _module(path: Path, source: str) -> ModuleType:
    module = ModuleType(f"afrieval {path}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(source, str(path), "exec"), vars(module))
    except Exception as e:
        raise UserError(_at_fault(path, e), "correct the file") from None
    return module


def _at_fault(path: Path, e: Exception) -> str:
    places = [at.lineno for at in traceback.extract_tb(e.__traceback__) if at.filename == str(path)]
    line = e.lineno if isinstance(e, SyntaxError) else places[-1] if places else 1
    return f"{path}, line {line}: {type(e).__name__}: {e}"


def checked(metric: Metric, path: Path) -> Metric:
    """Returns a user's metric that raises a UserError for what cannot be stored and read again."""

    def measure(response: Response, question: Question) -> list[float] | None:
        about = f"the metric {metric.name}, asked about {shortened(str(next(iter(question.fields.values()), '')))!r}"
        try:
            given = metric.measure(response, question)
        except Exception as e:
            raise UserError(f"{_at_fault(path, e)}, in {about}", "correct it for questions like this one") from None
        if given is None:
            return None
        numbers = np.atleast_1d(np.asarray(given, dtype=object))
        try:
            found = [float("nan" if isinstance(number, str) else number) for number in numbers]
        except (TypeError, ValueError, OverflowError):
            found = []
        (low, high), one = metric.bounds, metric.score is mean
        if np.isfinite(found).all() and (len(found) == 1 and low <= found[0] <= high if one else len(found) > 1):
            return found
        wanted = f"a list of one number from {low:g} to {high:g}, its bounds" if one else "a list of two numbers"
        raise UserError(f"{path}: {about}, returns {shortened(repr(given))}, not {wanted}", "correct the file")

    return replace(metric, measure=measure)


def stored(metric: Metric, where: str) -> dict[str, Any]:
    """Returns a metric as run.yaml names it: how its score follows from its measures.

    Raises:
        UserError: if that would need its code, which no reader of a stored run should have to run.
    """
    score = next((name for name, of in SCORES.items() if metric.score is of), None)
    if score is None or metric.normalise_over_cell or metric.per_document_values:
        cure = "return a Metric whose score is mean or ratio of afrieval.scoring.base"
        raise UserError(f"{where}: runs with {metric.name} could not be read without its code", cure)
    kept = {name: getattr(metric, name) for name in KEPT}
    return {"name": metric.name, OWN: {"score": score, "bounds": list(metric.bounds), **kept}}


def read(spec: Mapping[str, Any]) -> Metric:
    """Returns the metric that a stored run names; it scores measures that are there, and measures nothing itself."""
    given = dict(spec[OWN])
    score, bounds = SCORES[given.pop("score")], tuple(given.pop("bounds"))
    return Metric(str(spec["name"]), not_measured, score, bounds=bounds, **given)
