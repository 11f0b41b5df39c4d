"""A model of recorded answers: row n of a file has the answer to document n, whatever was asked."""

import hashlib
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes, user_path
from afrieval._util.tables import DEFECT, Row, read_rows
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backend import Backend, check_unsupported
from afrieval.models.base import Capabilities, NamedModel
from afrieval.models.processes import Processes

ONE_CELL = Capabilities(loglikelihood=False, rolling=False, chat=None, count_tokens=False, recorded=True)
CURE = "give the file with the answers to the documents of this task, in their order"
ARGUMENTS = {"file": "the file with the answers", "column": "its column with the answers"}


class Recorded(NamedModel):
    """Answers in the order of a task's rows, as a model."""

    can = ONE_CELL
    max_length = float("inf")

    def __init__(self, path: Path, rows: list[Row], column: str, digest: str):
        self.names = ("recorded", column, digest)
        self._path, self._rows, self._column = path, rows, column

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns the answer to the document of each request."""
        return [self._answer(request.doc.document.id, request.doc.document.fields) for request in requests]

    def set_cache_hook(self, cache_hook: Any) -> None:
        """Takes nothing: all answers are known at once."""

    def _answer(self, number: int, fields: Mapping[str, str]) -> str:
        if number >= len(self._rows):
            raise UserError(f"{self._path} has {len(self._rows)} rows, but document {number} needs one", CURE)
        row, where = self._rows[number], f"{self._path}, row {number} (from 0)"
        if DEFECT in row:
            raise UserError(f"{where} cannot be parsed: {row[DEFECT]}", "correct that row")
        for name, text in fields.items():
            if isinstance(cell := row.get(name), str) and _words(cell) != _words(text):
                problem = f"{where}: column {name!r} is not the {name} of document {number}"
                raise UserError(problem, f"{CURE}; or remove that column if it has something else")
        if not isinstance(answer := row[self._column], str):
            shown = "null" if answer is None else repr(answer)[:60]
            raise UserError(f"{where}: column {self._column!r} must be a text, not {shown}", "correct that row")
        return answer


def _words(text: str) -> list[str]:
    return unicodedata.normalize("NFC", text).split()


class RecordedBackend(Backend):
    """Recorded answers: row n of a file has the answer to document n."""

    per_run = recorded = True
    source = "the answer file"

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> Recorded:
        """Returns the recorded answers that `backend_args.file` and `backend_args.column` name.

        Raises:
            UserError: if the file cannot be parsed, or a row lacks the column.
        """
        column, (path, content, digest) = config.backend_args["column"], _read(config)
        rows = read_rows(path, content)
        if not rows:
            raise UserError(f"{path} has no rows", CURE)
        for number, row in enumerate(rows):
            if column not in row:
                raise UserError(f"{path}, row {number} (from 0) has no column {column!r}", f"it has {', '.join(row)}")
        return Recorded(path, rows, column, digest)

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns the capabilities of recorded answers, which are those of one cell."""
        return ONE_CELL

    def check(self, config: ModelConfig) -> None:
        """Rejects settings that recorded answers do not have, and missing ones."""
        check_unsupported(config)
        for name in config.backend_args:
            if name not in ARGUMENTS:
                hint = f"give {' and '.join(ARGUMENTS)}"
                raise UserError(f"backend_args.{name} is not an argument of the {config.model_type} backend", hint)
        for name, what in ARGUMENTS.items():
            value = config.backend_args.get(name)
            if not isinstance(value, str) or not value.strip():
                problem = "missing" if value is None else f"{value!r}, which is not a text"
                raise UserError(f"model.backend_args.{name}, {what}, is {problem}", f"give --model.backend_args.{name}")

    def identity(self, config: ModelConfig) -> dict[str, Any]:
        """Returns the arguments that identify recorded answers: the content of the file, wherever it is."""
        return {**config.backend_args, "file": _read(config)[2]}


def _read(config: ModelConfig) -> tuple[Path, bytes, str]:
    """Returns the path of the file with the answers, its content and a hash of that."""
    path = user_path(config.backend_args["file"])
    content = read_bytes(path, "name the file with the answers as --model.backend_args.file")
    return path, content, hashlib.sha256(content).hexdigest()[:16]
