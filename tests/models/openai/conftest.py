"""Shared by the tests of OpenAI-compatible servers: nobody waits."""

import asyncio
import json
import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from tests.models.loopback import Loopback, serving

from afrieval.config.api_settings import APIConfig
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.openai import schedule
from afrieval.models.registry import load_model

ONE = ("--task.task_name", "afrimmlu", "--task.languages", "yor", "--task.prompts", 1)
WRITES = (*ONE, "--task.answer_form", "generate")
DOCUMENTS = 8
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
    monkeypatch.setattr(schedule, "random", SimpleNamespace(Random=lambda: random.Random(8)))  # or short by chance
    return found


def asked(url: str, n: int = DOCUMENTS, max_gen_toks: int = 36, **api: Any) -> list[Any]:
    """Returns a server's answers to n chats, without a run around them."""
    given: dict[str, Any] = {"base_url": f"{url}/v1", "max_retries": 0} | api
    config = ModelConfig("served", "openai", api=APIConfig(**given))
    chats = [json.dumps([{"role": "user", "content": f"Question {i}"}]) for i in range(n)]
    requests = [SimpleNamespace(args=(chat, {"until": [], "max_gen_toks": max_gen_toks})) for chat in chats]
    return list(load_model(config, EvalConfig()).generate_until(requests))
