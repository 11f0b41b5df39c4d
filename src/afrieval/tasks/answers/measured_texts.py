"""Texts whose likelihood is measured, in the place of answers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from afrieval._util.errors import UserError
from afrieval.scoring.base import LIKELIHOODS, Likelihood, Response
from afrieval.scoring.responses import details_of
from afrieval.scoring.tokens import tokens_of
from afrieval.tasks.answers.base import AnswerType, Row, defect_of
from afrieval.tasks.answers.cell_values import parse_list
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.task_file import TaskFile


class MeasuredTexts(AnswerType):
    """Texts with roles, of which none is right."""

    form = LIKELIHOODS
    missing = "an empty or missing text"
    keys = frozenset({"texts"})
    only_form = "text"
    lists = True

    def parse_row(
        self, spec: TaskFile, row: Row, document: Document, text: Callable[[Any], str], where: str
    ) -> Document:
        """Returns a document with its texts as choices, and their roles."""
        pairs = self._roles_and_texts(spec, row, text, where)
        if not pairs:
            return replace(document, defect=self.missing)
        roles, texts = zip(*pairs, strict=True)
        return replace(document, choices=texts, gold=0, defect=defect_of(document.fields, (), None), roles=roles)

    def _roles_and_texts(
        self, spec: TaskFile, row: Row, text: Callable[[Any], str], where: str
    ) -> list[tuple[str, str]]:
        """Returns role and text of all texts, in the order of the task file; empty if one is missing or empty."""
        pairs: list[tuple[str, str]] = []
        for role, column in spec.texts.items():
            cells = [] if row[column] is None or row[column] != row[column] else parse_list(row[column])
            if cells is None or not all(isinstance(cell, str | int | float) or cell is None for cell in cells):
                problem = f"{where}: column {column!r} must be a text or a list of texts, not {row[column]!r:.60}"
                raise UserError(problem, "correct the row")
            texts = [text(cell) for cell in cells]
            if not texts or "" in texts:
                return []
            pairs += [(role, each) for each in texts]
        return pairs

    def of_likelihoods(self, outputs: Sequence[Any], neutral: Sequence[Sequence[float]]) -> Response:
        """Returns the response that the likelihoods of texts and their tokens are."""
        return Response(None, likelihoods=[*map(_with_tokens, outputs)])


def _with_tokens(output: Any) -> Likelihood:
    """Returns the likelihood of a text, which is a number if nothing else was asked for."""
    likelihood = Likelihood(*output) if isinstance(output, tuple | list) else Likelihood(output, False)
    return likelihood._replace(tokens=tokens_of(details_of(output)))
