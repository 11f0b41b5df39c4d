"""Metrics by name: public functions of the files of this folder that return a `Metric`."""

from collections.abc import Callable, Mapping

from afrieval._util.registry import Registry
from afrieval.scoring.base import Metric
from afrieval.scoring.registry import Spec, made, makers, name_of
from afrieval.scoring.user_metrics import OWN, checked, read

Metrics = Registry[Callable[..., Metric]]
METRICS: Metrics = Registry("metric", "afrieval.metrics", makers(__name__, __path__, Metric), ["__call__"], Metric)


def metric(spec: Spec, metrics: Metrics = METRICS) -> Metric:
    """Returns a metric of the suite, of another package or of a user's file, or as a stored run names one of a file."""
    if isinstance(spec, Mapping) and OWN in spec:
        return read(spec)
    entry = made(metrics, spec)
    return checked(entry, metrics.file) if metrics.file and name_of(spec) in metrics.of_file else entry
