"""Metrics that are added to stored answers after a run: by a trained network, by a judge, and by people.

`NETWORK_MODEL` is what a trained network says of an answer, `judge_MODEL` what a judge says of it, and `people` what
people say of those answers that they were shown. `corrected_MODEL` is the judge's mean, corrected by what people say.
"""

import re
from collections.abc import Mapping
from math import inf
from typing import Any

from afrieval._util.files import user_path
from afrieval.config.commands import NETWORKS
from afrieval.scoring.base import Metric, not_measured
from afrieval.scoring.statistics.corrected import corrected_mean, corrected_values, n_rated

JUDGE, CORRECTED, PEOPLE = "judge_", "corrected_", "people"
AGAINST = "_vs_"  # in the names of a judge's metrics that compare with another model; people do not correct these
# Keys of a stored answer about it, next to its metrics: metric to what a judge said; who rated it to the level.
JUDGED, RATINGS = "judged", "ratings"


def learned_name(kind: str, model: str) -> str:
    """Returns the name of the metric of a network or judge: from the model's name on the hub or its folder's."""
    return kind + user_path(model).resolve().name.replace(AGAINST, "-vs-")


def pair_name(judge: str, other: str) -> str:
    """Returns what the metric of a judge is called that compares with the answers of another model."""
    label = re.sub(r"[^\w.-]+", "-", other).strip("-")
    return f"{judge}{AGAINST}{label}"


def corrected_name(judge: str) -> str:
    """Returns what the corrected metric of a judge's metric is called."""
    return CORRECTED + judge.removeprefix(JUDGE)


def is_learned(name: str) -> bool:
    """Tells whether a metric was added to stored answers."""
    return is_of_rubric(name) or is_of_network(name)


def is_of_network(name: str) -> bool:
    """Tells whether a metric is what a trained network says."""
    network, _, model = name.partition("_")
    return bool(model) and network in NETWORKS


def is_of_rubric(name: str) -> bool:
    """Tells whether a metric depends on a task's rubric."""
    return name == PEOPLE or name.startswith((JUDGE, CORRECTED))


def learned(name: str) -> Metric:
    """Returns an added metric; it scores measures that are stored, and measures nothing itself."""
    if is_of_network(name):
        return Metric(name, not_measured, bounds=(-inf, inf), interval="bootstrap")
    if name.startswith(CORRECTED):
        return Metric(
            name,
            not_measured,
            corrected_mean,
            interval="student",
            per_document_values=corrected_values,
            n_sure=n_rated,
        )
    return Metric(name, not_measured, interval="student", ranked=name == PEOPLE)


def learned_of(sample: Mapping[str, Any]) -> dict[str, list[float]]:
    """Returns the measures of the added metrics of a stored answer."""
    return {name: sample["measures"][name] for name in sample["metrics"] if is_learned(name)}


def with_learned(sample: Mapping[str, Any], measures: Mapping[str, list[float]]) -> dict[str, Any]:
    """Returns a stored answer with other added metrics, after its own."""
    gone = learned_of(sample).keys()
    metrics = [name for name in sample["metrics"] if name not in gone]
    measured = {name: of for name, of in sample["measures"].items() if name not in gone}
    shown = {name: of[0] if len(of) == 1 else of for name, of in measures.items()}
    return {
        **{key: of for key, of in sample.items() if key not in gone},
        "metrics": [*metrics, *shown],
        **shown,
        "measures": {**measured, **measures},
    }
