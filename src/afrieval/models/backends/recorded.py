"""A model of recorded answers: row n of a file has the answer to document n, whatever was asked."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT, Row, read_rows
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backends.harness import NamedModel
from afrieval.models.base import ONE_CELL
from afrieval.models.processes import Processes
from afrieval.models.recorded_answers import content_of, hash_of

CURE = "give the file with the answers to the documents of this task, in their order"


class Recorded(NamedModel, LM):
    """Answers in the order of a task's rows, as a model of the harness.

    Args:
        path: the file that they are from.
        rows: the file's.
        column: the one with the answers.
        digest: a hash of the file.
    """

    can = ONE_CELL
    max_length = float("inf")

    def __init__(self, path: Path, rows: list[Row], column: str, digest: str):
        super().__init__()
        self.names = ("recorded", column, digest)
        self._path, self._rows, self._column = path, rows, column

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns the answer to the document of each request.

        Raises:
            UserError: if the file has no answer to one of them.
        """
        return [self._answer(request.doc.document.id, request.doc.document.fields) for request in requests]

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Raises an error: answers are texts."""
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Raises an error: answers are texts."""
        raise NotImplementedError

    def _answer(self, number: int, fields: Mapping[str, str]) -> str:
        if number >= len(self._rows):
            raise UserError(f"{self._path} has {len(self._rows)} rows, but document {number} needs one", CURE)
        row, where = self._rows[number], f"{self._path}, row {number} (from 0)"
        if DEFECT in row:
            raise UserError(f"{where} cannot be parsed: {row[DEFECT]}", "correct that row")
        for name, text in fields.items():
            if isinstance(given := row.get(name), str) and _words(given) != _words(text):
                problem = f"{where}: column {name!r} is not the {name} of document {number}"
                raise UserError(problem, f"{CURE}; or remove that column if it has something else")
        if not isinstance(answer := row[self._column], str):
            shown = "null" if answer is None else repr(answer)[:60]
            raise UserError(f"{where}: column {self._column!r} must be a text, not {shown}", "correct that row")
        return answer


def _words(text: str) -> list[str]:
    return unicodedata.normalize("NFC", text).split()


def load_recorded(config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> Recorded:
    """Returns the recorded answers that `backend_args.file` and `backend_args.column` name.

    Raises:
        UserError: if the file cannot be parsed, or a row lacks the column.
    """
    column, (path, content) = config.backend_args["column"], content_of(config)
    rows = read_rows(path, content)
    if not rows:
        raise UserError(f"{path} has no rows", CURE)
    for number, row in enumerate(rows):
        if column not in row:
            raise UserError(f"{path}, row {number} (from 0) has no column {column!r}", f"it has {', '.join(row)}")
    return Recorded(path, rows, column, hash_of(config))
