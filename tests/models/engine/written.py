"""Prompts for generation, and what models write both ways, token by token."""

import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from afrieval.models.engine.packs import Packs

LETTERS = "abcdefghijklmnopqrstuvwxyz .,\n"
Options = dict[str, Any]
MOST = 9  # tokens of an answer


def text(draw: random.Random, n: int) -> str:
    return "".join(draw.choice(LETTERS) for _ in range(n))


def shared_prompts(seed: int = 1) -> list[str]:
    """Returns prompts with a long common beginning; some are equal, some the beginning of others."""
    draw = random.Random(seed)
    head = text(draw, 40)
    prompts = [head + text(draw, n) for n in (1, 5, 5, 9, 20, 33)]
    return [*prompts, prompts[1], prompts[5][:-7], head, prompts[5]]


def strange_prompts(seed: int = 2) -> list[str]:
    """Returns prompts of different lengths that share nothing."""
    draw = random.Random(seed)
    return [first + text(draw, n) for first, n in zip("qwertyu", (1, 4, 40, 9, 9, 23, 2), strict=True)]


def generated(
    lm: Any, prompts: Sequence[str], engine: str, options: Options | None = None, pack: int | None = None
) -> list[list[int]]:
    """Returns the tokens that a model writes, without those that end or fill up a row."""
    lm.engine, lm.packs = engine, Packs(pack)
    lm.tok_decode = lambda tokens, **_: (
        " ".join(str(t) for t in tokens if t > 2) if isinstance(tokens, list) else "</s>"
    )
    requests = [SimpleNamespace(args=(p, {"until": [], "max_gen_toks": MOST} | (options or {}))) for p in prompts]
    try:
        return [[int(t) for t in answer.split()] for answer in lm.generate_until(requests, disable_tqdm=True)]
    finally:
        del lm.tok_decode


def stops(lm: Any, rows: list[list[int]], n: int = 3) -> list[str]:
    """Returns texts that end some rows, at different steps: one of a single letter, the others of two."""
    steps = ((row, i) for i in (2, 4, 6, 3, 5) for row in rows[i % 2 :: 2] if i < len(row))
    found = (lm.tokenizer.decode(row[i : i + 1 + (k > 0)]) for k, (row, i) in enumerate(steps))
    return list(dict.fromkeys(s for s in found if s.isprintable() and "\ufffd" not in s and s.strip()))[:n]
