"""The smallest thing that is run, stored and resumed, whatever it is made from."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

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


@dataclass(frozen=True)
class Cell:
    """Task x language x prompt x prompt language x shots, whatever it is made from.

    Attributes:
        name: stable; used for its sample file.
        title: its name for people.
        coordinates: where it stands in tables.
        metrics: names of its metrics, the main one first.
        asks: the kinds of its requests, in the harness' words.
        n: number of documents, those that cannot be scored included.
        n_requests: number of requests that they make, about.
        identity: what its scores depend on, the model apart: its part of the identity in run.yaml.
        build: a loaded model to what the harness is asked to do with it.
        preview: a document's number to the document as a model would get it.
        recall: the cell's samples to the first scored document, with what the model answered.
        probe: a loaded model to what it can be checked with; None if nothing is asked, or it takes long to find.
        facts: what a reader of its samples has to know: its part of the rest of run.yaml.
        commits: data set to its commit, where its rows came from the hub.
        can_generate: whether its task has generated answers as one of its answer forms.
        complete: whether its prompts have all words and tokens of a chat inside, so that nothing may be added.
    """

    name: str
    title: str
    coordinates: Coordinates
    metrics: Sequence[str]
    asks: frozenset[str]
    n: int
    n_requests: int
    identity: RunPart
    build: Callable[[Any], Job]
    preview: Callable[[int], Shown]
    recall: Callable[[Iterator[Sample]], Shown]
    probe: Callable[[Any], Probe | None] = lambda model: None
    facts: RunPart = field(default_factory=dict)
    commits: dict[str, str] = field(default_factory=dict)
    can_generate: bool = False
    complete: bool = False


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
