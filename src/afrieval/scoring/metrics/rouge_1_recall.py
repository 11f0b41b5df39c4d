"""ROUGE-1 recall: how many of the right answer's words a text has."""

from afrieval.scoring.base import Metric
from afrieval.scoring.rouge import rouge


def rouge_1_recall(stem: bool = False) -> Metric:
    """Returns the mean over documents of ROUGE-1's recall, from 0 to 1 (Lin 2004; rouge-score).

    The common words, each as often as in both, divided by the words of the reference. Words are as in `rouge_1`.

    Args:
        stem: whether words are those of rouge-score itself with Porter's stemmer, which are for English only.
    """
    return rouge("rouge_1_recall", "rouge1", stem, "recall")
