"""Scores a few requests both ways when a model is loaded: an engine that errs must not be used."""

import random
from typing import Any

from afrieval.models.engine.encoder_decoder import encoder_decoder_loglikelihoods
from afrieval.models.engine.likelihood import Answer, TokenRequest, loglikelihoods
from afrieval.models.engine.memory import Packs

SEED, PACK = 1, 16
EXACT = 1e-3
COARSE = 0.05  # of a likelihood in 16 bits, relative and absolute


def differences(lm: Any, plain: list[Answer], requests: list[TokenRequest]) -> str | None:
    """Returns how the engine's answers differ from the harness' own by more than rounding, None if they do not.

    Args:
        lm: the model.
        plain: the harness' answers.
        requests: what was asked.
    """
    score = loglikelihoods if lm.backend == "causal" else encoder_decoder_loglikelihoods
    try:
        Packs().size(lm, 1)  # fails where a model does not tell how large it is
        tree = score(lm, requests, Packs(PACK), lambda i, answer: None)
    except Exception as e:  # whatever it is, the harness' own way is there
        return f"raises {type(e).__name__} ({' '.join(str(e).split())[:120]})"
    exact = lm.model.dtype.itemsize >= 4 and lm.mixed_precision_dtype is None
    for (a, _), (b, _) in zip(plain, tree, strict=True):
        allowed = EXACT * max(1.0, abs(a) / 100) if exact else COARSE * (1 + abs(a))
        if not abs(a - b) <= allowed:
            return f"gives {b:.4f} where the harness' own way gives {a:.4f}"
    return None


def probes(lm: Any) -> list[TokenRequest]:
    """Returns requests with shared beginnings, branches at several depths and answers of several lengths."""
    draw = random.Random(SEED)
    vocabulary = lm.model.config.get_text_config(decoder=True).vocab_size

    def tokens(n: int) -> list[int]:
        return [draw.randrange(vocabulary) for _ in range(n)]

    head, requests = tokens(20), []
    for length in (3, 9):
        question, begun = head + tokens(length), tokens(2)
        requests += [(None, question, answer) for answer in (tokens(1), begun + tokens(1), begun + tokens(3))]
    return requests
