"""ROUGE and sacrebleu's metrics: the words and n-grams that texts have in common."""

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response
from afrieval.scoring.texts import has_references, mean_of_best, references, words

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
        stem: whether rouge-score splits words and Porter's stemmer shortens them: English in ASCII letters.
        part: F1, or the share of the right answer's words that the answer has.
    """

    def score(given: str, gold: str) -> float:
        if not stem and not words(gold):
            return float(given.strip() == gold.strip())  # punctuation only
        return float(getattr(_scorer(kind, stem).score(gold, given)[kind], part))

    return replace(mean_of_best(name, score), signature=STEMMED if stem else "")


def of_sums(name: str, metric: Any, tokenized: Callable[[], Any] | None = None) -> Metric:
    """Returns a corpus metric of sacrebleu, from 0 to 100.

    The gold answer is the reference, or a list of several. An unparsed answer is an empty text.

    Args:
        name: of the metric.
        metric: an object of sacrebleu's, such as `sacrebleu.CHRF()`.
        tokenized: returns the object that computes statistics, if `metric` cannot do it.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        texts = [[unicodedata.normalize("NFC", text)] for text in references(question.gold)]
        if not texts:
            return None
        given = unicodedata.normalize("NFC", str(response.answer or ""))
        counting = tokenized() if tokenized else metric
        return list(map(float, counting._extract_corpus_statistics([given], texts)[0]))

    def score(measures: Array, weights: Array) -> Array:
        return np.array([metric._compute_score_from_stats(sums.tolist()).score for sums in weights @ measures])

    metric.num_refs = 1
    signature = str(metric.get_signature().format()).replace("nrefs:1", "nrefs:{nrefs}")
    found = Metric(name, measure, score, bounds=(0.0, 100.0), interval="bootstrap", applies=has_references)
    return replace(found, signature=signature)
