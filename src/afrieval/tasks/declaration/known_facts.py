"""What a task's folder says besides its declaration: scores that others published, and known defects of its data."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge, Le

from afrieval._util.errors import UserError, nearest
from afrieval._util.schema import AT_LEAST_ONE, CLOSED, Positive
from afrieval._util.yaml_files import read_as
from afrieval.tasks.answers.cell_values import normalise
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names

FILE = "published.yaml"
Percent = Annotated[float | int, Ge(0), Le(100)]


@dataclass(frozen=True)
class PublishedScores:
    """A model's published scores, in percent.

    Attributes:
        shots: number of examples.
        setting: how they were measured, in words.
        source: who published them.
        micro: the score over all questions.
        groups: field to value to score.
        models: the model's repositories on the hub, if known.
        answer_form: the suite's form of answer that is most like theirs.
        prompt: number of the suite's prompt that is theirs, if there is one.
        extract: options of the extractor that measure in the same way, if the task's own do not.
        n: number of questions, if known.
        doubt: why they should not be relied on. They are then shown only if they are asked for.
    """

    __pydantic_config__ = CLOSED

    shots: Annotated[int, Ge(0)]
    setting: str
    source: str
    micro: Percent | None = None
    groups: dict[str, dict[str, Percent]] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    answer_form: str | None = None
    prompt: Positive | None = None
    extract: dict[str, bool] = field(default_factory=dict)
    n: Positive | None = None
    doubt: str | None = None

    def score(self, path: dict[str, str]) -> float | None:
        """Returns the score of a group, 0 to 1; None if it is not published.

        Args:
            path: field to value; the last names the group. Empty for all questions.
        """
        percent = self.micro
        for name, value in path.items():
            percent = self.groups.get(name, {}).get(value)
        return None if percent is None else round(percent / 100, 6)


@dataclass(frozen=True)
class PublishedFile:
    """The content of `published.yaml`: name to scores."""

    __pydantic_config__ = CLOSED

    published: dict[str, PublishedScores]


@cache
def published_scores(task: str) -> dict[str, PublishedScores]:
    """Returns the published scores of a task by name, none if it has no file; tasks of other folders have none.

    Raises:
        UserError: if the file is invalid, or names a field or value that the task does not have.
    """
    if task not in task_names():
        return {}
    spec = load_task(task)
    path = spec.folder / FILE
    if not path.is_file():
        return {}
    published, grouped = read_as(PublishedFile, path).published, spec.grouped_fields
    for name, scores in published.items():
        for field_name, values in scores.groups.items():
            in_groups = next((list(field.group_of) for field in grouped.values() if field.of == field_name), [])
            allowed = list(grouped[field_name].groups) if field_name in grouped else in_groups
            if field_name in spec.fields and not allowed:
                continue  # only the data has its values
            if unknown := [value for value in values if value not in allowed]:
                raise UserError(
                    f"{path}: published.{name} has {field_name} {unknown[0]!r}", nearest(unknown[0], allowed)
                )
    return published


@cache
def published_metric(task: str) -> str:
    """Returns the metric of a task's published scores."""
    spec = load_task(task.removesuffix("_translate"))
    return (spec.paper and spec.paper.metric) or spec.scoring.metrics[0].name


LENGTH = 12  # hexadecimal digits of a witness


@dataclass(frozen=True)
class KnownDefect:
    """A defect of some rows, or of a language's whole split.

    Attributes:
        language: the suite's code.
        split: one of the task's splits.
        what: the defect, in a few words that can follow a row number.
        evidence: how it is known, with figures.
        source: where it was found or published.
        witnesses: row number to the hash of its text, as `witness` returns it: all affected rows, or some of them if
            `rows` is `all`.
        rows: `all` if the whole split is affected.
        published: names of published tables that have scores of these rows.
    """

    __pydantic_config__ = CLOSED

    language: str
    split: str
    what: str
    evidence: str
    source: str
    witnesses: Annotated[dict[Annotated[int, Ge(0)], str], AT_LEAST_ONE]
    rows: Literal["all"] | None = None
    published: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether the whole split is affected."""
        return self.rows == "all"

    def found_in(self, documents: Sequence[Document]) -> list[int]:
        """Returns the rows that the defect affects in a split as it is now; none if the text is another."""
        rows = [d.id for d in documents if d.id in self.witnesses and witness(d) == self.witnesses[d.id]]
        return [d.id for d in documents] if rows and self.whole else rows


@dataclass(frozen=True)
class KnownDefects:
    """The content of `known_defects.yaml`."""

    __pydantic_config__ = CLOSED

    defects: list[KnownDefect]


def witness(document: Document) -> str:
    """Returns a short hash of a document's texts, choices and right answer."""
    fields = {name: normalise(text) for name, text in document.fields.items()}  # uncleaned texts are not yet
    parts = [fields, [*map(normalise, document.choices)], document.gold_cell]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:LENGTH]


def known_defects(spec: TaskSpec) -> list[KnownDefect]:
    """Returns the known defects of a task's data; none if it has no such file, or is a translated variant."""
    path = spec.folder / spec.data.defects
    defects = _read(path) if path.is_file() and not spec.direct else []  # other texts, which no witness knows
    for defect in defects:
        for kind, value, allowed in (
            ("language", defect.language, spec.languages),
            ("split", defect.split, spec.data.files),
        ):
            if value not in allowed:
                raise UserError(f"{path}: {spec.name} has no {kind} {value!r}", nearest(value, list(allowed)))
    return defects


@cache
def _read(path: Path) -> list[KnownDefect]:
    return read_as(KnownDefects, path).defects


def marked(spec: TaskSpec, language: str, split: str, documents: list[Document]) -> tuple[list[Document], str]:
    """Returns documents with their known defects, and the defect that the whole split has; empty if it has none."""
    whole, rows = "", dict[int, str]()
    for defect in known_defects(spec):
        if (defect.language, defect.split) == (language, split):
            affected = defect.found_in(documents)
            rows |= dict.fromkeys(affected, defect.what)
            whole = defect.what if affected and defect.whole else whole
    return [d if d.defect or d.id not in rows else replace(d, defect=rows[d.id]) for d in documents], whole
