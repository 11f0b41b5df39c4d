"""The file of a model's answers, which survives a kill of the process."""

import hashlib
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes
from afrieval.scoring.responses import Details, Scored, detailed, details_of

REMOVE = "delete it and run again; answers that only it has are asked for again"
GENERATED, ROLLING = "generate_until", "loglikelihood_rolling"
_sorted = json.JSONEncoder(sort_keys=True).encode  # `json.dumps` makes an encoder for each call


def request_key(method: str, args: Any) -> str:
    """Returns the key of a request: a hash of its method and arguments."""
    return hashlib.sha256(_sorted([method, args]).encode()).hexdigest()[:32]


class AnswerFile:
    """Answers by request, appended to a file line by line.

    Args:
        path: the file; None keeps answers in memory only. An incomplete last line is removed.
    """

    def __init__(self, path: Path | None):
        self._answers: dict[str, bytes] = {}  # lines, which are smaller than answers with numbers for each token
        self._path, self._file = path, None
        if path is None:
            return
        content = read_bytes(path, REMOVE) if path.exists() else b""
        *lines, tail = content.split(b"\n")
        self._answers = {entry[0]: line for line in (*lines, tail) if (entry := _entry(line))}
        self._file = path.open("ab")
        if tail and _entry(tail):
            self._file.write(b"\n")
        elif tail:
            self._file.truncate(len(content) - len(tail))
        self._has_name = os.fstat(self._file.fileno()).st_nlink > 0  # some file systems do not count links

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: str, method: str | None = None) -> Any:
        """Returns the stored answer, or None; with a method, only an answer valid for it."""
        entry = _entry(self._answers.get(key, b""))
        return entry[1] if entry and (method is None or is_answer(entry[1], method)) else None

    def recall(self, method: str, arguments: Sequence[Any]) -> Any:
        """Returns the stored answer to a request with its details; None if it is not there."""
        return self.get(request_key(method, arguments), method)

    def details(self) -> list[Details]:
        """Returns the details of all answers that have some, except numbers for each token, which cost nothing."""
        stored = (details_of(self.get(key)) for key in self._answers)
        return [details for details in stored if details and not isinstance(details.get("tokens"), dict)]

    def put(self, key: str, answer: Any) -> None:
        """Stores an answer, which survives a kill of the process.

        Raises:
            UserError: if the file was deleted: writing would still succeed, but nothing would be kept.
        """
        line = json.dumps([key, answer, *([details] if (details := details_of(answer)) else [])]).encode()
        if self._answers.get(key) == line:
            return
        self._answers[key] = line
        if self._file is not None:
            with self._named():
                self._file.write(line + b"\n")
                self._file.flush()
                if self._has_name and not os.fstat(self._file.fileno()).st_nlink:
                    hint = "run the same command again, which keeps finished cells, and do not delete the file"
                    raise UserError(f"{self._path} was deleted during the run", hint)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if self._file is not None:
            with suppress(OSError) if value else self._named():  # do not hide the first error
                self._file.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Adds the file's name to errors."""
        try:
            yield
        except OSError as e:
            e.filename = str(self._path)
            raise


def is_answer(value: Any, method: str) -> bool:
    """Returns whether a stored value is a valid answer.

    Args:
        value: any JSON value.
        method: `generate_until` returns a text, `loglikelihood_rolling` a number, `loglikelihood` a
            number, whether the answer is greedy, and its number of tokens if known; and so does
            `loglikelihood_rolling` with details.
    """
    if method == GENERATED:
        return isinstance(value, str)
    if method == ROLLING and not isinstance(value, Scored):
        return _is_likelihood(value)
    if not (isinstance(value, list | Scored) and len(value) in (2, 3)):
        return False
    counted = len(value) == 2 or value[2] is None or (type(value[2]) is int and value[2] > 0)
    return _is_likelihood(value[0]) and isinstance(value[1], bool) and counted


def _is_likelihood(value: Any) -> bool:
    """Returns whether a value is a log-likelihood; -inf is valid."""
    return type(value) in (float, int) and (value == -math.inf or abs(value) <= sys.float_info.max)


def _entry(line: bytes) -> tuple[str, Any] | None:
    """Returns key and answer; None for a damaged line, whose request is sent again."""
    try:
        key, answer, *details = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return None
    if details and isinstance(answer, str | list) and isinstance(details[0], dict):
        answer = detailed(answer, details[0])
    return (key, answer) if isinstance(key, str) else None
