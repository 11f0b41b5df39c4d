"""Cells, the smallest unit that is run, stored and resumed: what each has, their plan, and their settings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.base import LanguageModel
from afrieval.models.registry import backend_of
from afrieval.results.cell_key import CellKey
from afrieval.results.samples import Sample
from afrieval.scoring.tokens import Need


@dataclass(frozen=True)
class Preview:
    """A document of a cell.

    Attributes:
        heading: its name and few-shot examples.
        prompts: each of its prompts, verbatim, with the lines to print after it; empty if there is nothing to show.
    """

    heading: str
    prompts: Mapping[str, Sequence[str]] = field(default_factory=dict)


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

    def requests(self, model: LanguageModel) -> Iterator[Any]:
        """Yields the harness' requests of its documents, in the order in which a model is asked."""

    def run(self, model: LanguageModel) -> CellResult:
        """Asks a loaded model, scores its answers, and returns what is to be stored."""

    def preview(self, number: int) -> Preview:
        """Returns the document with a given number as a model would see it."""

    def preview_stored(self, samples: Iterator[Sample]) -> Preview:
        """Returns the first scored document of the cell's samples, with the model's answer."""

    def first_prompt(self, model: LanguageModel) -> str | None:
        """Returns its first prompt as sent to a model; None if there is none, or it is slow to compute."""
        return None

    def check_fit(self, model: LanguageModel) -> None:
        """Rejects complete prompts that the model's context has no room for."""
        assert not self.complete, "what has complete prompts checks them"


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


@dataclass(frozen=True)
class CellSettings:
    """The settings of a run that its cells depend on.

    Attributes:
        source: where rows are: `hub`, `samples` or a folder.
        limit: how many of the first rows to run; None for all.
        sample: how many rows of a representative sample to run; None for all.
        sample_seed: eval.random_seed, which orders the rows of samples.
        shots: few-shot examples per document.
        fewshot_selection: whether all documents have the same examples.
        fewshot_seed: eval.fewshot_random_seed.
        max_gen_toks: the most tokens of an answer; None for the task's own limit.
        log_samples: whether sample files have texts.
        chat_template: whether prompts are chats.
        thinking_end: the text that ends a model's thinking; empty for usual marks.
        thinks: whether the model thinks before it answers, and needs room for that.
        served: whether a server answers, which may refuse to.
        first_tokens: whether likelihoods are those of a chat's first token, which the server may not return.
        recorded: whether answers were recorded as a whole.
    """

    source: str = "hub"
    limit: int | None = None
    sample: int | None = None
    sample_seed: int = 42
    shots: int = 0
    fewshot_selection: Literal["fixed", "per_document"] = "fixed"
    fewshot_seed: int = 42
    max_gen_toks: int | None = None
    log_samples: bool = True
    chat_template: bool = False
    thinking_end: str = ""
    thinks: bool = False
    served: bool = False
    first_tokens: bool = False
    recorded: bool = False

    @classmethod
    def of_run(cls, model: ModelConfig, evaluation: EvalConfig, source: str) -> "CellSettings":
        """Returns the settings of a run's cells, which are in the model's and the evaluation's section."""
        backend = backend_of(model.model_type)
        return cls(
            source=source,
            limit=evaluation.limit,
            sample=evaluation.sample,
            sample_seed=evaluation.random_seed,
            shots=evaluation.shots,
            fewshot_selection=evaluation.fewshot_selection,
            fewshot_seed=evaluation.fewshot_random_seed,
            max_gen_toks=evaluation.max_gen_toks,
            log_samples=evaluation.log_samples,
            chat_template=model.chat_template,
            thinking_end=model.thinking_end or "",
            thinks=model.thinks,
            served=backend.served,
            first_tokens=backend.served and model.api.endpoint == "chat",
            recorded=backend.recorded,
        )
