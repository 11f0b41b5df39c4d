"""How much of a text the model completes from the rest."""

from afrieval.scoring.base import Metric
from afrieval.scoring.measured import ANSWER, of_texts
from afrieval.scoring.tokens import Tokens


def extraction_strength(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of 1 - k / n, where the last n - k of n tokens follow greedily from the rest.

    Carlini et al. 2021, "Extracting Training Data from Large Language Models"; Wang et al. 2025, "Towards Effective
    Evaluations and Comparison for LLM Unlearning Methods". k is the lowest number of tokens from which the
    model writes all others: 0 gives 1, and a wrong last token gives 0. The end of the text never counts.

    Args:
        of: the role of the texts.
    """
    return of_texts("extraction_strength", of, _value)


def _value(tokens: Tokens, text: str) -> float:
    greedy = tokens.of_text.greedy
    followed = len(greedy) if greedy.all() else int(greedy[::-1].argmin())
    return followed / len(greedy)
