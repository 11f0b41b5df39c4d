"""The share of a text's tokens that the model would write."""

from afrieval.scoring.base import Metric
from afrieval.scoring.measured import ANSWER, of_texts


def exact_memorisation(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of the share of tokens that are the most likely ones, given those before.

    Tirumala et al. 2022, "Memorization Without Overfitting". The end of the text never counts.

    Args:
        of: the role of the texts.
    """
    return of_texts("exact_memorisation", of, lambda tokens, text: float(tokens.of_text.greedy.mean()))
