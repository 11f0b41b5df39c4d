"""Likelihoods from servers: of repeated prompts, and of letters among the most likely first tokens."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from afrieval.models.openai.failure import CHECK, Failure
from afrieval.models.openai.parsing import choice_of, is_logprob, is_refusal, usage_of
from afrieval.scoring.responses import LOWEST, Scored

PAYLOAD = {"echo": True, "logprobs": 1, "max_tokens": 1}  # some servers take 0 for no limit


class Token(NamedTuple):
    """A token of a prompt.

    Attributes:
        logprob: its log-probability after those before it; None for the first.
        greedy: whether no other token was more likely.
    """

    logprob: float | None
    greedy: bool


def split(context: str, continuation: str) -> tuple[str, str]:
    """Returns context and whole text; blanks at the end of a context belong to what follows, as in the harness."""
    return context.rstrip(), context + continuation


def prompt_tokens(response: Mapping[str, Any]) -> list[Token]:
    """Returns the tokens of a prompt.

    Raises:
        Failure: if the server did not return all of their log-probabilities.
    """
    stated = choice_of(response).get("logprobs")
    values = stated.get("token_logprobs") if isinstance(stated, dict) else None
    usage = usage_of(response)
    written = usage.completion if usage else 1
    n = len(values) - written if isinstance(values, list) else 0
    if not isinstance(values, list) or n < 1 or written > 1:
        raise _unsupported("returned no log-probabilities of the prompt")
    if not all((at == 0 and value is None) or is_logprob(value) for at, value in enumerate(values[:n])):
        raise _unsupported("returned log-probabilities of the prompt that are not numbers")
    best = stated.get("top_logprobs") if isinstance(stated, dict) else None
    best = best if isinstance(best, list) and len(best) == len(values) else [None] * len(values)
    return [Token(value, _is_greedy(value, top)) for value, top in zip(values[:n], best[:n], strict=True)]


def likelihood(tokens: list[Token], n_context: int) -> tuple[float, bool, int]:
    """Returns the log-likelihood of what follows a context, whether it is greedy, and its number of tokens.

    Args:
        tokens: of context and answer.
        n_context: how many tokens the context has by itself.

    Raises:
        Failure: if the answer has no tokens.
    """
    answer = tokens[n_context:]
    values = [token.logprob for token in answer if token.logprob is not None]
    if n_context < 1 or not answer or len(values) < len(answer):
        raise _unsupported(f"returned {len(tokens)} tokens for a prompt whose beginning has {n_context} by itself")
    return sum(values), all(token.greedy for token in answer), len(answer)


def _is_greedy(value: float | None, top: Any) -> bool:
    if value is None or not isinstance(top, dict) or not all(map(is_logprob, top.values())):
        return False
    return value >= max(top.values(), default=value)


def _unsupported(said: str) -> Failure:
    hint = "use a server that supports echo with logprobs, such as vLLM, or give --task.answer_form generate"
    return Failure(said, hint=hint, final=True)


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
