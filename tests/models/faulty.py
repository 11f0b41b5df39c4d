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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt, fault = state.begin(body)
            try:
                _SENDS.get(fault, _send)(self, prompt, fault)
            finally:
                state.end()

        def log_message(self, *args: Any) -> None:
            """Says nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: Any) -> None:
            """Says nothing of clients that hang up, as they do after a drip."""

    server = Server(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _send(
    handler: BaseHTTPRequestHandler,
    prompt: str,
    fault: str,
    body: bytes | None = None,
    status: int = 200,
    **headers: str,
) -> None:
    content = right(prompt) if body is None else body
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(content)


def _busy(handler: BaseHTTPRequestHandler, prompt: str, fault: str) -> None:
    in_a_while = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 40))
    waits = {"busy, seconds": {"Retry_After": "20"}, "busy, date": {"Retry_After": in_a_while}}
    waits |= {"quota of a day": {"Retry_After": "7200"}}
    wait = waits.get(fault, {"retry_after_ms": "7000"} if "milli" in fault else {})
    _send(handler, prompt, fault, b'{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}', 429, **wait)


def _half(handler: BaseHTTPRequestHandler, prompt: str, fault: str) -> None:
    body = right(prompt)
    _send(handler, prompt, fault, body[: len(body) // 2], Content_Length=str(len(body)))
    handler.close_connection = True


def _close(handler: BaseHTTPRequestHandler, prompt: str, fault: str) -> None:
    handler.close_connection = True


def _drip(handler: BaseHTTPRequestHandler, prompt: str, fault: str) -> None:
    body = right(prompt)
    _send(handler, prompt, fault, b"", Content_Length=str(len(body)))
    for byte in body:
        time.sleep(DRIP)
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()


def _with(body: bytes, status: int = 200) -> Callable[[BaseHTTPRequestHandler, str, str], None]:
    return lambda handler, prompt, fault: _send(handler, prompt, fault, body, status)


_SENDS: dict[str, Callable[[BaseHTTPRequestHandler, str, str], None]] = {
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
