"""ROUGE by the library rouge-score, with words of every script."""

from dataclasses import replace
from functools import cache
from typing import Any, Literal

from afrieval.scoring.base import Metric
from afrieval.scoring.references import mean_of_best
from afrieval.scoring.words import words

STEMMED = "rouge-score's own words, with Porter's stemmer"


class _Words:
    """Replaces the library's tokenizer, which removes all but ASCII letters and digits."""

    def tokenize(self, text: str) -> list[str]:
        return words(text)


@cache
def _scorer(kind: str, stem: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer([kind], use_stemmer=True) if stem else RougeScorer([kind], tokenizer=_Words())


def rouge(name: str, kind: str, stem: bool = False, part: Literal["fmeasure", "recall"] = "fmeasure") -> Metric:
    """Returns the mean over documents of a ROUGE score, from 0 to 1.

    Args:
        name: of the metric.
        kind: what rouge-score calls it.
        stem: whether words are those of rouge-score, with Porter's stemmer: of English in ASCII letters.
        part: F1, or the share of the right answer's words that the answer has.
    """

    def score(given: str, gold: str) -> float:
        if not stem and not words(gold):
            return float(given.strip() == gold.strip())  # punctuation only
        return float(getattr(_scorer(kind, stem).score(gold, given)[kind], part))

    return replace(mean_of_best(name, score), signature=STEMMED if stem else "")
