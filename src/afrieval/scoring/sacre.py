"""sacrebleu's metrics: statistics of each document, whose sums over documents give the score."""

import unicodedata
from typing import Any

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response


def of_sums(name: str, metric: Any) -> Metric:
    """Returns a corpus metric of sacrebleu, from 0 to 100.

    The gold answer is the reference, or a list of several. An unparsed answer is an empty text.

    Args:
        name: of the metric.
        metric: an object of sacrebleu's, such as `sacrebleu.CHRF()`.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        texts = [question.gold] if isinstance(question.gold, str) else question.gold
        if not (isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)):
            return None
        references = [[unicodedata.normalize("NFC", text)] for text in texts]
        given = unicodedata.normalize("NFC", str(response.answer or ""))
        return list(map(float, metric._extract_corpus_statistics([given], references)[0]))

    def score(measures: Array, weights: Array) -> Array:
        return np.array([metric._compute_score_from_stats(sums.tolist()).score for sums in weights @ measures])

    return Metric(name, measure, score, bounds=(0.0, 100.0), interval="bootstrap")
