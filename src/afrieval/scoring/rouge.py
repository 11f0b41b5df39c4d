"""ROUGE by the library rouge-score, with words of every script."""

from functools import cache
from typing import Any

from afrieval.scoring.base import Metric
from afrieval.scoring.references import mean_of_best
from afrieval.scoring.words import words


class _Words:
    """Replaces the library's tokenizer, which removes all but ASCII letters and digits."""

    def tokenize(self, text: str) -> list[str]:
        return words(text)


@cache
def _scorer(kind: str) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer([kind], tokenizer=_Words())


def rouge(name: str, kind: str) -> Metric:
    """Returns the mean over documents of a ROUGE F1, from 0 to 1.

    Args:
        name: of the metric.
        kind: what rouge-score calls it.
    """

    def score(given: str, gold: str) -> float:
        if not words(gold):
            return float(given.strip() == gold.strip())  # punctuation only
        return float(_scorer(kind).score(gold, given)[kind].fmeasure)

    return mean_of_best(name, score)
