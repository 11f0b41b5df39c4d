"""Answer types, and fields whose values are groups of another field's: how a row becomes a right answer."""

import ast
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util.errors import UserError, nearest
from afrieval.scoring.base import (
    CHOICE,
    INSTRUCTED,
    LEVELS,
    LIKELIHOODS,
    NUMBER,
    SPANS,
    TEXT,
    TEXTS,
    WEIGHTS,
)
from afrieval.scoring.extract.number import parse_number
from afrieval.scoring.extract.phrase import last_boxed
from afrieval.scoring.tagging import NONE, Pair, spans, spans_shown, tags_shown
from afrieval.scoring.texts import visible
from afrieval.tasks.declaration.schema import GroupedField

TOKENS, RATINGS = "tokens", "ratings"  # the columns of tokens, and of label to cell
UNTAGGED = "no known tag for each token"
BETWEEN_SPANS = " $$ "  # in the text of spans that XTREME-UP and mT5 write, as in `TIME: noon $$ DATE: today`
UNRATED = "no number for each label"
CURE = "correct fields; the documentation page 'Add a task' describes groups of values"


@dataclass(frozen=True)
class AnswerType:
    """A type of right answers.

    Attributes:
        form: the form of its right answers, by which metrics say what they apply to.
        parse: converts the answer column's value to the right answer; None if it has none. Not used
            for choices, whose index depends on the row's other columns.
        shown: converts the right answer to its text in a worked example; of numbers for labels, with the labels' words.
        missing: the defect of a row without a right answer.
        is_choice: whether the answer is the index of a choice.
        is_class: whether the choices are the task's labels.
        is_list: whether a cell may hold a list.
        is_named: whether the task file's `tags` name the tags, or the types of spans.
        is_tagged: whether it is made from a list of tokens and one of tags.
        is_weighted: whether it is several texts that differ in weight.
        is_rated: whether it is a number for each of the task's labels.
        is_worked_out: whether models reason before they answer, even without being asked.
        is_measured: whether rows have no answer, but texts whose likelihood is measured.
        is_open: whether any text may be right, which only a judge or people can tell.
        columns: the columns that make up the answer, if not the task file's `answer`.
    """

    form: str
    parse: Callable[[Any], Any] = lambda value: normalise(value) or None
    shown: Callable[[Any], str] = str
    missing: str = "no gold answer"
    is_choice: bool = False
    is_class: bool = False
    is_list: bool = False
    is_named: bool = False
    is_tagged: bool = False
    is_weighted: bool = False
    is_rated: bool = False
    is_worked_out: bool = False
    is_measured: bool = False
    is_open: bool = False
    columns: tuple[str, ...] = ()


def normalise(value: Any) -> str:
    """Returns a cell's text in NFC, stripped of leading and trailing whitespace."""
    missing = value is None or value != value  # a missing number is NaN in some files
    return unicodedata.normalize("NFC", "" if missing else str(value)).strip()


def label_text(value: Any) -> str:
    """Returns a cell's text as labels and tokens are compared: normalised, without invisible characters."""
    return visible(normalise(value)).strip()


def _whole_number(value: Any) -> int | None:
    number = parse_number(normalise(value))
    return int(number) if number is not None and number == int(number) else None


def parse_list(value: Any) -> list[Any] | None:
    """Parses a list, or the text of a Python list; a single value is a list of one."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = ast.literal_eval(value.strip())
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            return None
    return list(value) if isinstance(value, list | tuple) else [value]


def _entries(value: Any) -> list[str] | None:
    entries = parse_list(value)
    texts = None if entries is None else [normalise(entry) for entry in entries]
    return None if texts is None or "" in texts else texts


def _texts(value: Any) -> list[str] | None:
    return list(dict.fromkeys(_entries(value) or [])) or None


class Tagged(NamedTuple):
    """A sentence whose tokens have tags, or one with a text of its spans.

    Attributes:
        tokens: its tokens; None if spans are given as a text.
        tags: as the data have them: names, or numbers that count from 0; or the text of its spans.
        names: of all tags, in the order of the data's numbers; or of the types of spans.
    """

    tokens: Any
    tags: Any
    names: Sequence[str]

    def __repr__(self) -> str:
        return repr(self.tags)  # what the answer's column has, for messages


def _pairs(tagged: Tagged) -> list[Pair] | None:
    """Returns each token with the name of its tag; None if they do not match, or a token is empty."""
    tokens, tags = parse_list(tagged.tokens), parse_list(tagged.tags)
    if not tokens or tags is None or len(tokens) != len(tags):
        return None
    texts = [" ".join((label_text(token) or normalise(token)).split()) for token in tokens]
    names = {**{str(at): name for at, name in enumerate(tagged.names)}, **{name: name for name in tagged.names}}
    tag_names = [names.get(normalise(tag).removesuffix(".0"), "") for tag in tags]
    return [[*pair] for pair in zip(texts, tag_names, strict=True)] if all(texts) and all(tag_names) else None


def _spans(tagged: Tagged) -> list[Pair] | None:
    pairs = _pairs(tagged)
    return None if pairs is None else spans(*zip(*pairs, strict=True))


def _listed_spans(tagged: Tagged) -> list[Pair] | None:
    """Returns the spans of a text such as `TIME: noon $$ DATE: today`; an empty text has none."""
    if not isinstance(tagged.tags, str):
        return None
    entries = [entry.partition(":") for entry in label_text(tagged.tags).split(BETWEEN_SPANS) if entry]
    pairs = [[kind.strip(), " ".join(text.split())] for kind, _, text in entries]
    return pairs if all(kind in tagged.names and text for kind, text in pairs) else None


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


def _weights(weighted: Weighted) -> dict[str, float] | None:
    """Returns each right text with its weight as a share of the highest; None if none has any."""
    weights: dict[str, float] = {}
    for entry in parse_list(weighted.entries) or ():
        if not isinstance(entry, dict) or not isinstance(weight := entry.get(weighted.weight), int | float):
            return None
        for text in (normalise(way) for key in weighted.texts for way in parse_list(entry.get(key)) or ()):
            weights[text] = max(weights.get(text, 0.0), float(weight))
    most = max(weights.values(), default=0.0)
    return {text: weight / most for text, weight in weights.items() if text and weight > 0} or None


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
        label: c for label, c in zip(labels, columns, strict=True) if any(normalise(row.get(c)) for row in rows)
    }
    return [{label: row.get(column) for label, column in column_of.items()} for row in rows]


def _levels(cells: dict[str, Any], highest: float = inf) -> dict[str, int] | None:
    parsed = {label: _whole_number(cell) for label, cell in cells.items()}
    numbers = {label: number for label, number in parsed.items() if number is not None and 0 <= number <= highest}
    return numbers if numbers and len(numbers) == len(parsed) else None


def _instructions(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the row with the arguments of IFEval's checkers in the same form for every file type."""
    from afrieval.scoring.ifeval.checkers import whole
    from afrieval.scoring.ifeval.instructions import build_checkers

    # Parquet fills up maps with nulls, and makes floats of counts.
    arguments = [{k: whole(v) for k, v in sorted((kwargs or {}).items()) if v is not None} for kwargs in row["kwargs"]]
    instructions = {**row, "kwargs": arguments}
    build_checkers(instructions)
    return instructions


ANSWERS = {
    "index": AnswerType(CHOICE, missing="no gold answer among the choices", is_choice=True),
    "label": AnswerType(CHOICE, missing="no gold answer among the choices", is_choice=True, is_class=True),
    "number": AnswerType(NUMBER, _whole_number, missing="no gold answer that is a whole number", is_worked_out=True),
    "text": AnswerType(TEXT),
    "open": AnswerType(TEXT, is_open=True),
    "texts": AnswerType(TEXTS, _texts, shown=lambda gold: str(gold[0]), is_list=True),
    "entries": AnswerType(TEXTS, _entries, shown=", ".join, is_list=True),
    "spans": AnswerType(SPANS, _spans, spans_shown, missing=UNTAGGED, is_list=True, is_named=True, is_tagged=True),
    "listed_spans": AnswerType(SPANS, _listed_spans, spans_shown, missing="no spans of known types", is_named=True),
    "tags": AnswerType(SPANS, _pairs, tags_shown, missing=UNTAGGED, is_list=True, is_named=True, is_tagged=True),
    "weighted": AnswerType(WEIGHTS, _weights, lambda gold: max(gold, key=gold.get), is_list=True, is_weighted=True),
    "labels": AnswerType(
        LEVELS,
        lambda cells: _levels(cells, 1),
        lambda gold: ", ".join(word for word, applies in gold.items() if applies),
        missing=UNRATED,
        is_list=True,
        is_rated=True,
    ),
    "levels": AnswerType(
        LEVELS,
        _levels,
        lambda gold: ", ".join(f"{word}: {number}" for word, number in gold.items()),
        missing=UNRATED,
        is_list=True,
        is_rated=True,
    ),
    "likelihoods": AnswerType(LIKELIHOODS, missing="an empty or missing text", is_list=True, is_measured=True),
    "mathematics": AnswerType(TEXT, lambda value: last_boxed(normalise(value)) or None, is_worked_out=True),
    "instructions": AnswerType(
        INSTRUCTED,
        _instructions,
        shown=lambda gold: ", ".join(gold["instruction_id_list"]),
        columns=("key", "instruction_id_list", "kwargs"),
    ),
}


def with_groups(fields: Mapping[str, Any], texts: dict[str, str], where: str) -> dict[str, str]:
    """Returns the fields of a row with its groups, in the order of the task file.

    Args:
        fields: of the task, as in its file.
        texts: the other fields of the row; one without text is in no group, and the group's name is empty too.
        where: the row, for messages.

    Raises:
        UserError: if a value is in no group.
    """
    if not any(isinstance(of, GroupedField) for of in fields.values()):
        return texts
    completed: dict[str, str] = {}
    for name, field in fields.items():
        if not isinstance(field, GroupedField):
            completed[name] = texts[name]
            continue
        value = completed[field.of]
        if value and value not in field.group_of:
            raise UserError(
                f"{where}: {field.of} {value!r} is in no group of {name}",
                f"correct the row, or add the value to fields.{name}.groups in the task file",
            )
        completed[name] = field.group_of[value] if value else ""
    return completed


def with_groups_of(
    kin: Mapping[str, GroupedField], others: Mapping[str, Any], fields: dict[str, Any]
) -> dict[str, Any]:
    """Returns the fields of a task that is like another, with the other's groups of fields that it has too."""
    merged = dict(fields)
    for name, field in kin.items():
        if field.of in merged:
            merged.setdefault(name, others[name])
    return merged


def check_grouped_fields(fields: Mapping[str, Any], path: Path) -> None:
    """Rejects groups of a field that is not declared before them, and values in two groups or of no group."""
    before: dict[str, Any] = {}
    for name, field in fields.items():
        if isinstance(field, GroupedField):
            if field.of not in before:
                hint = f"name a field that stands before {name}: {', '.join(before) or 'none does'}"
                raise UserError(f"{path}: fields.{name} is of {field.of!r}, which is not declared before it", hint)
            _check_groups(name, field, before[field.of], path)
        before[name] = field


def _check_groups(name: str, field: GroupedField, below: Any, path: Path) -> None:
    values = [value for group in field.groups.values() for value in group]
    if twice := [value for value in values if values.count(value) > 1]:
        raise UserError(f"{path}: fields.{name} has {twice[0]!r} twice", "leave it in one group")
    if not isinstance(below, GroupedField):
        return
    if unknown := [value for value in values if value not in below.groups]:
        raise UserError(
            f"{path}: fields.{name} has {unknown[0]!r}, which {field.of} does not have",
            nearest(unknown[0], list(below.groups)),
        )
    if missing := [value for value in below.groups if value not in values]:
        raise UserError(f"{path}: fields.{name} has no group for {missing[0]!r} of {field.of}", CURE)
