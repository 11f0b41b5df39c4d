"""Answers that are numbers or texts, or anything that follows instructions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from afrieval.languages import ENGLISH
from afrieval.scoring.base import INSTRUCTED, NUMBER, TEXTS, WEIGHTS, Response
from afrieval.scoring.extract.phrase import last_boxed
from afrieval.tasks.answers.base import AnswerType, Row
from afrieval.tasks.answers.cell_values import normalise, parse_entries, parse_list, whole_number
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


class Weighted(NamedTuple):
    """Right answers of which some weigh more, such as those that more people gave.

    Attributes:
        entries: a list of maps.
        texts: the keys in a map that have an answer, or a list of ways to write it.
        weight: the key that has its weight.
    """

    entries: Any
    texts: Sequence[str]
    weight: str


class WeightedTexts(AnswerType):
    """Several texts that differ in weight."""

    form = WEIGHTS
    keys = frozenset({"weights"})
    lists = True

    def cell(self, spec: TaskFile, row: Row) -> Weighted | Any:
        """Returns the maps of a row with the keys that have texts and weights."""
        entries = super().cell(spec, row)
        declared = spec.answer
        weighs = isinstance(declared, AnswerSpec) and declared.weight
        return Weighted(entries, declared.texts, declared.weight) if weighs else entries  # type: ignore[union-attr, arg-type]

    def parse(self, cell: Any) -> dict[str, float] | None:
        """Returns each right text with its weight as a share of the highest; None if none has any."""
        weights: dict[str, float] = {}
        for entry in parse_list(cell.entries) or ():
            if not isinstance(entry, dict) or not isinstance(weight := entry.get(cell.weight), int | float):
                return None
            for text in (normalise(way) for key in cell.texts for way in parse_list(entry.get(key)) or ()):
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
