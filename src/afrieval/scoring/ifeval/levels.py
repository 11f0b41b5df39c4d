"""The two kinds of IFEval's accuracies, by prompt and by instruction.

"IFEval Metrics" in arXiv 2311.07911. The answer of a document says for each of its instructions
whether it was followed, in a list under `strict` and another under `loose`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from afrieval.scoring.base import Array, Metric, Response, ratio


def prompt_level(name: str, way: str) -> Metric:
    """Returns the share of responses that follow all instructions of their prompt.

    Args:
        name: of the metric.
        way: `strict` or `loose`.
    """
    return Metric(name, lambda response, _: [float(all(found))] if (found := _followed(response, way)) else None)


def inst_level(name: str, way: str) -> Metric:
    """Returns the share of all instructions that are followed; arguments as in `prompt_level`."""
    return Metric(
        name,
        lambda response, _: _counts(found) if (found := _followed(response, way)) else None,
        ratio,
        linear=linear,
        shown=lambda answer, _: list(map(float, answer[way])),
        restored=_counts,
    )


def kept(sample: Mapping[str, Any]) -> list[float]:
    """Returns which instructions a sample line says were followed as written; none for other tasks' samples."""
    found: list[float] = sample.get("inst_level_strict_acc", [])
    return found


def _followed(response: Response, way: str) -> list[bool]:
    return response.answer[way] if isinstance(response.answer, dict) else []


def _counts(found: Sequence[float]) -> list[float]:
    return [float(sum(found)), float(len(found))]


def linear(measures: Array) -> Array:
    """Returns a value per prompt whose mean is the share of all instructions that are followed.

    The share is a ratio of two sums over prompts, followed and all instructions, R = sum y / sum x.
    The value of a prompt is R + (y - R x) / mean x; the standard error of their mean is that of a
    proportion whose prompts are clusters (Cochran 1977, "Sampling Techniques", section 3.12).
    Single values may be below 0 or above 1.

    Args:
        measures: followed and all instructions of each prompt, shape (n, 2).
    """
    followed, given = measures[:, 0], measures[:, 1]
    share = followed.sum() / given.sum()
    return np.asarray(share + (followed - share * given) / given.mean())
