"""Tokens of a request, as the server counts them, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from afrieval.config.api import Prices
from afrieval.models.base import most_tokens
from afrieval.scoring.detailed import Details

MILLION = 1_000_000


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
    """Returns the tokens that a response states; None if it states none.

    Some servers leave thinking out of the answer's tokens, but charge for it: it is in the total.
    """
    stated = response.get("usage")
    if not isinstance(stated, dict) or not isinstance(stated.get("prompt_tokens"), int):
        return None
    prompt, completion = stated["prompt_tokens"], _count(stated, "completion_tokens")
    completion = max(completion, _count(stated, "total_tokens") - prompt)
    cached = _count(stated.get("prompt_tokens_details"), "cached_tokens")
    return Usage(prompt, completion, cached, _count(stated.get("completion_tokens_details"), "reasoning_tokens"))


def usage_in(details: Details) -> Usage | None:
    """Returns the tokens in the details of a stored answer; None if they are unknown."""
    if "prompt_tokens" not in details:
        return None
    names = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
    return Usage(*(_count(details, name) for name in names))


def _count(stated: Any, name: str) -> int:
    found = stated.get(name) if isinstance(stated, dict) else None
    return found if isinstance(found, int) else 0
