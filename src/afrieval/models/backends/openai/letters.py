"""The likelihood of letters from the most likely first tokens that a chat model may answer with."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from afrieval.models.backends.openai.answer import choice_of, is_logprob, is_refusal
from afrieval.models.backends.openai.failure import CHECK, Failure
from afrieval.scoring.choice import LOWEST
from afrieval.scoring.detailed import Scored

BLANKS = str.maketrans("Ġ▁", "  ")  # how some servers show the blank before a token
Likelihood = tuple[float, bool, int]


def likelihoods(response: Mapping[str, Any], letters: Sequence[str]) -> list[Likelihood]:
    """Returns the log-likelihood of each letter, whether it is the most likely token, and its number of tokens.

    A letter may be a token with or without a blank before it; their probabilities add up. One that is not among the
    tokens gets `LOWEST`: it is less likely than all of them, but how much is unknown.

    Args:
        response: of a chat, with log-probabilities of its first token; a refusal has none.
        letters: as they were shown.

    Raises:
        Failure: if the server returned no log-probabilities, or something else in their place.
    """
    choice = choice_of(response)
    tokens = _first_tokens(choice)
    if not tokens and not is_refusal(choice):
        hint = "leave model.api.top_logprobs out, and give --task.answer_form generate"
        raise Failure("returned no log-probabilities of the first token", hint=hint, final=True)
    best = max(tokens, key=lambda pair: pair[1], default=("", 0.0))[0]
    return [(_sum([p for token, p in tokens if _is(token, letter)]), _is(best, letter), 1) for letter in letters]


def of_letters(given: Sequence[Likelihood], refused: bool) -> list[Any]:
    """Returns the likelihoods of a question's letters; the first also has how many were not among the tokens."""
    missing = sum(likelihood <= LOWEST for likelihood, *_ in given)
    details = {"letters": len(given), "missing_letters": missing, **({"refused": True} if refused else {})}
    return [Scored(each, {} if number else details) for number, each in enumerate(given)]


def _first_tokens(choice: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Returns the most likely first tokens with their log-probabilities."""
    stated = choice.get("logprobs")
    content = stated.get("content") if isinstance(stated, dict) else None
    first = content[0] if isinstance(content, list) and content else {}
    told = first.get("top_logprobs") if isinstance(first, dict) else None
    every = told if isinstance(told, list) else []
    pairs: list[Any] = [
        (each.get("token"), each.get("logprob")) if isinstance(each, dict) else (None, None) for each in every
    ]
    if not all(isinstance(token, str) and is_logprob(p) for token, p in pairs):
        raise Failure("returned tokens without valid log-probabilities", hint=CHECK, may_cost=True)
    return [(token, min(float(p), 0.0)) for token, p in pairs]


def _is(token: str, letter: str) -> bool:
    return token in (letter, f" {letter}") or token.translate(BLANKS) == f" {letter}"


def _sum(found: Sequence[float]) -> float:
    """Returns the logarithm of a sum of probabilities."""
    if not found:
        return LOWEST
    highest = max(found)
    if highest <= LOWEST:
        return LOWEST
    return max(LOWEST, min(0.0, highest + math.log(sum(math.exp(each - highest) for each in found))))
