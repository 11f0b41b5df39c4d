"""sacrebleu's metrics: statistics of each document, whose sums over documents give the score."""

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response
from afrieval.scoring.references import has_references, references


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

    found = Metric(name, measure, score, bounds=(0.0, 100.0), interval="bootstrap", applies=has_references)
    return replace(found, signature=_signature(metric))


def _signature(metric: Any) -> str:
    """Returns sacrebleu's signature, with a placeholder for the number of references."""
    metric.num_refs = 1
    return str(metric.get_signature().format()).replace("nrefs:1", "nrefs:{nrefs}")
