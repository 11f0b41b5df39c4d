"""Runs servers on this machine for tests."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    """Answers requests, and logs nothing."""

    protocol_version = "HTTP/1.1"

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def send(self, status: int, content: bytes, **headers: str) -> None:
        """Sends a response of JSON unless the headers say otherwise; `_` stands for a hyphen in their names."""
        self.send_response(status)
        for name, value in {"Content_Type": "application/json", "Content_Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        """Logs nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *args: Any) -> None:
        """Ignores clients that hang up, as they do after a fault."""


@contextmanager
def running(handler: type[QuietHandler]) -> Iterator[str]:
    """Runs a server until the block ends, and yields its address."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
