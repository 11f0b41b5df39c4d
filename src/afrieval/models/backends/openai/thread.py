"""Runs a coroutine in a thread: notebooks have a loop in theirs, and a signal interrupts the wait at once."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

POLL, GRACE = 0.5, 2.0  # seconds


def in_thread(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a coroutine to its end, and raises its error; if interrupted, cancels it and closes its connections.

    Args:
        work: returns the coroutine.
    """
    ended, loop = Future[None](), asyncio.new_event_loop()

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(work())
        except BaseException as e:  # raised again where it is waited for
            ended.set_exception(e)
        else:
            ended.set_result(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while not ended.done():
            thread.join(POLL)
    except BaseException:
        _cancel(loop)
        thread.join(GRACE)
        raise
    ended.result()


def _cancel(loop: asyncio.AbstractEventLoop) -> None:
    def all_tasks() -> None:
        for task in asyncio.all_tasks(loop):
            task.cancel()

    with suppress(RuntimeError):  # it has ended in the meantime
        loop.call_soon_threadsafe(all_tasks)
