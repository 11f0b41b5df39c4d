"""Models made of stored answers: of recorded ones in a file, and of a stored run."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes, user_path
from afrieval.config.settings import ModelConfig
from afrieval.models.answer_file import AnswerFile, request_key
from afrieval.models.base import UnknownTokenizer
from afrieval.models.capabilities import check_unsupported

ARGUMENTS = {"file": "the file with the answers", "column": "its column with the answers"}


def hash_of(config: ModelConfig) -> str:
    """Returns a hash of the file with the answers; errors are those of `read_bytes`."""
    return hashlib.sha256(content_of(config)[1]).hexdigest()[:16]


def recorded_identity(config: ModelConfig) -> dict[str, Any]:
    """Returns the arguments that identify recorded answers: the content of the file, wherever it is."""
    return {**config.backend_args, "file": hash_of(config)}


def content_of(config: ModelConfig) -> tuple[Path, bytes]:
    """Returns the path and the bytes of the file with the answers; errors are those of `read_bytes`."""
    path = user_path(config.backend_args["file"])
    return path, read_bytes(path, "name the file with the answers as --model.backend_args.file")


def check_recorded(config: ModelConfig) -> None:
    """Rejects settings that recorded answers do not have, and missing ones.

    Raises:
        UserError: for the first.
    """
    check_unsupported(config)
    for name in config.backend_args:
        if name not in ARGUMENTS:
            hint = f"give {' and '.join(ARGUMENTS)}"
            raise UserError(f"backend_args.{name} is not an argument of the {config.model_type} backend", hint)
    for name, what in ARGUMENTS.items():
        value = config.backend_args.get(name)
        if not isinstance(value, str) or not value.strip():
            problem = "missing" if value is None else f"{value!r}, which is no text"
            raise UserError(f"model.backend_args.{name}, {what}, is {problem}", f"give --model.backend_args.{name}")


class Replayed(UnknownTokenizer):
    """Recalls what sample files do not have: the likelihoods of single tokens.

    Args:
        answers: the run's file of answers.
    """

    def __init__(self, answers: AnswerFile):
        self._answers = answers

    @property
    def is_empty(self) -> bool:
        """Whether it recalls nothing."""
        return not len(self._answers)

    def recall(self, method: str, arguments: Sequence[Any]) -> Any:
        """Returns the stored answer to a request with its details; None if it is not there.

        Args:
            method: the type of the request, as the harness names it.
            arguments: the request's.
        """
        return self._answers.get(request_key(method, arguments), method)
