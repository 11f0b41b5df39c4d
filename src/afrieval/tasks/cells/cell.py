"""Cells, the smallest unit that is run, stored and resumed, and how their documents are printed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

from afrieval._util.errors import UserError
from afrieval.models.answer_file import AnswerFile
from afrieval.models.base import LanguageModel
from afrieval.results.cell_key import CellKey
from afrieval.results.samples import Sample
from afrieval.scoring.tokens import Need


@dataclass(frozen=True)
class Block:
    """A verbatim prompt, and lines to print after it."""

    prompt: str
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Preview:
    """A document of a cell.

    Attributes:
        heading: its name and few-shot examples.
        blocks: its prompts; empty if there is nothing to show.
    """

    heading: str
    blocks: list[Block] = field(default_factory=list)


NOT_KEPT = "(its prompt was not kept: eval.log_samples is false)"


def turns(history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
    """Replaces the model's chat template if no model is loaded.

    Without the generation prompt, the model continues the last turn.
    """
    shown = [f"[{turn['role']}]\n{turn['content']}" for turn in history]
    return "\n\n".join([*shown, "[assistant]"] if add_generation_prompt else shown)


RunPart = dict[str, Any]  # nested maps as run.yaml has them; results/schema.py says what is in them


@dataclass(frozen=True)
class CellResult:
    """The stored results of a cell.

    Attributes:
        samples: lines of its sample file.
        record: the harness' results for one of its tasks (`harness_<cell>.json`), else None.
    """

    samples: list[Sample]
    record: dict[str, Any] | None = None


@dataclass(frozen=True)
class HarnessCall:
    """One call of the harness' `evaluate`.

    Attributes:
        task: the harness' Task; None if no document of the cell can be scored.
        model: the model to evaluate.
        collect: converts the harness' results to the cell's; gets an empty map if `task` is None.
        chat: whether to apply the model's chat template.
        system: the system text, if any.
        limit: number of documents to run, the first ones; None for all.
        samples: places of the documents to run, in order; empty for all up to the limit.
        bootstrap_iters: resamples for the harness' own standard errors.
        context: context manager to call the harness in.
    """

    task: Any
    model: LanguageModel
    collect: Callable[[dict[str, Any]], CellResult]
    chat: bool
    system: str | None = None
    limit: int | None = None
    samples: Sequence[int] = ()
    bootstrap_iters: int = 0
    context: Callable[[], AbstractContextManager[None]] = nullcontext


@dataclass(frozen=True)
class PromptProbe:
    """Input for checks of a model before a cell runs.

    Attributes:
        prompt: the cell's first prompt, as sent to the model.
        complete: prompts that include all special tokens and must not be truncated; empty for
            prompts made from templates.
        answer_tokens: maximum number of tokens of an answer.
    """

    prompt: str
    complete: Sequence[str] = ()
    answer_tokens: int = 0


class Cell(Protocol):
    """Task x language x prompt x prompt language x shots: the smallest thing that is run, stored and resumed.

    Classes that derive from it explicitly have its defaults.
    """

    @property
    def name(self) -> str:
        """Stable name, used for its sample file."""
        return self.key.text()

    @property
    def title(self) -> str:
        """Its display name."""

    @property
    def key(self) -> CellKey:
        """What names it in tables; fields that its source does not have are blank."""

    @property
    def asks(self) -> frozenset[str]:
        """The types of its requests, as the harness names them."""

    @property
    def n(self) -> int:
        """Number of documents, including those that cannot be scored."""

    @property
    def n_requests(self) -> int:
        """Approximate number of requests."""

    @property
    def n_neutral(self) -> int:
        """Number of those with neutral prompts, which belong to no document."""
        return 0

    @property
    def identity(self) -> RunPart:
        """Everything except the model that scores depend on; part of `identity` in run.yaml."""

    @property
    def facts(self) -> RunPart:
        """Further information about its samples; part of the rest of run.yaml."""
        return {}

    @property
    def commits(self) -> dict[str, str]:
        """Data set to commit, for rows from the hub."""
        return {}

    @property
    def can_generate(self) -> bool:
        """Whether generated answers are among the task's answer forms."""
        return False

    @property
    def needs(self) -> frozenset[Need]:
        """What its metrics need besides the likelihoods of whole texts, as they name it."""
        return frozenset()

    @property
    def complete(self) -> bool:
        """Whether its prompts already include all parts of a chat, so that nothing may be added."""
        return False

    @property
    def shares(self) -> str:
        """Name of a group of cells that share requests; empty if it shares none."""
        return ""

    def build(self, model: LanguageModel) -> HarnessCall:
        """Returns the harness call that evaluates a loaded model."""

    def preview(self, number: int) -> Preview:
        """Returns the document with a given number as a model would see it."""

    def preview_stored(self, samples: Iterator[Sample]) -> Preview:
        """Returns the first scored document of the cell's samples, with the model's answer."""

    def probe(self, model: LanguageModel) -> PromptProbe | None:
        """Returns input for checks of a loaded model; None if there is none, or it is slow to compute."""
        return None

    def rescore(self, stored: AnswerFile, samples: Iterator[Sample]) -> Iterator[Sample]:
        """Yields samples with the scores that their answers get now; only cells of declared tasks support it.

        Raises:
            UserError: if it does not, or not of these samples.
        """
        raise UserError(f"{self.name} cannot be scored again", "run the model again")


@dataclass(frozen=True)
class Plan:
    """Cells in the order in which they run.

    Attributes:
        left_out: one line for each omission.
        notes: other lines to print.
        groups: harness groups that contain the cells, by name, as stored in run.yaml.
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
        """Lines to print before a model is loaded."""
        return [*(f"left out: {line}" for line in self.left_out), *self.notes]
