"""A server on this machine that fails in every way that servers do, and then answers.

Each prompt meets each fault once, in an order of its own, before its right answer, which depends on the prompt alone.
"""

import hashlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.models.servers import QuietHandler, running

DRIP = 0.05  # seconds between the bytes of a slow drip
FAULTS = (
    "busy", "busy, seconds", "busy, date", "busy, milliseconds", "broken", "gateway", "half", "not JSON", "no map",
    "closed", "drip", "no choices", "error inside",
)  # fmt: skip
USAGE = {"prompt_tokens": 50, "completion_tokens": 3, "total_tokens": 53}


class Faulty:
    """What the server does, and what it was asked.

    Attributes:
        faults: those that each prompt meets.
        seed: of their order.
        url: the server's.
        asked: the bodies of all requests, in order.
        answered: prompt to the number of right answers that were sent.
        met: fault to how often it happened.
        most: largest number of requests at a time.
    """

    def __init__(self, faults: Sequence[str], seed: int):
        self.faults, self.seed, self.url = faults, seed, ""
        self.asked: list[dict[str, Any]] = []
        self.answered, self.met = Counter[str](), Counter[str]()
        self.most = self._now = 0
        self._left: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    @property
    def options(self) -> list[str]:
        """Options of `afrieval run` for this server."""
        return ["--model.model_name=served", "--model.model_type=openai", f"--model.api.base_url={self.url}/v1"]

    def begin(self, body: dict[str, Any]) -> tuple[str, str]:
        """Returns a request's prompt and its fault, empty for none."""
        prompt = json.dumps(body["messages"])
        with self._lock:
            self.asked.append(body)
            self._now += 1
            self.most = max(self.most, self._now)
            if prompt not in self._left:
                order = list(self.faults)
                random.Random(f"{self.seed}{prompt}").shuffle(order)
                self._left[prompt] = order
            fault = self._left[prompt].pop() if self._left[prompt] else ""
            self.met[fault] += 1
            self.answered[prompt] += not fault
        return prompt, fault

    def end(self) -> None:
        """Counts a request that is over."""
        with self._lock:
            self._now -= 1


def right(prompt: str) -> bytes:
    """Returns the right response to a prompt."""
    letter = "ABCD"[hashlib.sha256(prompt.encode()).digest()[0] % 4]
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": letter}}
    return json.dumps({"choices": [choice], "usage": USAGE}).encode()


@contextmanager
def faulty(faults: Sequence[str] = FAULTS, seed: int = 0) -> Iterator[Faulty]:
    """Runs such a server until the block ends."""
    state = Faulty(faults, seed)

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            prompt, fault = state.begin(json.loads(self.body()))
            try:
                _SENDS.get(fault, _right)(self, right(prompt), fault)
            finally:
                state.end()

    with running(Handler) as state.url:
        yield state


def _right(handler: QuietHandler, body: bytes, fault: str) -> None:
    handler.send(200, body)


def _busy(handler: QuietHandler, body: bytes, fault: str) -> None:
    in_a_while = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 40))
    waits = {"busy, seconds": {"Retry_After": "20"}, "busy, date": {"Retry_After": in_a_while}}
    waits |= {"quota of a day": {"Retry_After": "7200"}}
    wait = waits.get(fault, {"retry_after_ms": "7000"} if "milli" in fault else {})
    handler.send(429, b'{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}', **wait)


def _half(handler: QuietHandler, body: bytes, fault: str) -> None:
    handler.send(200, body[: len(body) // 2], Content_Length=str(len(body)))
    handler.close_connection = True


def _close(handler: QuietHandler, body: bytes, fault: str) -> None:
    handler.close_connection = True


def _drip(handler: QuietHandler, body: bytes, fault: str) -> None:
    handler.send(200, b"", Content_Length=str(len(body)))
    for byte in body:
        time.sleep(DRIP)
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()


def _with(body: bytes, status: int = 200) -> Callable[[QuietHandler, bytes, str], None]:
    return lambda handler, right_body, fault: handler.send(status, body)


_SENDS: dict[str, Callable[[QuietHandler, bytes, str], None]] = {
    **dict.fromkeys((*(fault for fault in FAULTS if fault.startswith("busy")), "quota of a day"), _busy),
    "broken": _with(b"out of order", 500),
    "gateway": _with(b"<html>bad gateway</html>", 502),
    "half": _half,
    "not JSON": _with(b"<html>A</html>"),
    "no map": _with(b'["A"]'),
    "closed": _close,
    "drip": _drip,
    "no choices": _with(b'{"choices": []}'),
    "error inside": _with(b'{"error": {"message": "overloaded", "code": 503}}'),
}
