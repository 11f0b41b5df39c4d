"""Answers that are numbers or texts, or anything that follows instructions; and texts that are measured instead."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from afrieval._util.errors import UserError
from afrieval.languages import ENGLISH
from afrieval.scoring.base import INSTRUCTED, LIKELIHOODS, NUMBER, TEXTS, WEIGHTS, Likelihood, Response
from afrieval.scoring.extract.phrase import last_boxed
from afrieval.scoring.responses import details_of
from afrieval.scoring.tokens import tokens_of
from afrieval.tasks.answers.base import AnswerType, Row, defect_of
from afrieval.tasks.answers.cell_values import normalise, parse_entries, parse_list, whole_number
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.schema import AnswerSpec
from afrieval.tasks.declaration.task_file import TaskFile

EVALUATED = "the evaluated language"  # a key of rows, unless that is English


class Number(AnswerType):
    """A whole number."""

    form = NUMBER
    missing = "no gold answer that is a whole number"
    reasons = announced = True

    def parse(self, cell: Any) -> int | None:
        """Parses a whole number."""
        return whole_number(cell)


class Mathematics(AnswerType):
    """A text in LaTeX: what the last box of a solution has."""

    reasons = announced = True

    def parse(self, cell: Any) -> str | None:
        """Returns what the last box has."""
        return last_boxed(normalise(cell)) or None


class Open(AnswerType):
    """Any text may be right, which only a judge or people can tell."""

    open_ended = True

    def of_text(self, response: Response) -> Response:
        """Returns a response whose answer is a refusal, too, which may be what was wanted."""
        return replace(response, answer=response.text) if response.refused else response


class Texts(AnswerType):
    """Several texts, any of which is right."""

    form = TEXTS
    lists = True

    def parse(self, cell: Any) -> list[str] | None:
        """Returns different texts; None if there are none."""
        return list(dict.fromkeys(parse_entries(cell) or [])) or None

    def shown(self, gold: Any) -> str:
        """Returns the first one."""
        return str(gold[0])


class Entries(AnswerType):
    """A list of texts, all of which have to be named."""

    form = TEXTS
    lists = True

    def parse(self, cell: Any) -> list[str] | None:
        """Returns the texts of a list; None if it cannot be parsed."""
        return parse_entries(cell)

    def shown(self, gold: Any) -> str:
        """Returns the entries with commas between them."""
        return ", ".join(gold)


class WeightedTexts(AnswerType):
    """Several texts that differ in weight."""

    form = WEIGHTS
    keys = frozenset({"weights"})
    lists = True

    def gold(self, spec: TaskFile, row: Row) -> dict[str, float] | None:
        """Returns each right text with its weight as a share of the highest; None if none has any."""
        declared, weights = spec.answer, dict[str, float]()
        if not isinstance(declared, AnswerSpec):
            return None
        for entry in parse_list(self.cell(spec, row)) or ():
            if not isinstance(entry, dict) or not isinstance(weight := entry.get(declared.weight), int | float):
                return None
            for text in (normalise(way) for key in declared.texts for way in parse_list(entry.get(key)) or ()):
                weights[text] = max(weights.get(text, 0.0), float(weight))
        most = max(weights.values(), default=0.0)
        return {text: weight / most for text, weight in weights.items() if text and weight > 0} or None

    def shown(self, gold: Any) -> str:
        """Returns the heaviest text."""
        return str(max(gold, key=gold.get))


class Instructions(AnswerType):
    """Whatever follows instructions, which IFEval's checkers verify."""

    form = INSTRUCTED
    columns = ("key", "instruction_id_list", "kwargs")

    def prepare(self, spec: TaskFile, rows: list[Row], language: str) -> list[Row]:
        """Returns rows with the language that is evaluated, unless that is English."""
        return [{**row, EVALUATED: language} for row in rows] if language not in ("", ENGLISH) else rows

    def cell(self, spec: TaskFile, row: Row) -> dict[str, Any]:
        """Returns the columns that make up an answer, and the language."""
        language = {"language": row[EVALUATED]} if EVALUATED in row else {}
        return {column: row[column] for column in self.columns} | language

    def parse(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the instructions with the arguments of their checkers in one form for every file type."""
        from afrieval.scoring.ifeval.checkers import whole
        from afrieval.scoring.ifeval.instructions import build_checkers

        # Parquet fills up maps with nulls, and makes floats of counts.
        arguments = [
            {k: whole(v) for k, v in sorted((kwargs or {}).items()) if v is not None} for kwargs in cell["kwargs"]
        ]
        instructions = {**cell, "kwargs": arguments}
        build_checkers(instructions)
        return instructions

    def shown(self, gold: Any) -> str:
        """Returns the names of the instructions."""
        return ", ".join(gold["instruction_id_list"])


class MeasuredTexts(AnswerType):
    """Texts with roles, whose likelihood is measured, and of which none is right."""

    form = LIKELIHOODS
    missing = "an empty or missing text"
    keys = frozenset({"texts"})
    only_form = "text"
    lists = True

    def parse_row(
        self, spec: TaskFile, row: Row, document: Document, text: Callable[[Any], str], where: str
    ) -> Document:
        """Returns a document with its texts as choices, and their roles, in the order of the task file."""
        pairs: list[tuple[str, str]] = []
        for role, column in spec.texts.items():
            cells = [] if row[column] is None or row[column] != row[column] else parse_list(row[column])
            if cells is None or not all(isinstance(cell, str | int | float) or cell is None for cell in cells):
                problem = f"{where}: column {column!r} must be a text or a list of texts, not {row[column]!r:.60}"
                raise UserError(problem, "correct the row")
            texts = [text(cell) for cell in cells]
            if not texts or "" in texts:
                return replace(document, defect=self.missing)
            pairs += [(role, each) for each in texts]
        roles, choices = zip(*pairs, strict=True)
        return replace(document, choices=choices, gold=0, defect=defect_of(document.fields, (), None), roles=roles)

    def of_likelihoods(self, outputs: Sequence[Any], neutral: Sequence[Sequence[float]]) -> Response:
        """Returns the response that the likelihoods of texts and their tokens are."""
        likelihoods = []
        for output in outputs:  # it is a number if nothing else was asked for
            likelihood = Likelihood(*output) if isinstance(output, tuple | list) else Likelihood(output, False)
            likelihoods.append(likelihood._replace(tokens=tokens_of(details_of(output))))
        return Response(None, likelihoods=likelihoods)
