"""Answers that are several labels of a text: a number for each, or those of its tokens and spans."""

import re
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, ClassVar

from afrieval._util.errors import UserError
from afrieval.scoring.base import LEVELS, SPANS
from afrieval.scoring.tagging import NONE, Pair, spans, spans_shown, tags_shown, types
from afrieval.tasks.answers.base import AnswerType, Row, require
from afrieval.tasks.answers.cell_values import label_text, normalise, parse_list, whole_number
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.schema import column_names
from afrieval.tasks.declaration.task_file import TaskFile

RATINGS = "ratings"  # the column of label to cell


class Levels(AnswerType):
    """How strongly each label applies."""

    form = LEVELS
    missing = "no number for each label"
    keys = frozenset({"labels"})
    lists = True
    highest: ClassVar[float] = inf

    def check(self, spec: TaskFile) -> None:
        """Refuses a task without labels, or with another number of columns."""
        require(spec.labels, "a task of this kind needs labels")
        labels = [label for label in spec.labels if label != NONE]
        require(
            len([*column_names(spec.answer)]) in (1, len(labels)),
            "answer must be a column per label except none, or a single one",
        )
        super().check(spec)

    def prepare(self, spec: TaskFile, rows: list[Row], language: str) -> list[Row]:
        """Returns rows with a map of label to cell."""
        by_label = ratings(spec.labels, spec.answer_columns, rows)
        return [{**row, RATINGS: cells} for row, cells in zip(rows, by_label, strict=True)]

    def cell(self, spec: TaskFile, row: Row) -> dict[str, Any]:
        """Returns label to cell."""
        cells: dict[str, Any] = row[RATINGS]
        return cells

    def parse(self, cell: Mapping[str, Any]) -> dict[str, int] | None:
        """Returns label to number; None if one is missing or too high."""
        numbers = {label: whole_number(entry) for label, entry in cell.items()}
        levels = {label: n for label, n in numbers.items() if n is not None and 0 <= n <= self.highest}
        return levels if levels and len(levels) == len(numbers) else None

    def parse_row(
        self, spec: TaskFile, row: Row, document: Document, text: Callable[[Any], str], where: str
    ) -> Document:
        """Returns a document with the numbers of its labels; the labels that its language has are its choices."""
        choices = tuple(label for label in spec.labels if label in row[RATINGS] or label == NONE)
        return self.answered(spec, row, document, choices, self.gold(spec, row))

    def shown(self, gold: Any) -> str:
        """Returns each label with its number."""
        return ", ".join(f"{word}: {number}" for word, number in gold.items())

    def example(self, document: Document, names: Sequence[str], labels: Mapping[str, str]) -> str:
        """Returns the words of the labels with their numbers, or the word for none."""
        return self.shown({labels[label]: n for label, n in dict(document.gold or {}).items()}) or labels[NONE]


class LabelSet(Levels):
    """Which labels apply, any number of them."""

    highest = 1

    def check(self, spec: TaskFile) -> None:
        """Refuses a task that has no word for no label."""
        require(not spec.labels or spec.labels[-1] == NONE, "labels must end with `none`, the word for no label")
        super().check(spec)

    def shown(self, gold: Any) -> str:
        """Returns the labels that apply."""
        return ", ".join(word for word, applies in gold.items() if applies)


def ratings(labels: Sequence[str], columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns label to cell for each row, without labels that no row has a cell for.

    Args:
        labels: the task's; `none` has no cells.
        columns: one for each label; or a single one, whose cells are lists of the labels that apply.
        rows: of a split in a language.
    """
    labels = [label for label in labels if label != NONE]
    if len(columns) == 1 < len(labels):
        listed = [parse_list(row[columns[0]]) or [] for row in rows]
        return [{label: int(label in map(label_text, names)) for label in labels} for names in listed]
    column_of = {
        label: column
        for label, column in zip(labels, columns, strict=True)
        if any(normalise(row.get(column)) for row in rows)
    }
    return [{label: row.get(column) for label, column in column_of.items()} for row in rows]


TOKENS = "tokens"  # the column of tokens
BETWEEN_SPANS = " $$ "  # in the text of spans that XTREME-UP and mT5 write, as in `TIME: noon $$ DATE: today`


class Tags(AnswerType):
    """Each token of a sentence with its tag."""

    form = SPANS
    missing = "no known tag for each token"
    keys = frozenset({"tags"})
    further_columns: ClassVar[tuple[str, ...]] = (TOKENS,)
    lists = True

    def prepare(self, spec: TaskFile, rows: list[Row], language: str) -> list[Row]:
        """Returns rows whose tokens are lists."""
        return [{**row, TOKENS: parse_list(row[TOKENS])} for row in rows]

    def gold(self, spec: TaskFile, row: Row) -> list[Pair] | None:
        """Returns each token with the name of its tag; None if they do not match, or a token is empty."""
        tokens, tags = parse_list(row[TOKENS]), parse_list(self.cell(spec, row))
        if not tokens or tags is None or len(tokens) != len(tags):
            return None
        texts = [" ".join((label_text(token) or normalise(token)).split()) for token in tokens]
        names = {**{str(n): name for n, name in enumerate(spec.tags)}, **{name: name for name in spec.tags}}
        tag_names = [names.get(normalise(tag).removesuffix(".0"), "") for tag in tags]
        return [[*pair] for pair in zip(texts, tag_names, strict=True)] if all(texts) and all(tag_names) else None

    def shown(self, gold: Any) -> str:
        """Returns each token with its tag."""
        return tags_shown(gold)


class Spans(Tags):
    """The spans that tags such as B-PER and I-PER mark."""

    def names(self, spec: TaskFile) -> Sequence[str]:
        """Returns the types of spans; refuses tags of another form."""
        if odd := [tag for tag in spec.tags if not re.fullmatch("O|[BI]-.+", tag)]:
            raise UserError(f"tags has {odd[0]!r}, but must have O, B-TYPE and I-TYPE", "correct it")
        return types(spec.tags)

    def gold(self, spec: TaskFile, row: Row) -> list[Pair] | None:
        """Returns the spans of a sentence."""
        pairs = super().gold(spec, row)
        return None if pairs is None else spans(*zip(*pairs, strict=True))

    def shown(self, gold: Any) -> str:
        """Returns the spans with their types."""
        return spans_shown(gold)


class ListedSpans(Tags):
    """The spans that a text lists, such as `TIME: noon $$ DATE: today`."""

    missing = "no spans of known types"
    further_columns = ()
    lists = False

    def prepare(self, spec: TaskFile, rows: list[Row], language: str) -> list[Row]:
        """Returns rows as they are, since there are no tokens."""
        return rows

    def gold(self, spec: TaskFile, row: Row) -> list[Pair] | None:
        """Returns the spans of a text; an empty text has none."""
        if not isinstance(cell := self.cell(spec, row), str):
            return None
        entries = [entry.partition(":") for entry in label_text(cell).split(BETWEEN_SPANS) if entry]
        pairs = [[kind.strip(), " ".join(text.split())] for kind, _, text in entries]
        return pairs if all(kind in spec.tags and text for kind, text in pairs) else None

    def shown(self, gold: Any) -> str:
        """Returns the spans with their types."""
        return spans_shown(gold)
