"""ROUGE-L: the longest sequence of words that a summary and its reference have in common."""

from afrieval.scoring.base import Metric
from afrieval.scoring.rouge import rouge


def rouge_l(stem: bool = False) -> Metric:
    """Returns the mean over documents of ROUGE-L's F1, from 0 to 1 (Lin 2004; rouge-score).

    2 common / (words of the answer + words of the reference), where common is the length of their
    longest common subsequence; of several references, the best. Words are as in `rouge_1`, and the
    whole text is one sequence.

    Args:
        stem: whether words are those of rouge-score itself with Porter's stemmer, which are for English only.
    """
    return rouge("rouge_l", "rougeL", stem)
