"""The smallest thing that is run, stored and resumed, whatever it is made from."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from afrieval.results.samples import Sample
from afrieval.tasks.shown import Shown

RunPart = dict[str, Any]  # nested maps as run.yaml has them; results/schema.py says what is in them


@dataclass(frozen=True)
class Coordinates:
    """Where a cell stands in tables; blank where its source has no such thing."""

    task: str
    language: str = ""
    prompt: int | Literal[""] = ""
    prompt_language: str = ""
    shots: int = 0
    answer_form: str = ""


@dataclass(frozen=True)
class Outcome:
    """What is stored of a cell.

    Attributes:
        samples: lines of its sample file.
        record: what the harness says of a task of its own, for `harness_<cell>.json`; None for all others.
    """

    samples: list[Sample]
    record: dict[str, Any] | None = None


@dataclass(frozen=True)
class Job:
    """One call of the harness' `evaluate`.

    Attributes:
        task: the harness' Task; None if no document of the cell can be scored.
        model: who is asked.
        collect: the harness' results to what is stored; called with an empty map if there is no task.
        chat: whether prompts are put into the model's chat template.
        system: its system text, if any.
        limit: documents to run, from the first; None for all that the task has.
        bootstrap_iters: resamples for the harness' own standard errors.
        around: in what the harness is called.
    """

    task: Any
    model: Any
    collect: Callable[[dict[str, Any]], Outcome]
    chat: bool
    system: str | None = None
    limit: int | None = None
    bootstrap_iters: int = 0
    around: Callable[[], AbstractContextManager[None]] = nullcontext


@dataclass(frozen=True)
class Probe:
    """What a model can be checked with before a cell runs.

    Attributes:
        prompt: the cell's first prompt, as the model gets it.
        complete: prompts that have all special tokens inside and must reach the model whole; none if templates make
            them.
        answer_tokens: how many tokens an answer may have.
    """

    prompt: str
    complete: Sequence[str] = ()
    answer_tokens: int = 0


class Cell(Protocol):
    """Task x language x prompt x prompt language x shots."""

    @property
    def name(self) -> str:
        """Stable name of the cell, used for its sample file."""

    @property
    def title(self) -> str:
        """The cell's name for people."""

    @property
    def coordinates(self) -> Coordinates:
        """Where it stands in tables."""

    @property
    def metrics(self) -> Sequence[str]:
        """Names of its metrics, the main one first."""

    @property
    def asks(self) -> frozenset[str]:
        """The kinds of its requests, in the harness' words."""

    @property
    def can_generate(self) -> bool:
        """Whether its task has generated answers as one of its answer forms."""

    @property
    def complete(self) -> bool:
        """Whether its prompts have all words and tokens of a chat inside, so that nothing may be added."""

    @property
    def n(self) -> int:
        """Number of documents, those that cannot be scored included."""

    @property
    def n_requests(self) -> int:
        """Number of requests that they make, about."""

    @property
    def identity(self) -> RunPart:
        """What its scores depend on, the model apart: its part of the identity in run.yaml."""

    @property
    def facts(self) -> RunPart:
        """What a reader of its samples has to know: its part of the rest of run.yaml."""

    @property
    def commits(self) -> dict[str, str]:
        """Data set to its commit, where its rows came from the hub."""

    def probe(self, model: Any) -> Probe | None:
        """Returns what a loaded model can be checked with; None if nothing can be asked, or it takes long to find."""

    def build(self, model: Any) -> Job:
        """Returns what the harness is asked to do with a loaded model."""

    def preview(self, number: int) -> Shown:
        """Returns a document as a model would get it.

        Raises:
            UserError: if there is no such document.
        """

    def recall(self, samples: Iterator[Sample]) -> Shown:
        """Returns the first scored document as a model got it, with what it answered."""


@dataclass(frozen=True)
class Plan:
    """Cells in the order in which they run.

    Attributes:
        left_out: one line for each thing left out.
        notes: what else people should know, in lines.
        groups: groups of the harness above the cells, by name, as run.yaml keeps them.
    """

    cells: list[Cell]
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    groups: dict[str, RunPart] = field(default_factory=dict)

    def __add__(self, other: "Plan") -> "Plan":
        return Plan(
            [*self.cells, *other.cells],
            [*self.left_out, *other.left_out],
            [*self.notes, *other.notes],
            {**self.groups, **other.groups},
        )

    @property
    def lines(self) -> list[str]:
        """What people should know before a model is loaded."""
        return [*(f"left out: {line}" for line in self.left_out), *self.notes]
