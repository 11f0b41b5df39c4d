"""Scores of a task that others have published, for all questions and for groups: `published.yaml` in its folder."""

from dataclasses import dataclass, field
from functools import cache
from typing import Annotated

from annotated_types import Ge, Le

from afrieval.errors import UserError, nearest
from afrieval.files.schema import CLOSED, Positive
from afrieval.files.yaml import read_as
from afrieval.tasks.spec import TaskSpec, load_task, task_names

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
        found = self.micro
        for name, value in path.items():
            found = self.groups.get(name, {}).get(value)
        return None if found is None else round(found / 100, 6)


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
    found = read_as(PublishedFile, path).published
    for name, scores in found.items():
        for of, values in scores.groups.items():
            known = _values(spec, of)
            if of in spec.fields and not known:
                continue  # only the data has its values
            if unknown := [value for value in values if value not in known]:
                raise UserError(f"{path}: published.{name} has {of} {unknown[0]!r}", nearest(unknown[0], known))
    return found


def _values(spec: TaskSpec, name: str) -> list[str]:
    """Returns the values of a field that is grouped or groups others."""
    for other, of in spec.grouped_fields.items():
        if other == name:
            return list(of.groups)
        if of.of == name:
            return list(of.group_of)
    return []
