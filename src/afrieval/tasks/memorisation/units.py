"""The rows of a test set as units: adjacent rows that share a text belong together."""

from collections.abc import Sequence
from itertools import pairwise

from afrieval.tasks.documents import Document
from afrieval.tasks.spec import TaskSpec

Unit = list[Document]
PARAGRAPH = "\n\n"


def units(spec: TaskSpec, documents: Sequence[Document]) -> list[Unit]:
    """Returns rows with a text as units, in order.

    Adjacent rows are of the same unit if they have the same `apart` fields, or the same first field in tasks that
    declare none: three hypotheses on a premise, two questions on a passage. They are not exchangeable with other rows
    one by one, and not independent of one another.

    Args:
        spec: the task.
        documents: rows of one of its splits.
    """
    names = spec.apart or _names(spec)[:1]
    rows = [document for document in documents if question_text(spec, document)]
    found: list[Unit] = [[row] for row in rows[:1]]
    for before, row in pairwise(rows):
        if names and all(row.fields[name] == before.fields[name] != "" for name in names):
            found[-1].append(row)
        else:
            found.append([row])
    return found


def question_text(spec: TaskSpec, document: Document) -> str:
    """Returns the texts of a row without its answer, one per line; the answer if that is all that the row has."""
    return "\n".join(text for name in _names(spec) if (text := document.fields[name])) or answer_text(document)


def unit_text(spec: TaskSpec, unit: Unit) -> str:
    """Returns the texts of all rows of a unit with their right answers; what they share is there once.

    It has no prompt: a model that was trained on a data set has seen its fields, not the prompts of an evaluation.
    """
    shared = [name for name in _names(spec) if unit[1:] and len({row.fields[name] for row in unit}) == 1]
    parts = ["\n".join(filter(None, (unit[0].fields[name] for name in shared)))]
    for row in unit:
        own = [row.fields[name] for name in _names(spec) if name not in shared]
        parts.append("\n".join(filter(None, (*own, answer_text(row)))))
    return PARAGRAPH.join(filter(None, parts))


def answer_text(document: Document) -> str:
    """Returns the right answer of a row as text: a choice, a text or the first of several; empty for other answers."""
    gold = document.gold
    if document.choices and isinstance(gold, int):
        return document.choices[gold]
    first = gold[0] if isinstance(gold, list) and gold else gold
    return str(first) if isinstance(first, str | int) and not isinstance(first, bool) else ""


def _names(spec: TaskSpec) -> list[str]:
    """Returns the names of the fields that are texts, without those by which results are broken down or grouped."""
    grouped = spec.grouped_fields
    broken_down = {*spec.breakdowns, *([spec.macro] if spec.macro else []), *(of.of for of in grouped.values())}
    every = [name for name in spec.fields if name not in grouped]
    return [name for name in every if name not in broken_down] or every
