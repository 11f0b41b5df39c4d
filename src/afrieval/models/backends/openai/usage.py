"""Tokens of a request, as the server counts them, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from afrieval.config.api import Prices
from afrieval.models.base import most_tokens
from afrieval.scoring.detailed import Details

MILLION = 1_000_000
MOST = 10**9  # tokens of a request that are believed


@dataclass(frozen=True)
class Usage:
    """Tokens of a request.

    Attributes:
        prompt: of the prompt.
        completion: of the answer, thinking included.
        cached: of the prompt, how many the server had cached.
        reasoning: of the answer, how many were thinking.
    """

    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0

    def cost(self, prices: Prices) -> float | None:
        """Returns the price of these tokens; None if prices are unknown."""
        if prices.input is None or prices.output is None:
            return None
        cached = prices.input if prices.cached_input is None else prices.cached_input
        fresh = max(self.prompt - self.cached, 0)
        return (fresh * prices.input + self.cached * cached + self.completion * prices.output) / MILLION

    @property
    def details(self) -> Details:
        """The tokens as they are stored."""
        named = {"cached_tokens": self.cached, "reasoning_tokens": self.reasoning}
        told = {name: count for name, count in named.items() if count}
        return {"prompt_tokens": self.prompt, "completion_tokens": self.completion, **told}


NOTHING = Usage(0, 0)


def most(prompt: str, max_tokens: int) -> Usage:
    """Returns the most tokens that a request may take: one per byte of its JSON text, and a whole answer."""
    return Usage(most_tokens(prompt), max_tokens)


def usage_of(response: Mapping[str, Any]) -> Usage | None:
    """Returns the tokens that a response states; None if it does not state both numbers, or numbers that cannot be.

    Some servers leave thinking out of the answer's tokens, but charge for it: it is in the total.
    """
    stated: Any = response.get("usage")
    prompt, completion, total = (_count(stated, f"{name}_tokens") for name in ("prompt", "completion", "total"))
    if not prompt or (completion is None and (total or 0) < prompt):  # each request has a prompt
        return None
    completion = max(completion or 0, (total or 0) - prompt)
    cached = _count(stated.get("prompt_tokens_details"), "cached_tokens") or 0
    reasoning = _count(stated.get("completion_tokens_details"), "reasoning_tokens") or 0
    return Usage(prompt, completion, cached if cached <= prompt else 0, reasoning)


def usage_in(details: Details) -> Usage | None:
    """Returns the tokens in the details of a stored answer; None if they are unknown."""
    prompt, completion = (_count(details, f"{name}_tokens") for name in ("prompt", "completion"))
    if prompt is None or completion is None:
        return None
    return Usage(prompt, completion, *(_count(details, f"{name}_tokens") or 0 for name in ("cached", "reasoning")))


def pair_in(details: Details, name: str) -> Usage:
    """Returns the tokens of prompt and answer in a pair that is stored with an answer; nothing if there is none."""
    pair = details.get(name)
    return Usage(*pair) if isinstance(pair, list) and len(pair) == 2 and all(map(_is_count, pair)) else NOTHING


def _count(stated: Any, name: str) -> int | None:
    """Returns a number of tokens; None if it is not stated, or cannot be one."""
    found = stated.get(name) if isinstance(stated, dict) else None
    return found if _is_count(found) else None


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST
