"""Metrics by name."""

from collections.abc import Callable
from functools import partial
from typing import Any

from afrieval.scoring.base import Array, Metric, Question, Response, ratio
from afrieval.scoring.metrics.chrf import chrf
from afrieval.scoring.metrics.f1 import f1
from afrieval.scoring.metrics.span_f1 import span_f1
from afrieval.scoring.metrics.unparsed import unparsed
from afrieval.scoring.named import Spec, made


def _measure(response: Response, question: Question) -> list[float] | None:
    raise NotImplementedError


def _linear(measures: Array) -> Array:
    share = measures[:, 0].sum() / measures[:, 1].sum()
    values: Array = share + (measures[:, 0] - share * measures[:, 1]) / measures[:, 1].mean()
    return values


def _counts(shown: Any) -> list[float]:
    return [float(sum(shown)), float(len(shown))]


_MEANS = ("acc", "acc_norm", "acc_bytes", "acc_tokens", "exact_match")
METRICS: dict[str, Callable[..., Metric]] = {name: partial(Metric, name, _measure) for name in _MEANS}
for _way in ("strict", "loose"):
    METRICS[f"prompt_level_{_way}_acc"] = partial(Metric, f"prompt_level_{_way}_acc", _measure)
    METRICS[f"inst_level_{_way}_acc"] = partial(
        Metric, f"inst_level_{_way}_acc", _measure, ratio, linear=_linear, restored=_counts
    )
METRICS |= {"unparsed": unparsed, "f1": f1, "chrf": chrf, "span_f1": span_f1}


def metric(spec: Spec) -> Metric:
    """Returns a metric.

    Args:
        spec: its name, as in `acc`, or a map with `name` and options.

    Raises:
        UserError: if there is no metric or option of that name, or an option has a wrong value.
    """
    return made(METRICS, spec, "metric")
