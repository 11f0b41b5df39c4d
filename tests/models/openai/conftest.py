"""Shared by the tests of OpenAI-compatible servers: nobody waits."""

import asyncio
from collections.abc import Iterator

import pytest
from tests.models.loopback import Loopback, serving

from afrieval.models.openai import schedule

TOKENS = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@pytest.fixture
def server() -> Iterator[Loopback]:
    """Runs a server that states tokens."""
    with serving() as loopback:
        loopback.usage = TOKENS
        yield loopback


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Returns the waiting times between requests, which pass at once."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)
        await asyncio.sleep(0)

    monkeypatch.setattr(schedule, "sleep", sleep)
    return found
