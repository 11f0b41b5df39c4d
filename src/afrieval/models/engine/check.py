"""Scores a few requests both ways when a model is loaded: an engine that errs must not be used."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean
from typing import Any

from afrieval.models.engine.encoder_decoder import encoder_decoder_loglikelihoods
from afrieval.models.engine.likelihood import Answer, TokenRequest, loglikelihoods
from afrieval.models.engine.memory import Packs

SEED, PACK, WINDOW = 1, 16, 8
EXACT = 1e-3
# In 16 bits: a single answer and the mean of all may differ by so much of a likelihood, beside what padding does.
COARSE, COARSE_MEAN = 0.01, 0.002
WINDOWS = re.compile(r"window(_size|_len)?$")
TEXT = "Kínni iyì p nínú 24 = 2p? ጥያቄ፦ መልስ Ŋuɖoɖo ƙarya. The answer is 0123456789, not “seven”.\n\nJibu: la ventana"


def objection(lm: Any) -> str | None:
    """Returns what a loaded model does that forbids the engine, None if both ways give the same."""
    requests = probes(lm)
    score = loglikelihoods if lm.backend == "causal" else encoder_decoder_loglikelihoods
    try:
        with small_windows(lm.model):
            alone, padded = (lm.plain(requests, batch_size) for batch_size in (1, len(requests)))
            tree = score(lm, requests, Packs(PACK), lambda i, answer: None)
        Packs().size(lm, 1)  # fails where a model does not tell how large it is
    except Exception as e:  # whatever it is, the harness' own way is there
        return f"raises {type(e).__name__} ({' '.join(str(e).split())[:120]})"
    exact = lm.model.dtype.itemsize >= 4 and lm.mixed_precision_dtype is None
    return _difference(alone, padded, tree, exact)


def _difference(alone: list[Answer], padded: list[Answer], tree: list[Answer], exact: bool) -> str | None:
    """Returns how the engine's answers differ from the harness' own by more than rounding, None if they do not."""
    values, noise = [a for a, _ in alone], [abs(a - b) for (a, _), (b, _) in zip(alone, padded, strict=True)]
    far = [abs(a - b) for (a, _), (b, _) in zip(alone, tree, strict=True)]
    for a, (b, _), distance in zip(values, tree, far, strict=True):
        allowed = EXACT * max(1.0, abs(a) / 100) if exact else 4 * max(noise) + COARSE * (1 + abs(a))
        if not distance <= allowed:
            return f"gives {b:.4f} where the harness' own way gives {a:.4f}"
    allowed = EXACT if exact else 2 * fmean(noise) + COARSE_MEAN * (1 + fmean(map(abs, values)))
    return None if fmean(far) <= allowed else f"differs by {fmean(far):.4f} on average from the harness' own way"


@contextmanager
def small_windows(model: Any) -> Iterator[None]:
    """Makes a model look back less far than the probes reach, if its settings or its layers name windows.

    Some models' code does not do what their settings say, and no short text would tell.
    """
    config = model.config.get_text_config(decoder=True)
    places = [config] if model.config.is_encoder_decoder else [config, *model.modules()]
    windows = [(place, name, value) for place in places for name, value in _windows(place).items()]
    for place, name, value in windows:
        setattr(place, name, min(value, WINDOW))
    try:
        yield
    finally:
        for place, name, value in windows:
            setattr(place, name, value)


def _windows(place: Any) -> dict[str, int]:
    """Returns the attributes of settings or of a layer that say how many tokens it looks back."""
    return {name: value for name, value in vars(place).items() if WINDOWS.search(name) and type(value) is int}


def probes(lm: Any) -> list[TokenRequest]:
    """Returns requests with shared beginnings, branches at several depths and answers of several lengths."""
    draw, ordinary = random.Random(SEED), lm.tok_encode(TEXT)

    def tokens(n: int) -> list[int]:
        return [draw.choice(ordinary) for _ in range(n)]

    head, requests = tokens(20), list[TokenRequest]()
    for length in (3, 9, 14):
        question, begun = head + tokens(length), tokens(2)
        answers = (tokens(1), begun + tokens(1), begun + tokens(3), tokens(5))
        requests += [(None, question, answer) for answer in answers]
    return requests
