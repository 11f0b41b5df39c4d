"""F1 of the words of an answer, as SQuAD has it, for every script."""

from collections import Counter

from afrieval.scoring.base import Metric
from afrieval.scoring.references import mean_of_best
from afrieval.scoring.words import words_without_punctuation


def token_f1() -> Metric:
    """Returns the mean over questions of the F1 of words, from 0 to 1 (Rajpurkar et al. 2016).

    2 common / (words of the answer + words of the right answer); of several right answers, the best.
    Unlike SQuAD's script, which knows only ASCII punctuation and English, it treats all scripts alike:
    texts are in NFC and caseless, all punctuation and symbols are removed, digits of all scripts are
    equal, and no article is removed.
    """
    return mean_of_best("token_f1", _f1)


def _f1(given: str, gold: str) -> float:
    a, b = Counter(words_without_punctuation(given)), Counter(words_without_punctuation(gold))
    if not a or not b:
        return float(given.strip() == gold.strip())  # punctuation only
    return 2 * (a & b).total() / (a.total() + b.total())
