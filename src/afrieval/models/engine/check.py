"""Scores a few requests both ways when a model is loaded: an engine that errs must not be used."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean
from typing import Any

import torch

from afrieval.models.engine.encoder_decoder import encoder_decoder_loglikelihoods
from afrieval.models.engine.forward import inference
from afrieval.models.engine.generation import answers
from afrieval.models.engine.likelihood import loglikelihoods
from afrieval.models.engine.packs import Packs
from afrieval.models.engine.requests import Answer, EngineModel, TokenRequest

SEED, PACK, WINDOW = 1, 16, 8
SLOTS, NEW = 3, 4  # answers side by side, and the tokens of each
EXACT = 1e-3
# In 16 bits: a single answer and the mean of all may differ by so much of a likelihood, beside what padding does.
COARSE, COARSE_MEAN = 0.01, 0.002
COARSE_LOGIT = 0.05  # and the logit of a token that is written, of the highest
WINDOWS = re.compile(r"window(_size|_len)?$")
TEXT = "Kínni iyì p nínú 24 = 2p? ጥያቄ፦ መልስ Ŋuɖoɖo ƙarya. The answer is 0123456789, not “seven”.\n\nJibu: la ventana"


def objection(lm: EngineModel) -> str | None:
    """Returns what a loaded model does that forbids the engine, None if both ways give the same."""
    requests = probes(lm)
    exact = lm.model.dtype.itemsize >= 4 and lm.mixed_precision_dtype is None
    score = loglikelihoods if lm.backend == "causal" else encoder_decoder_loglikelihoods
    try:
        with small_windows(lm.model):
            alone = lm.plain(requests, batch_size=1)
            padded = alone if exact else lm.plain(requests, batch_size=len(requests))
            tree = score(lm, requests, Packs(PACK), lambda i, answer: None)
            different = _difference(alone, padded, tree, exact)
            if different or lm.backend != "causal":
                return different
            return _difference_in_writing(lm, [context + answer for _, context, answer in requests], exact)
    except Exception as e:  # whatever it is, the harness' own way is there
        return f"raises {type(e).__name__} ({' '.join(str(e).split())[:120]})"


def _difference_in_writing(lm: EngineModel, prompts: list[list[int]], exact: bool) -> str | None:
    """Returns by how much tokens that the engine writes are not the most probable ones, None if it is rounding.

    Slots are fewer than prompts, so that some are used again.
    """
    for i, new in answers(lm, prompts, NEW, lambda tokens: False, Packs(PACK), SLOTS):
        with inference(lm):
            logits = lm.model(torch.tensor([prompts[i] + new[:-1]], device=lm.device)).logits[0, -NEW:].float()
        highest, written = logits.amax(dim=-1), logits[range(NEW), new]
        allowed = EXACT * (highest.abs() / 100).clamp(min=1.0) if exact else COARSE_LOGIT * (1 + highest.abs())
        if not (highest - written <= allowed).all():
            return f"writes tokens whose logits are {float((highest - written).max()):.4f} below the highest"
    return None


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


def probes(lm: EngineModel) -> list[TokenRequest]:
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
