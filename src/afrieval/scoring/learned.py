"""Metrics that a trained network computes after a run, each under a name of its own: `comet_MODEL`."""

from collections.abc import Mapping
from math import inf
from typing import Any

from afrieval._util.files import user_path
from afrieval.scoring.base import Metric, not_measured

PREFIX = "comet_"


def comet_name(model: str) -> str:
    """Returns what the metric of a COMET model is called: after the end of its name on the hub or of its folder."""
    return PREFIX + user_path(model).resolve().name


def is_learned(name: str) -> bool:
    """Tells whether a metric was added to stored answers."""
    return name.startswith(PREFIX)


def learned(name: str) -> Metric:
    """Returns an added metric; it scores measures that are stored, and measures nothing itself."""
    return Metric(name, not_measured, bounds=(-inf, inf), interval="bootstrap")


def learned_of(sample: Mapping[str, Any]) -> dict[str, float]:
    """Returns the added metrics of a stored answer."""
    return {name: sample[name] for name in sample["metrics"] if is_learned(name)}


def with_learned(sample: Mapping[str, Any], scores: Mapping[str, float]) -> dict[str, Any]:
    """Returns a stored answer with other added metrics, after its own."""
    gone = learned_of(sample).keys()
    metrics = [name for name in sample["metrics"] if name not in gone]
    measures = {name: of for name, of in sample["measures"].items() if name not in gone}
    return {
        **{key: of for key, of in sample.items() if key not in gone},
        "metrics": [*metrics, *scores],
        **scores,
        "measures": {**measures, **{name: [score] for name, score in scores.items()}},
    }
