"""What an answer type is. Each type is a class, which says what is special about its answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from afrieval._util.errors import UserError
from afrieval.scoring.base import TEXT, Likelihood, Response
from afrieval.scoring.responses import of_likelihoods
from afrieval.tasks.answers.cell_values import label_text, normalise, parse_list
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.schema import AnswerSpec
from afrieval.tasks.declaration.task_file import TaskFile

Row = dict[str, Any]
CURE = "correct that key; the documentation page 'Add a task' describes all keys"
UNANSWERED = "its list of right answers is empty"  # as where nobody who was asked had one


def require(condition: object, message: str) -> None:
    """Refuses a task file, which does not meet a condition, with a message."""
    if not condition:
        raise UserError(message, CURE)


class AnswerType:
    """A type of right answers: generated texts, unless a class says something else.

    Attributes:
        form: the form of its right answers, by which metrics say what they apply to.
        missing: the defect of a row without a right answer.
        keys: those of `choices`, `labels`, `tags`, `texts` and `weights` that a task file may have.
        only_form: the only answer form; empty if there are several.
        columns: the columns that make up the answer, if not the task file's `answer`.
        further_columns: columns that it needs besides.
        lists: whether a cell may hold a list.
        has_choices: whether an answer is one of the choices.
        reasons: whether models reason before they answer, even without being asked.
        announced: whether words such as "The answer is" show where a text has the answer.
        open_ended: whether any text may be right, which only a judge or people can tell.
    """

    form: ClassVar[str] = TEXT
    missing: ClassVar[str] = "no gold answer"
    keys: ClassVar[frozenset[str]] = frozenset()
    only_form: ClassVar[str] = "generate"
    columns: ClassVar[tuple[str, ...]] = ()
    further_columns: ClassVar[tuple[str, ...]] = ()
    lists: ClassVar[bool] = False
    has_choices: ClassVar[bool] = False
    reasons: ClassVar[bool] = False
    announced: ClassVar[bool] = False
    open_ended: ClassVar[bool] = False

    def check(self, spec: TaskFile) -> None:
        """Refuses a task file whose keys do not suit the type."""
        declared = spec.answer if isinstance(spec.answer, AnswerSpec) else AnswerSpec("")
        require(
            ("weights" in self.keys) == bool(declared.texts) == bool(declared.weight),
            "answer.texts and answer.weight must be given for type weighted, and only there",
        )
        require(
            ("tags" in self.keys) == bool(spec.tags),
            "tags must be given where answers are spans or tags, and only there",
        )
        unsupported = (spec.choices and "choices" not in self.keys) or (spec.labels and "labels" not in self.keys)
        require(not unsupported, "choices and labels are not supported for this kind")
        form = self.only_form
        require(not form or spec.answer_forms == [form], f"the only answer form of this kind is {form}")

    def names(self, spec: TaskFile) -> Sequence[str]:
        """Returns the types of spans, or the tags, that answers consist of."""
        return spec.tags

    def prepare(self, spec: TaskFile, rows: list[Row], language: str) -> list[Row]:
        """Returns rows with what their answers need, besides the columns of the file, in a language."""
        return rows

    def cell(self, spec: TaskFile, row: Row) -> Any:
        """Returns what a row has as its right answer: the value of the first answer column that is not empty."""
        cells = [row[column] for column in spec.answer_columns if column in row]
        return next((cell for cell in cells if cell != [] and normalise(cell)), cells[0])

    def parse(self, cell: Any) -> Any:
        """Converts what a row has to the right answer; None if it has none."""
        return normalise(cell) or None

    def gold(self, spec: TaskFile, row: Row) -> Any:
        """Returns the right answer of a row; None if it has none."""
        return self.parse(self.cell(spec, row))

    def parse_row(
        self, spec: TaskFile, row: Row, document: Document, text: Callable[[Any], str], where: str
    ) -> Document:
        """Returns a document with its right answer, choices and defect.

        Args:
            spec: the task.
            row: a row of its data.
            document: the row's number and fields.
            text: returns the text of a cell, normalised if the task wants that.
            where: the row, for messages.

        Raises:
            UserError: if a cell has not the form that the task file says.
        """
        gold = self.gold(spec, row)
        if spec.judge and not spec.judge.is_scale and gold not in spec.judge.levels:
            gold = None
        return self.answered(spec, row, document, (), gold)

    def answered(
        self, spec: TaskFile, row: Row, document: Document, choices: tuple[str, ...], gold: Any | None
    ) -> Document:
        """Returns a document with choices, a right answer and the defect that follows from them."""
        if gold is None:
            cells = [row[column] for column in spec.answer_columns if column in row]
            defect = UNANSWERED if cells and all(parse_list(cell) == [] for cell in cells) else self.missing
        else:
            defect = defect_of(document.fields, choices, gold)
        gold = None if "" in map(label_text, choices) else gold
        return replace(document, choices=choices, gold=gold, defect=defect)

    def shown(self, gold: Any) -> str:
        """Returns the text of a right answer, as an example shows it."""
        return str(gold)

    def example(self, document: Document, names: Sequence[str], labels: Mapping[str, str]) -> str:
        """Returns the answer that an example shows.

        Args:
            document: has a right answer.
            names: what is asked for of each choice; empty if there are no choices.
            labels: label name to the word that stands for it.
        """
        return names[int(document.gold or 0)] if document.choices else self.shown(document.gold)

    def of_likelihoods(self, outputs: Sequence[Any], neutral: Sequence[Sequence[float]]) -> Response:
        """Returns the response that the likelihoods of choices are, also those after neutral prompts."""
        return of_likelihoods([Likelihood(*output) for output in outputs], neutral)

    def of_text(self, response: Response) -> Response:
        """Returns the response that a generated text is, in which the extractor has looked for the answer."""
        return response


def defect_of(texts: Mapping[str, str], choices: Sequence[str], gold: Any) -> str:
    """Returns the defect of a row that has a right answer; empty if there is none."""
    shown = [*map(label_text, choices)]
    if "" in shown:
        return "an empty choice"
    if choices and isinstance(gold, int) and shown.count(shown[gold]) > 1:
        return "another choice has the gold answer's text"
    empty = [name for name, text in texts.items() if not text]
    return f"empty {', '.join(empty)}" if empty else ""
