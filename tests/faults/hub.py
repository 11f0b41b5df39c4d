"""A hub on this machine that serves the files of a folder, and drops connections in the middle of them."""

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.models.servers import QuietHandler, running

COMMIT = "c0ffee" + "0" * 34


class Hub:
    """What the server has, how it fails, and what it was asked.

    Attributes:
        root: folder of data sets, ORG/NAME.
        drops: how often the connection is closed in the middle of each file.
        share: of what is left of a file, how much is sent before.
        says_less: whether responses claim to be as short as what is sent.
        stalls: is set to wait before the rest of a file is sent.
        sent: set when a part of a file was sent.
        got: file to how often it was asked for.
        url: the server's.
    """

    def __init__(self, root: Path):
        self.root, self.drops, self.share, self.says_less, self.url = root, 0, 0.5, False, ""
        self.stalls, self.sent = threading.Event(), threading.Event()
        self.got = Counter[str]()

    def file(self, path: str) -> Path | None:
        """Returns the file of `/datasets/ORG/NAME/resolve/REVISION/FILE`."""
        _, kind, organisation, name, *rest = path.split("/")
        found = self.root.joinpath(organisation, name, *rest[2:])
        return found if kind == "datasets" and rest[:1] == ["resolve"] and found.is_file() else None


def _handler(hub: Hub) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def do_HEAD(self) -> None:
            if (path := hub.file(self.path)) is None:
                return self._absent()
            self._begin(200, path, path.stat().st_size)

        def do_GET(self) -> None:
            if (path := hub.file(self.path)) is None:
                return self._absent()
            given = self.headers.get("Range", "")
            begin = int(given.removeprefix("bytes=").partition("-")[0]) if given else 0
            hub.got[path.name] += 1
            rest = path.read_bytes()[begin:]
            part = rest[: int(len(rest) * hub.share)] if hub.got[path.name] <= hub.drops else rest
            self._begin(206 if given else 200, path, len(part) if hub.says_less else len(rest), begin)
            self.wfile.write(part[: len(part) // 2])
            self.wfile.flush()
            hub.sent.set()
            if hub.stalls.is_set():
                threading.Event().wait(30)
            self.wfile.write(part[len(part) // 2 :])
            self.close_connection = True

        def _begin(self, status: int, path: Path, length: int, begin: int = 0) -> None:
            size = path.stat().st_size
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.send_header("ETag", f'"{hashlib.sha1(path.read_bytes()).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Range", f"bytes {begin}-{size - 1}/{size}") if status == 206 else None
            self.end_headers()

        def _absent(self) -> None:
            self.send(404, b"", X_Error_Code="EntryNotFound", X_Repo_Commit=COMMIT)

    return Handler


@contextmanager
def serving(root: Path) -> Iterator[Hub]:
    """Runs such a hub until the block ends."""
    hub = Hub(root)
    with running(_handler(hub)) as hub.url:
        yield hub
