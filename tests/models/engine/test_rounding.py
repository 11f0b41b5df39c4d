"""In 16 bits the engine rounds in other places than the harness, and no worse.

That its answers differ from those of batches of one by no more than the harness' answers in batches of eight do is not
true of every set of requests: the largest of some differences is now the one's, now the other's.
"""

import math
import random
from typing import Any

import pytest
import torch
from tests.models.engine.asked import Answers, Request, named, plain, tokens, tree
from tests.models.shapes import decoder, loaded

SEEDS = range(2)
SMALL: dict[str, Any] = {
    "initializer_range": 0.1
}  # as of a trained model's, rounding errors stay below the answers' differences


def long_requests(seed: int) -> list[Request]:
    draw, pairs = random.Random(seed), []
    head = tokens(draw, 120)
    for _ in range(6):
        context, begun = head + tokens(draw, draw.randrange(5, 30)), tokens(draw, 2)
        choices = [tokens(draw, 1), begun + tokens(draw, 2), begun + tokens(draw, 6), tokens(draw, 3)]
        pairs += [(context, choice) for choice in choices]
    return named(pairs)


def spread(some: list[Answers], others: list[Answers]) -> float:
    """Returns the root of the mean square of the differences of likelihoods."""
    pairs = [(a, b) for one, other in zip(some, others, strict=True) for a, b in zip(one, other, strict=True)]
    return math.sqrt(sum((a[0] - b[0]) ** 2 for a, b in pairs) / len(pairs))


@pytest.mark.parametrize(("name", "dtype"), [("llama", torch.bfloat16), ("gemma3", torch.float16)])
def test_the_engine_is_as_near_to_the_exact_answers(name: str, dtype: torch.dtype) -> None:
    exact, alone, engine, eager = [], [], [], []
    for seed in SEEDS:
        model, requests = decoder(name, seed, **SMALL), long_requests(seed)
        exact.append(plain(loaded(model), requests))
        alone.append(plain(loaded(model.to(dtype)), requests))
        engine.append(tree(loaded(model), requests))
        eager.append(plain(loaded(decoder(name, seed, "eager", **SMALL).to(dtype)), requests))
    assert 0 < spread(engine, exact) < 1.15 * spread(alone, exact)
    assert spread(engine, alone) < spread(eager, alone), (
        "another of the model's own attentions makes more of a difference"
    )
