"""When a failed request is sent again: exponential backoff with full jitter, or as long as the server asks to wait."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from afrieval.models.backends.openai.failure import Failure

FIRST, LONGEST = 1.0, 60.0  # seconds
Sleep = Callable[[float], Awaitable[None]]
sleep: Sleep = asyncio.sleep  # tests replace it


def retrying(max_retries: int, draw: random.Random, goes_on: Callable[[Failure], bool]) -> AsyncRetrying:
    """Returns what repeats a request. All clients wait for random times, so that they do not come back together.

    Args:
        max_retries: how often.
        draw: random numbers; not the global ones, which belong to the evaluated model.
        goes_on: returns whether requests that failed so are still repeated.
    """

    def passes(error: BaseException) -> bool:
        return isinstance(error, Failure) and error.passes and goes_on(error)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.wait if isinstance(error, Failure) else None
        most = min(FIRST * 2 ** (state.attempt_number - 1), LONGEST)
        return draw.uniform(0, most) if asked is None else asked + draw.uniform(0, most)

    return AsyncRetrying(
        stop=stop_after_attempt(max_retries + 1),
        wait=wait,
        retry=retry_if_exception(passes),
        sleep=lambda seconds: sleep(seconds),
        reraise=True,
    )
