"""Metrics by name: public functions of the files of this folder that return a `Metric`."""

from collections.abc import Callable

from afrieval.scoring.base import Metric
from afrieval.scoring.registry import Spec, made, makers

METRICS: dict[str, Callable[..., Metric]] = makers(__name__, __path__, Metric)


def metric(spec: Spec) -> Metric:
    """Returns a metric."""
    return made(METRICS, spec, "metric")
