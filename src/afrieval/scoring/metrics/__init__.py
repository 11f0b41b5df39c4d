"""Metrics by name: public functions of the files of this folder that return a `Metric`."""

from collections.abc import Callable, Mapping

from afrieval._util.errors import UserError
from afrieval.scoring.base import Metric
from afrieval.scoring.own_metrics import NONE, OWN, OwnMetrics, checked, read
from afrieval.scoring.registry import Spec, made, makers

METRICS: dict[str, Callable[..., Metric]] = makers(__name__, __path__, Metric)


def metric(spec: Spec, own: OwnMetrics = NONE) -> Metric:
    """Returns a metric of the suite's, of a user's file, or as a stored run names one of a file."""
    if isinstance(spec, Mapping) and OWN in spec:
        return read(spec)
    if twice := METRICS.keys() & own.makers.keys():
        raise UserError(f"{own.path} defines {min(twice)}, a metric of the suite", "rename the function")
    found = made({**METRICS, **own.makers}, spec, "metric")
    return checked(found, own.path) if own.path and own.has(spec) else found
