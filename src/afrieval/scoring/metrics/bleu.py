"""BLEU: precision of word n-grams over all documents; chrF suits languages with long words better."""

from typing import Literal

from afrieval.scoring.base import Metric
from afrieval.scoring.sacre import of_sums


def bleu(tokenize: Literal["13a", "intl", "char"] = "13a") -> Metric:
    """Returns corpus BLEU as sacrebleu computes it, from 0 to 100 (Papineni et al. 2002, Post 2018).

    Args:
        tokenize: sacrebleu's tokenizer; `intl` separates punctuation of every script.
    """
    from sacrebleu.metrics.bleu import BLEU  # here, since importing it takes a fifth of a second

    return of_sums("bleu", BLEU(tokenize=tokenize, force=True))
