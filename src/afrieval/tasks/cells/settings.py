"""What the cells of declared tasks need of a run's settings."""

from dataclasses import dataclass
from typing import Literal

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.registry import backend_of


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
