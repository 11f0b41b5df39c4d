"""What a run would take: tokens, memory, time, and the fertility of the tokenizer."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from afrieval._util.errors import UserError
from afrieval.analysis.tokenizer import Fertility, counted
from afrieval.languages import ENGLISH
from afrieval.models.credentials import quiet
from afrieval.models.engine.packs import free_memory
from afrieval.models.folder import model_folder
from afrieval.models.model_identity import device_name
from afrieval.models.registry import backend_of
from afrieval.report.columns import Column
from afrieval.report.table import Table
from afrieval.run.evaluate import first_tokens
from afrieval.run.progress import RunProgress
from afrieval.run.session import Session
from afrieval.tasks.cells.cell import Cell
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.lock import DataLock, read_lock
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.selection import chosen_tasks
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tools.plan.counting import Size, by_place, count, sampled, sizes_by_bytes
from afrieval.tools.plan.rates import Rates, calibrate, earlier_rates
from afrieval.tools.plan.token_counts import TokenCounter, token_counter

GIB = 2**30
MOST_ROWS = 200  # rows of a language
Tokens = Callable[[list[str]], list[int]]
Texts = Mapping[int | str, list[str]]  # row or key to the texts of a document in its language


def memory_table(lm: TokenCounter, model: str) -> Table:
    """Returns the memory that a run needs whose requests were counted."""
    free, device = free_memory(lm.device), str(device_name(lm.device))
    total = lm.weights + (lm.passes or 0)
    parts = {"weights": lm.weights, "cache, activations, logits": lm.passes, "in all": total, f"free on {device}": free}
    rows = [[name, n_bytes, None if n_bytes is None else n_bytes / GIB] for name, n_bytes in parts.items()]
    findings = []
    if total > free and not lm.absent:
        findings.append("The model does not fit: it needs more memory than is free.")
    if lm.absent:
        findings.append(f"{lm.absent} is not on this machine, which plans for {device}.")
    dtype = str(lm.model.dtype).removeprefix("torch.")
    notes = [f"Weights are {dtype}; cache, activations and logits are what is in memory at a time, at most."]
    if getattr(lm.config, "quantization_config", None) is not None or lm.packs_weights:
        notes.append("The weights are quantised, and take less.")
    if lm.passes is None:
        notes.append("What a forward pass takes is not known for this model.")
    columns = [Column("memory"), Column("bytes", "hidden"), Column("GiB", "ratio")]
    return Table("memory", f"{model}: memory", columns, rows, notes, findings)


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
        memory: a table; None if it is not ours to say.
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
    memory: Table | None = None
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

        def show(cell: Cell) -> None:
            progress.begin(cell)
            progress.tick(cell.n_requests)

        sizes = by_place(count(cells, lm, show))

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
        memory=memory_table(lm, str(config.model.model_name)) if ours else None,
        fertilities=row_fertilities(specs, config.data.source, str(config.model.model_name), cells, tokens),
    )


def row_fertilities(
    specs: Sequence[TaskSpec], source: str, model: str, cells: Sequence[Cell], tokens: Tokens
) -> list[Fertility]:
    """Returns the fertility of each task and language of some cells, as far as their rows are in that language."""
    test_sets = dict.fromkeys((cell.key.task, cell.key.language) for cell in cells)
    spec_of, lock = {spec.name: spec for spec in specs}, read_lock()
    fertilities: list[Fertility] = []
    for task, language in test_sets:
        spec = spec_of.get(task)
        if spec and not spec.prompt and not spec.texts and spec.text_language is None:
            pairs = _pairs(spec, language, source, lock)
            fertilities += _fertility(spec.name, language, model, *pairs, tokens)
    return fertilities


def _fertility(
    task: str, language: str, model: str, texts: Texts, english: Texts, tokens: Tokens
) -> Iterator[Fertility]:
    chosen = [name for name in texts if name in english] or list(texts)
    chosen = chosen[:: -(-len(chosen) // MOST_ROWS) or 1]
    rows = [text for name in chosen for text in texts[name]]
    n_tokens, n_words, characters, n_bytes = counted(rows, sum(tokens(rows))).tolist()
    if not n_words:
        return
    premium = None
    if english and language != ENGLISH and all(name in english for name in chosen):
        premium = n_tokens / sum(tokens([text for name in chosen for text in english[name]]))
    yield Fertility(task, language, model, "rows", len(chosen), n_tokens, n_words, characters, n_bytes, premium)


def _pairs(spec: TaskSpec, language: str, source: str, lock: DataLock) -> tuple[Texts, Texts]:
    """Returns the texts of rows in a language, and their English originals, if any."""
    if spec.direction:
        data = load_split(spec, language, spec.data.evaluate, source, lock)
        translated = [d for d in (data.documents if data else []) if isinstance(d.gold, str)]
        sources: Texts = {d.id: [*d.fields.values()] for d in translated}
        targets: Texts = {d.id: [str(d.gold)] for d in translated}
        texts, others = (targets, sources) if "from" in spec.direction else (sources, targets)
        return texts, others if ENGLISH in spec.direction.values() else {}
    both = {language, ENGLISH}
    group = [split for split, groups in spec.parallel.items() if any(both <= {*g} for g in groups) and len(both) > 1]
    for split in [*(s for s in group if s == spec.data.evaluate), *group]:
        data, english = (load_split(spec, code, split, source, lock) for code in (language, ENGLISH))
        if data and english:
            return _texts(spec, data.documents), _texts(spec, english.documents)
    data = load_split(spec, language, spec.data.evaluate, source, lock)
    return _texts(spec, data.documents if data else []), {}


def _texts(spec: TaskSpec, documents: Sequence[Document]) -> Texts:
    """Returns the fields of sound documents, and their choices if these are not the same for all."""
    left_out = {*spec.breakdowns, *spec.grouped_fields}
    texts: dict[int | str, list[str]] = {}
    for d in documents:
        name = d.key if spec.key else d.id  # by which documents of several languages are paired
        if not d.defect and name != "":
            choices = [] if spec.labels else [*d.choices]
            texts[name] = [text for field, text in d.fields.items() if field not in left_out] + choices
    return texts
