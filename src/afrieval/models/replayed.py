"""A stored run's answers in place of its model, for scoring them again."""

from collections.abc import Sequence
from typing import Any

from afrieval.models.answer_file import AnswerFile, request_key
from afrieval.models.base import UnknownTokenizer


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
