"""Metrics by name: public functions of the files of this folder that return a `Metric`, and those of a user's file."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from afrieval._util.errors import UserError
from afrieval._util.registry import Registry
from afrieval._util.terminal import shortened
from afrieval.scoring.base import Metric, Question, Response, mean, not_measured, ratio
from afrieval.scoring.registry import Spec, made, makers, name_of

Metrics = Registry[Callable[..., Metric]]
METRICS: Metrics = Registry("metric", "afrieval.metrics", makers(__name__, __path__, Metric), ["__call__"], Metric)

OWN = "own"  # the key of a stored metric whose code is not the suite's
SCORES = {"mean": mean, "ratio": ratio}  # what readers of stored runs can compute without that code
STORED = ("higher_is_better", "interval")


def metric(spec: Spec, metrics: Metrics = METRICS) -> Metric:
    """Returns a metric of the suite, of another package or of a user's file, or as a stored run names one of a file."""
    if isinstance(spec, Mapping) and OWN in spec:
        attributes = dict(spec[OWN])  # it scores measures that are stored, and measures nothing itself
        score, bounds = SCORES[attributes.pop("score")], tuple(attributes.pop("bounds"))
        return Metric(str(spec["name"]), not_measured, score, bounds=bounds, **attributes)
    entry = made(metrics, spec)
    return _checked(entry, metrics.file) if metrics.file and name_of(spec) in metrics.of_file else entry


def _checked(metric: Metric, path: Path) -> Metric:
    """Returns a user's metric that raises a UserError for what cannot be stored and read again."""

    @wraps(metric.measure)
    def measure(response: Response, question: Question) -> list[float] | None:
        measured = metric.measure(response, question)
        if measured is None:
            return None
        numbers = np.atleast_1d(np.asarray(measured, dtype=object))
        try:
            measure = [float("nan" if isinstance(number, str) else number) for number in numbers]
        except (TypeError, ValueError, OverflowError):
            measure = []
        (low, high), one = metric.bounds, metric.score is mean
        if np.isfinite(measure).all() and (
            len(measure) == 1 and low <= measure[0] <= high if one else len(measure) > 1
        ):
            return measure
        expected = f"a list of one number from {low:g} to {high:g}, its bounds" if one else "a list of two numbers"
        about = f"the metric {metric.name}{question.about}"
        raise UserError(f"{path}: {about}, returns {shortened(repr(measured))}, not {expected}", "correct the file")

    return replace(metric, measure=measure)


def stored(metric: Metric, where: str) -> dict[str, Any]:
    """Returns a metric as run.yaml names it: how its score follows from its measures.

    Raises:
        UserError: if that would need its code, which no reader of a stored run should have to run.
    """
    score = next((name for name, function in SCORES.items() if metric.score is function), None)
    if score is None or metric.normalise_over_cell or metric.per_document_values:
        cure = "return a Metric whose score is mean or ratio of afrieval.scoring.base"
        raise UserError(f"{where}: runs with {metric.name} could not be read without its code", cure)
    attributes = {name: getattr(metric, name) for name in STORED}
    return {"name": metric.name, OWN: {"score": score, "bounds": list(metric.bounds), **attributes}}
