"""chrF: F-score of character n-grams over all documents, for translation and other free text."""

from afrieval.scoring.base import Metric
from afrieval.scoring.sacre import of_sums


def chrf(word_order: int = 0) -> Metric:
    """Returns corpus chrF, or chrF++, as sacrebleu computes it, from 0 to 100 (Popović 2015, 2017).

    Args:
        word_order: longest n-grams of words that count too; 2 makes it chrF++.
    """
    from sacrebleu.metrics.chrf import CHRF  # here, since importing it takes a fifth of a second

    return of_sums("chrf" + "+" * word_order, CHRF(word_order=word_order))
