"""ROUGE-L recall: how much of the right answer a text has, in the same order."""

from afrieval.scoring.base import Metric
from afrieval.scoring.rouge import rouge


def rouge_l_recall(stem: bool = False) -> Metric:
    """Returns the mean over documents of ROUGE-L's recall, from 0 to 1 (Lin 2004; rouge-score).

    The longest common subsequence of words, divided by the words of the reference: a long answer is not punished, as
    in TOFU (Maini et al. 2024, section 2.2.1) and MUSE. Words are as in `rouge_1`.

    Args:
        stem: whether words are those of rouge-score itself with Porter's stemmer, which are for English only.
    """
    return rouge("rouge_l_recall", "rougeL", stem, "recall")
