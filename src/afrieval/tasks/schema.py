"""The sections of a task file, except those on its data."""

from dataclasses import dataclass, field
from typing import Literal

from afrieval.files.schema import CLOSED, Positive


@dataclass(frozen=True)
class PromptSpec:
    """A numbered prompt.

    Attributes:
        template: in Jinja.
        labels: label name to the word that is shown and scored.
    """

    __pydantic_config__ = CLOSED

    template: str
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AnswerSpec:
    """The right answers.

    Attributes:
        field: column that has them; of several, the first with a value.
        type: a name in `tasks/answers.py`; that of the task's kind if not given.
    """

    __pydantic_config__ = CLOSED

    field: str | list[str]
    type: str | None = None


@dataclass(frozen=True)
class DerivedSpec:
    """A score computed from others.

    Attributes:
        how: name of a derived metric.
        of: metrics of the task, or derived ones that stand before.
        reference: folder of a stored run, whose metrics are inputs too.
    """

    __pydantic_config__ = CLOSED

    how: str
    of: str | list[str]
    reference: str | None = None

    @property
    def names(self) -> list[str]:
        """The metrics in `of`."""
        return [self.of] if isinstance(self.of, str) else self.of


@dataclass(frozen=True)
class ReadSpec:
    """How a generated answer is parsed; the older way to write `extract: {name: phrase, ...}`.

    Attributes:
        after: the words that announce an answer.
        which: the announcement that counts, if there are several: `first` or `last`.
        lone: whether the last letter that stands alone counts where nothing announces one; a guess.
    """

    __pydantic_config__ = CLOSED

    after: str
    which: Literal["first", "last"]
    lone: bool = False


@dataclass(frozen=True)
class GenerationSpec:
    """How generated answers end.

    Attributes:
        max_tokens: how long they may be.
        stop: texts at which they end.
    """

    __pydantic_config__ = CLOSED

    max_tokens: Positive
    stop: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class EvalsSpec:
    """Which of Meta's evaluation data sets have a task.

    Attributes:
        family: 3.1 or 3.2.
        instruct: whether it is for instruct models, or for pretrained ones.
    """

    __pydantic_config__ = CLOSED

    family: str
    instruct: bool
