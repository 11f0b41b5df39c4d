"""What a run would take: tokens, memory, time, and the fertility of the tokenizer."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from afrieval._util.errors import UserError
from afrieval.analysis.tokenizer import Fertility
from afrieval.models.credentials import quiet
from afrieval.models.engine.packs import free_memory
from afrieval.models.folder import model_folder
from afrieval.models.model_identity import device_name
from afrieval.models.registry import backend_of
from afrieval.run.evaluate import first_tokens
from afrieval.run.progress import RunProgress
from afrieval.run.session import Session
from afrieval.tasks.cells.cell import Cell
from afrieval.tasks.declaration.selection import chosen_tasks
from afrieval.tools.plan.counting import Size, by_place, count, sampled, sizes_by_bytes
from afrieval.tools.plan.fertility import row_fertilities
from afrieval.tools.plan.rates import Rates, calibrate, earlier_rates
from afrieval.tools.plan.token_counts import TokenCounter, token_counter


@dataclass(frozen=True)
class Memory:
    """Bytes that a run takes.

    Attributes:
        weights: exact, unless the weights are stored in fewer bits than config.json says.
        passes: keys and values of a cache, activations and logits, at most; None if the model's code does not tell.
        quantised: whether the weights are packed numbers, so that they take less.
    """

    weights: int
    passes: int | None
    free: int
    device: str
    dtype: str
    quantised: bool

    @property
    def total(self) -> int:
        """Bytes in all."""
        return self.weights + (self.passes or 0)


def memory_of(lm: TokenCounter) -> Memory:
    """Returns the memory that a run needs whose requests were counted."""
    quantised = getattr(lm.config, "quantization_config", None) is not None or lm.packs_weights
    dtype = str(lm.model.dtype).removeprefix("torch.")
    free, device = free_memory(lm.device), str(device_name(lm.device))
    return Memory(lm.weights, lm.passes, free, device, dtype, bool(quantised))


@dataclass(frozen=True)
class Estimate:
    """What is left to run of a plan.

    Attributes:
        sizes: by task and language.
        planned: number of cells of the whole plan.
        unknown: why there is no tokenizer; empty if there is one.
        step: each how many documents one was counted; 1 for all.
        engine: that computes likelihoods: tree or plain; empty if it is not ours.
        neutral: number of requests with neutral prompts.
        longest: the most tokens of a request, answers included.
        absent: a device that is asked for and not on this machine.
    """

    model: str
    sizes: list[Size]
    planned: int
    unknown: str = ""
    step: int = 1
    neutral: int = 0
    engine: str = ""
    context: int | None = None
    longest: int = 0
    absent: str = ""
    memory: Memory | None = None
    rates: Rates = field(default_factory=dict)
    fertilities: list[Fertility] = field(default_factory=list)


def estimate(session: Session, cells: Sequence[Cell], measure: bool = False) -> Estimate:
    """Returns the tokens, memory and time of some cells of a plan, without weights.

    `measure` loads the model, and measures how fast it answers.

    Raises:
        UserError: for what would end the run before it begins, such as prompts that must not be truncated.
    """
    config = session.config
    lm, why = _model(session)
    if lm:
        estimated = _counted(session, cells, lm)
    else:
        api, chats = config.model.api, config.model.api.endpoint == "chat"
        echo = backend_of(config.model.model_type).served and not chats
        sizes = sizes_by_bytes(cells, chats and api.top_logprobs is not None, echo)
        estimated = Estimate(str(config.model.model_name), sizes, len(session.plan.cells), why)
    estimated = replace(estimated, neutral=sum(cell.n_neutral for cell in cells))
    if measure:
        return replace(estimated, rates=calibrate(config.model, config.eval, cells))
    run_path = session.stored.path
    folders = [run_path]
    if config.run_dir is None:  # other runs of the same model are next to it
        folders += sorted(path.parent for path in run_path.parents[2].glob(f"*/{run_path.parent.name}/*/run.yaml"))
    ours = lm and backend_of(config.model.model_type).has_engine
    device, engine = (device_name(lm.device), lm.engine) if lm and ours else (None, None)
    return replace(estimated, rates=earlier_rates(folders, session.identity["model"], device, engine))


def _model(session: Session) -> tuple[TokenCounter | None, str]:
    """Returns the model that counts, or why there is none: it is on the hub, and cannot be fetched."""
    config = session.config
    if not backend_of(config.model.model_type).local:
        return None, f"the tokenizer of {config.model.model_type} is not known here"
    try:
        return token_counter(config.model, config.eval), ""
    except UserError as e:
        if config.model.model_name == "demo" or model_folder(str(config.model.model_name)):
            raise
        return None, e.message


def _counted(session: Session, cells: Sequence[Cell], lm: TokenCounter) -> Estimate:
    first_tokens(cells, lm)
    for cell in cells:
        cell.check_fit(lm)
    with RunProgress(cells, quiet=not sys.stderr.isatty()) as progress, quiet():

        def counted(cell: Cell) -> None:
            progress.begin(cell)
            progress.tick(cell.n_requests)

        sizes = by_place(count(cells, lm, counted))

    def tokens(texts: list[str]) -> list[int]:
        return list(map(len, lm.tokenizer(texts, add_special_tokens=False)["input_ids"])) if texts else []

    config = session.config
    ours = backend_of(config.model.model_type).has_engine
    specs = chosen_tasks(config) if config.task.names else []
    return Estimate(
        str(config.model.model_name),
        sizes,
        len(session.plan.cells),
        step=sampled(cells),
        engine=lm.engine if ours else "",
        context=lm.max_length,
        longest=lm.longest,
        absent=lm.absent,
        memory=memory_of(lm) if ours else None,
        fertilities=row_fertilities(specs, config.data.source, str(config.model.model_name), cells, tokens),
    )
