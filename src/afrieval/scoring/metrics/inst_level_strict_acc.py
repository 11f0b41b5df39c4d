"""IFEval: the share of instructions that are followed, each counting the same."""

from afrieval.scoring.base import Metric
from afrieval.scoring.ifeval.levels import inst_level


def inst_level_strict_acc() -> Metric:
    """Returns the accuracy that the harness calls by this name."""
    return inst_level("inst_level_strict_acc", "strict")
