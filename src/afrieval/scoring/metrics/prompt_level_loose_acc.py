"""IFEval: the share of prompts all of whose instructions are followed, in one of the response's variants."""

from afrieval.scoring.base import Metric
from afrieval.scoring.ifeval.levels import prompt_level


def prompt_level_loose_acc() -> Metric:
    """Returns the accuracy that the harness calls by this name."""
    return prompt_level("prompt_level_loose_acc", "loose")
