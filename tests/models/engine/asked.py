"""Requests that share a lot, made of tokens, and answers to them both ways."""

import random
from collections.abc import Sequence
from typing import Any

import torch

from afrieval.models.engine.packs import Packs

Request = tuple[tuple[str, str] | None, list[int], list[int]]
Answers = list[tuple[float, bool, int]]
WORDS = range(3, 259)  # the byte tokenizer's tokens without the special ones


def tokens(draw: random.Random, n: int) -> list[int]:
    return [draw.choice(WORDS) for _ in range(n)]


def named(pairs: Sequence[tuple[list[int], list[int]]]) -> list[Request]:
    """Returns requests; equal ones have equal texts, as they do in a run."""
    return [((str(context), str(answer)), context, answer) for context, answer in pairs]


def greedy(model: Any, context: list[int], n: int) -> list[int]:
    """Returns the n tokens that a model itself would go on with."""
    written = list(context)
    for _ in range(n):
        with torch.no_grad():
            written.append(int(model(torch.tensor([written])).logits[0, -1].argmax()))
    return written[len(context) :]


def shared_requests(seed: int = 1) -> list[Request]:
    """Returns requests that share instructions, few-shot examples, questions and beginnings of choices.

    The longest has 97 tokens; among them are equal ones, beginnings of others, and contexts of a single token.
    """
    draw = random.Random(seed)
    instructions, pairs = tokens(draw, 30), []
    for examples in ([], tokens(draw, 25), tokens(draw, 50)):
        for length in (1, 6, 9):
            context = instructions + examples + tokens(draw, length)
            begun = tokens(draw, 2)
            choices = [tokens(draw, 1), tokens(draw, 1), begun + tokens(draw, 1), begun + tokens(draw, 5), begun]
            pairs += [(context, choice) for choice in choices]
        pairs += [(context[:-4], context[-4:-1]), (context[:-8], tokens(draw, 2))]
    pairs += [([0], [5]), ([0], [5, 7, 9]), ([7], [5]), (instructions[:1], instructions[1:3])]
    return named(pairs + pairs[3:20:4])


def greedy_requests(model: Any, requests: list[Request], n: int = 4) -> list[Request]:
    """Returns requests for what a model would say itself, and the same with another token in the end."""
    pairs = []
    for _, context, _ in requests[: 5 * n : 5]:
        for length in (1, 3):
            said = greedy(model, context, length)
            pairs += [(context, said), (context, [*said[:-1], said[-1] % 200 + 4])]
    return named(pairs)


def plain(lm: Any, requests: list[Request]) -> Answers:
    """Returns the harness' answers."""
    lm.engine = "plain"
    answers: Answers = lm._loglikelihood_tokens(requests, disable_tqdm=True)
    return answers


def tree(lm: Any, requests: list[Request], pack: int | None = None, seed: int | None = None) -> Answers:
    """Returns the engine's answers, asked for in another order if there is a seed."""
    order = list(range(len(requests)))
    if seed is not None:
        random.Random(seed).shuffle(order)
    lm.engine, lm.packs = "tree", Packs(pack)
    found = lm._loglikelihood_tokens([requests[i] for i in order], disable_tqdm=True)
    answers = dict(zip(order, found, strict=True))
    return [answers[i] for i in range(len(requests))]


def distance(some: Answers, others: Answers) -> float:
    """Returns the largest difference of two likelihoods of the same request."""
    return max(abs(a - b) for (a, *_), (b, *_) in zip(some, others, strict=True))


def verdicts(answers: Answers) -> list[tuple[bool, int]]:
    """Returns whether answers are greedy, and how many tokens they have."""
    return [(is_greedy, length) for _, is_greedy, length in answers]
