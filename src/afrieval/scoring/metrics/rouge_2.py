"""ROUGE-2: pairs of neighbouring words that a summary and its reference have in common."""

from afrieval.scoring.base import Metric
from afrieval.scoring.rouge import rouge


def rouge_2() -> Metric:
    """Returns the mean over documents of the F1 of pairs of neighbouring words, from 0 to 1 (Lin 2004; rouge-score).

    2 common / (those of the answer + those of the reference); of several references, the best. Words
    are runs of letters, marks and digits of any script, caseless and in NFC, without stemming.
    """
    return rouge("rouge_2", "rouge2")
