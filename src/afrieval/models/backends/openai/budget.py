"""The ceilings of a run folder: what was spent, what requests in flight may cost at most, and what still fits."""

import math
from collections.abc import Iterable
from typing import Any

from afrieval.config.api import APIConfig
from afrieval.errors import UserError
from afrieval.models.backends.openai.usage import NOTHING, Usage, pair_in, usage_in
from afrieval.scoring.detailed import Details

RAISE = "raise it, then run the same command again to continue; all answers are kept"


class Budget:
    """Counts requests, tokens and cost.

    Attributes:
        requests: number of requests sent, those of earlier visits included.
        tokens: of all answers.
        spent: cost of all answers; of those without stated tokens, the most that they may have cost.
        unknown: number of answers without stated tokens.

    Args:
        api: has prices and ceilings.
    """

    def __init__(self, api: APIConfig):
        self._prices, self._most, self._most_requests = api.prices, api.max_cost, api.max_requests
        self.requests = self.tokens = self.unknown = 0
        self.spent = self._in_flight = 0.0

    @property
    def priced(self) -> bool:
        """Whether prices are known."""
        return None not in (self._prices.input, self._prices.output)

    def resume(self, stored: Iterable[Details]) -> None:
        """Counts the answers of earlier visits."""
        for details in stored:
            usage = usage_in(details)
            requests: Any = details.get("requests")
            cost: Any = details.get("cost")
            self.requests += requests if type(requests) is int and requests >= 0 else 1
            known = type(cost) in (int, float) and 0 < cost < math.inf
            self.spent += cost if known else self._cost(usage or pair_in(details, "at_most"))
            self.spent += self._cost(pair_in(details, "lost"))
            self._count(usage)

    def fits(self, worst: Usage) -> bool:
        """Returns whether a request may be sent, whatever it and those in flight cost."""
        affordable = self._most is None or self.spent + self._in_flight + self._cost(worst) <= self._most
        return affordable and (self._most_requests is None or self.requests < self._most_requests)

    def send(self, worst: Usage) -> None:
        """Counts a request that is sent, which may cost a given number of tokens at most."""
        self.requests += 1
        self._in_flight += self._cost(worst)

    def fail(self, worst: Usage, charged: Usage = NOTHING) -> None:
        """Counts a request that failed, and what the server may have charged for it."""
        self._in_flight -= self._cost(worst)
        self.spent += self._cost(charged)

    def answer(self, worst: Usage, usage: Usage | None) -> None:
        """Counts an answer; without stated tokens, the most that it may have cost."""
        self._in_flight -= self._cost(worst)
        self.spent += self._cost(usage or worst)
        self._count(usage)

    def exhausted(self, worst: Usage) -> UserError:
        """Returns the error to show when nothing fits any more, not even a request of so many tokens at most."""
        if self._most_requests is not None and self.requests >= self._most_requests:
            said = f"{self.requests:,} requests were sent, which is model.api.max_requests"
            return UserError(said, RAISE)
        most = f" ({self.unknown:,} answers without a number of tokens count in full)" if self.unknown else ""
        return UserError(
            f"the run folder has cost ${self.spent:.4f}{most}, and the next request may cost ${self._cost(worst):.4f}, "
            f"which would exceed model.api.max_cost ${self._most:g}",
            RAISE,
        )

    def __str__(self) -> str:
        """Returns tokens and cost for people."""
        unknown = f" and {self.unknown:,} answers of unknown length" if self.unknown else ""
        cost = f", ${self.spent:.4f}" if self.priced else ""
        return f"{self.tokens:,} tokens{unknown}{cost}"

    def _count(self, usage: Usage | None) -> None:
        self.unknown += usage is None
        self.tokens += usage.prompt + usage.completion if usage else 0

    def _cost(self, usage: Usage) -> float:
        return usage.cost(self._prices) or 0.0
