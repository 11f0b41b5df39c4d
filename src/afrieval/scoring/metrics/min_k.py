"""Min-K%: the loss of the least likely tokens of a text, a membership attack."""

import math
from typing import Annotated

from annotated_types import Gt, Le

from afrieval.scoring.base import Metric
from afrieval.scoring.measured import ANSWER, lowest, of_texts

USUAL_K = 0.4
Share = Annotated[float, Gt(0), Le(1)]


def min_k(of: str = ANSWER, k: Share = USUAL_K) -> Metric:
    """Returns the mean over documents of -(mean log-probability of the share k of the least likely tokens).

    Shi et al. 2024, "Detecting Pretraining Data from Large Language Models", section 4; of n tokens, the
    max(1, floor(k n)) least likely. Higher values say that the model has less likely seen the text. The end of the
    text never counts.

    Args:
        of: the role of the texts.
        k: the share.
    """
    name = "min_k" if k == USUAL_K else f"min_k_{k:g}"
    return of_texts(
        name, of, lambda tokens, text: -lowest(tokens.of_text.logprobs, k), math.inf, higher_is_better=False
    )
