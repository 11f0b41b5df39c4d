"""How precise a score will be, and which difference will be found, with a number of questions not yet asked."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from afrieval.scoring.statistics.intervals import LEVEL, normal_quantile, wilson, wilson_of_spread
from afrieval.scoring.statistics.paired import smallest_flips, smallest_mean_of

ENDLESS = 10_000_000  # questions; no test set has as many
EXACT = 2_000  # questions up to which the exact test is asked, which takes long for more


@dataclass(frozen=True)
class Expected:
    """What is expected of one question, on the scale of a score from 0 to 1.

    Attributes:
        score: the score.
        spread: standard deviation of the questions' scores.
        differing: standard deviation of what a question adds to the difference of two models.
        prompts: how many prompts it is the mean over.
        is_share: whether the score is a mean that stays between 0 and 1, so that its interval is Wilson's.
        is_binary: whether a question is right or wrong; then `differing` squared is the share on which two models
            differ, and the test is McNemar's.
    """

    score: float
    spread: float
    differing: float
    prompts: int = 1
    is_share: bool = True
    is_binary: bool = True

    def half_width(self, n: int, looks: int = 1) -> float:
        """Returns half the width of the 95 % interval of a score of n questions, for all looks together."""
        z = normal_quantile(LEVEL / looks)
        if not self.is_share:
            return z * self.spread / math.sqrt(n)
        if self.prompts > 1:
            low, high = wilson_of_spread(self.score, self.spread, n, self.prompts, z=z)
        else:
            low, high = wilson(self.score * n, n, z)
        return (high - low) / 2

    def detectable(self, n: int, tests: int) -> float:
        """Returns the smallest true difference of two models that n questions show four times out of five.

        Args:
            n: questions.
            tests: how many comparisons are looked at together.
        """
        if self.is_binary and n <= EXACT:
            return smallest_flips(n, round(self.differing**2 * n), LEVEL / tests)
        return smallest_mean_of(self.differing, n, LEVEL / tests)


WIDEST = Expected(0.5, 0.5, math.sqrt(0.3))  # half are right, and two models differ on three questions of ten


def fewest(spread: Callable[[int], float], target: float) -> int | None:
    """Returns the fewest questions for which what falls with their number is at most a target.

    Args:
        spread: takes a number of questions, and falls with it.
        target: what is wanted.

    Returns:
        None if even `ENDLESS` questions are not enough.
    """
    low, high = 0, 1
    while spread(high) > target:
        low, high = high, 2 * high
        if low > ENDLESS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if spread(middle) <= target else (middle, high)
    return high
