"""Requests are sent from a thread of their own, so that notebooks, whose thread has a loop, can evaluate too."""

import asyncio
import threading

import pytest

from afrieval.models.openai.schedule import in_thread


async def _work(seen: list[str]) -> None:
    await asyncio.sleep(0)
    seen.append(threading.current_thread().name)


def test_it_runs_where_a_loop_runs_already() -> None:
    seen: list[str] = []

    async def notebook() -> None:
        in_thread(lambda: _work(seen))

    asyncio.run(notebook())
    assert len(seen) == 1 and seen[0] != threading.current_thread().name


def test_errors_are_raised_where_it_is_waited_for() -> None:
    async def broken() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_thread(broken)


def test_an_interrupt_cancels_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled, begun = threading.Event(), threading.Event()

    async def long() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    join = threading.Thread.join

    def interrupted(thread: threading.Thread, timeout: float | None = None) -> None:
        monkeypatch.setattr(threading.Thread, "join", join)
        assert begun.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        in_thread(long)
    assert cancelled.wait(10)
