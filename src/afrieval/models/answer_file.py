"""The file of a model's answers: what was put into it survives a kill, and nothing else is ever taken for an answer."""

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from afrieval.errors import UserError

GENERATED, ROLLING = "generate_until", "loglikelihood_rolling"


class AnswerFile:
    """Answers by request, appended to a file line by line.

    Args:
        path: the file; None keeps answers in memory only. What a kill or a power cut left behind its last whole line is
            cut off.
    """

    def __init__(self, path: Path | None):
        self._answers: dict[str, Any] = {}
        self._path, self._file = path, None
        if path is None:
            return
        content = path.read_bytes() if path.exists() else b""
        *lines, tail = content.split(b"\n")
        self._answers = dict(entry for line in (*lines, tail) if (entry := _entry(line)))
        self._file = path.open("ab")
        if tail and _entry(tail):
            self._file.write(b"\n")
        elif tail:
            self._file.truncate(len(content) - len(tail))
        self._has_name = os.fstat(self._file.fileno()).st_nlink > 0  # some file systems do not count

    def get(self, key: str, method: str | None = None) -> Any:
        """Returns the stored answer, or None; with a method of the harness' models, only one that it may give."""
        answer = self._answers.get(key)
        return answer if method is None or is_answer(answer, method) else None

    def put(self, key: str, answer: Any) -> None:
        """Stores an answer; what was put survives a kill of the process.

        Raises:
            UserError: if the file was removed; writing to it would still succeed, and all would be lost.
        """
        line = json.dumps([key, answer])
        if key in self._answers and json.dumps([key, self._answers[key]]) == line:
            return
        self._answers[key] = list(answer) if isinstance(answer, tuple) else answer
        if self._file is not None:
            with self._named():
                self._file.write(line.encode() + b"\n")
                self._file.flush()
                if self._has_name and not os.fstat(self._file.fileno()).st_nlink:
                    raise UserError(
                        f"{self._path} was removed during the run, and the answers in it",
                        "leave it there; the same command goes on, and cells that are done are kept",
                    )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if self._file is not None:
            with suppress(OSError) if value else self._named():  # it would hide what went wrong
                self._file.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Names the file in errors, which they do not do of themselves."""
        try:
            yield
        except OSError as e:
            e.filename = str(self._path)
            raise


def is_answer(value: Any, method: str) -> bool:
    """Tells whether a stored value is what a model may answer.

    Args:
        value: anything that JSON can say.
        method: of the harness' models: `generate_until` answers with a text, `loglikelihood_rolling` with a number, and
            `loglikelihood` with a number, whether the answer is greedy, and how many tokens it has if the backend says.
    """
    if method == GENERATED:
        return isinstance(value, str)
    if method == ROLLING:
        return _is_likelihood(value)
    if not (isinstance(value, list) and len(value) in (2, 3)):
        return False
    counted = len(value) == 2 or value[2] is None or (type(value[2]) is int and value[2] > 0)
    return _is_likelihood(value[0]) and isinstance(value[1], bool) and counted


def _is_likelihood(value: Any) -> bool:
    """Tells a log-likelihood, which may be of something impossible, from other values."""
    return type(value) in (float, int) and not math.isnan(value) and value < math.inf


def _entry(line: bytes) -> tuple[str, Any] | None:
    """Returns key and answer; None for a line that was cut short or damaged: its request is asked again."""
    try:
        key, answer = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return None
    return (key, answer) if isinstance(key, str) else None
