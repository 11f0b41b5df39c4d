"""Units made by hand, for tests."""

from typing import Any

import numpy as np

from afrieval.results.units import Unit


def unit(values: list[float], task: str = "afrixnli", ids: list[int] | None = None, **changes: Any) -> Unit:
    """A cell whose documents score these values; what is not named is English prompt 1 of Yoruba."""
    dimensions = {
        "prompt_language": "eng", "prompt": 1, "model": "m", "shots": 0, "answer_form": "text", "language": "yor",
    }  # fmt: skip
    dimensions |= {k: v for k, v in changes.items() if k in dimensions}
    others = {k: v for k, v in changes.items() if k not in dimensions}
    rows = list(range(len(values))) if ids is None else ids
    given: dict[str, Any] = {
        "metric": "acc",
        "golds": np.zeros(len(rows), dtype=np.int64),
        "must": {"task version": 1, "data": "d", "few-shot rows": [], "prompt text": "p"},
        **others,
    }
    return Unit(task, dimensions, ids=np.array(rows), values=np.array(values, dtype=np.float64), **given)
