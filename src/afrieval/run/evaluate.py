"""Runs the missing cells of a run folder, one harness call per cell, and stores their samples."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from afrieval._util import garbage, signals
from afrieval._util.errors import UserError
from afrieval._util.terminal import note
from afrieval.config.settings import EvalConfig, ModelConfig, RunConfig
from afrieval.models.answers import AnswerFile
from afrieval.models.base import LanguageModel
from afrieval.models.processes import ALONE, Processes
from afrieval.results.identity import check_same_run, identity_of
from afrieval.results.run_files import read_run, write_harness, write_run, write_samples
from afrieval.results.run_folder import RunFolder
from afrieval.run.manifest import answer_path, circumstances, identity, record, suite_of
from afrieval.run.plan import check_fit, first_tokens
from afrieval.tasks.cells.cell import Cell, Outcome, Plan

if TYPE_CHECKING:  # a run without missing cells needs neither the model nor the harness
    from afrieval.models.response_cache import CachedLM, Tick
    from afrieval.run.progress import RunProgress

Check = Callable[[], None]
AfterCell = Callable[[Cell], None]
Load = Callable[[ModelConfig, EvalConfig, Processes], Any]
EVERY = 1  # seconds between checks of the run folder, which are slow on a network


class CellShare(NamedTuple):
    """The cells of a run that one of several jobs runs, in a folder that names all cells of the run.

    Attributes:
        name: such as 1 of 2.
        cells: names of cells.
    """

    name: str
    cells: Collection[str]


def evaluate(
    config: RunConfig,
    plan: Plan,
    stored: RunFolder,
    after_cell: AfterCell,
    processes: Processes = ALONE,
    check: Check = lambda: None,
    load: Load | None = None,
    share: CellShare | None = None,
) -> None:
    """Runs the missing cells of a plan in a locked run folder.

    Args:
        config: the merged config.
        plan: the cells.
        stored: the run folder.
        after_cell: called with each cell of the plan once its samples are stored, in order.
        processes: share the work; only the first reads and writes the folder and calls after_cell.
        check: called regularly and before writing; raises UserError if the folder is gone.
        load: loads the model; by default `load_model`.
        share: the cells to run, if others are run elsewhere; `after_cell` is called with these.

    Raises:
        UserError: if the folder contains another run or is gone, or the model cannot be loaded.
    """
    folder = stored.path
    described = identity(config, plan)
    mine = [cell for cell in plan.cells if share is None or cell.name in share.cells]
    questions = [(cell.name, cell.n) for cell in mine]
    processes.assert_equal_across_ranks([questions, {k: v for k, v in described.items() if k != "model"}], "questions")
    missing = processes.run_on_rank_zero(lambda: [cell.name for cell in missing_cells(stored, described, mine)])
    if missing:
        cells = [cell for cell in mine if cell.name in missing]
        lm = _load(config, processes, described, load)
        processes.run_on_rank_zero(lambda: note(_size(cells, len(mine))))
        visit = _visit(config, plan, lm, processes, share)
        processes.run_on_rank_zero(_checked(check, lambda: _begin(plan, folder, described, visit)))
        answers = answer_path(folder, described["model"])
        with _asking(config, cells, lm, answers, processes, check) as (cached, progress):
            for cell in mine:
                if cell.name in missing:
                    progress.begin(cell)
                    processes.run_on_rank_zero(
                        _checked(check, partial(_store, folder, cell.name, run_cell(cell, cached)))
                    )
                    progress.end(cell)
                if processes.is_first:
                    after_cell(cell)
    elif processes.is_first:
        _keep_groups(folder, plan, suite_of(asdict(config.task)))
        for cell in mine:
            after_cell(cell)


def missing_cells(stored: RunFolder, described: dict[str, Any], cells: Sequence[Cell]) -> list[Cell]:
    """Returns the cells that are missing in a run folder.

    Args:
        stored: the run folder.
        described: the run's identity.
        cells: those to look for.

    Raises:
        UserError: if the folder contains another run, or a damaged file.
    """
    check_same_run(identity_of(stored.record), described, stored.path)
    return [cell for cell in cells if stored.n_done(cell.name) < cell.n]


def _size(cells: Sequence[Cell], planned: int) -> str:
    """Returns how much is to be run."""
    generated = sum(cell.n_requests for cell in cells if "generate_until" in cell.asks)
    likelihoods = sum(cell.n_requests for cell in cells) - generated
    asked = [(likelihoods, "likelihoods"), (generated, "generated answers")]
    counts = " and ".join(f"{number:,} {kind}" for number, kind in asked if number)
    of_all = f"{len(cells):,} of {planned:,}" if len(cells) < planned else f"{planned:,}"
    documents = sum(cell.n for cell in cells)
    return f"to run: {of_all} cell{'s' * (planned > 1)}, {documents:,} documents, {counts or 'no requests'}"


def _load(config: RunConfig, processes: Processes, described: dict[str, Any], load: Load | None) -> Any:
    """Returns the model, checks that all processes have the same, and records its fingerprint."""
    with processes.barrier():
        lm = (load or _usual_load())(config.model, config.eval, processes)
        garbage.started()
        described["model"]["fingerprint"] = lm.fingerprint()
    processes.assert_equal_across_ranks(described["model"]["fingerprint"], "model")
    return lm


def _usual_load() -> Load:
    from afrieval.models.load import load_model

    return load_model


@contextmanager
def _asking(
    config: RunConfig, cells: Sequence[Cell], lm: LanguageModel, answers: Path, processes: Processes, check: Check
) -> "Iterator[tuple[CachedLM, RunProgress]]":
    """Returns a model that stores its answers, and what shows the progress of cells."""
    from afrieval.models.response_cache import CachedLM
    from afrieval.run.progress import RunProgress

    kept = answers if config.eval.use_cache and processes.is_first else None
    shown = RunProgress(cells, bar=not config.eval.write_out, quiet=not processes.is_first, spending=lm.spending)
    with AnswerFile(kept) as answer_file, shown as progress:
        lm.resume(answer_file.details())
        cached = CachedLM(lm, answer_file, _looking_after(progress.tick, check), processes)
        with _noted(answers.parent, cached, processes, check):
            yield cached, progress


def _visit(
    config: RunConfig, plan: Plan, lm: LanguageModel, processes: Processes, share: CellShare | None
) -> dict[str, Any]:
    """Returns the circumstances of a visit, after checking how prompts begin, and that they fit the context."""
    known = circumstances(config, plan, lm, processes.count) | ({"share": share.name} if share else {})
    known["first_tokens"] = first_tokens(plan.cells, lm)
    check_fit(plan.cells, lm)
    return known


def _begin(plan: Plan, folder: Path, described: dict[str, Any], visit: dict[str, Any]) -> None:
    """Writes run.yaml; rejects another run's folder."""
    stored = read_run(folder)
    check_same_run(identity_of(stored), described, folder)
    write_run(folder, record(stored, plan, described, visit))


@contextmanager
def _noted(folder: Path, cached: "CachedLM", processes: Processes, check: Check) -> Iterator[None]:
    """Adds what the answers took to this visit in run.yaml at the end, also if the run is stopped."""

    def store() -> None:
        if work := cached.work_so_far():
            stored = read_run(folder)
            *earlier, visit = stored["visits"]
            write_run(folder, {**stored, "visits": [*earlier, {**visit, "work": work}]})

    try:
        yield
    except BaseException:
        if processes.is_first:
            with suppress(UserError, OSError):  # what ended the run is what the user has to hear of
                _checked(check, store)()
        raise
    processes.run_on_rank_zero(_checked(check, store))


def run_cell(cell: Cell, model: LanguageModel) -> Outcome:
    """Runs a cell and returns its outcome.

    Args:
        cell: the cell to run.
        model: any model of the harness.
    """
    job = cell.build(model)
    if job.task is None:
        return job.collect({})
    from lm_eval.evaluator import evaluate as harness_evaluate

    with job.around():
        results = harness_evaluate(
            job.model,
            {"tasks": {cell.name: job.task}, "groups": {}},
            limit=job.limit,
            samples={cell.name: list(job.samples)} if job.samples else None,
            bootstrap_iters=job.bootstrap_iters,
            log_samples=True,
            apply_chat_template=job.chat,
            fewshot_as_multiturn=job.chat,
            system_instruction=job.system,
        )
    return job.collect(results)


def _store(folder: Path, name: str, outcome: Outcome) -> None:
    """Writes a cell's outcome, samples last, since they mark it as done."""
    if outcome.record is not None:
        write_harness(folder, name, outcome.record)
    write_samples(folder, name, outcome.samples)


def _keep_groups(folder: Path, plan: Plan, suite: dict[str, Any]) -> None:
    """Adds harness groups, and what the suite derives, to run.yaml, where all tasks are stored already."""
    stored = read_run(folder)
    known = stored.get("harness_groups", {})
    now = {**stored, **({"harness_groups": known | plan.groups} if plan.groups else {})}
    now |= {"suite": suite} if suite else {}
    if now != stored:
        write_run(folder, now)


def _checked(check: Check, store: Callable[[], None]) -> Callable[[], None]:
    """Returns a function that checks the folder, then stores something."""

    def checked() -> None:
        check()
        store()

    return checked


def _looking_after(tick: "Tick", check: Check) -> "Tick":
    """Returns a tick that also checks regularly whether the run can continue."""
    latest = time.monotonic()

    def ticked(answered: int) -> None:
        nonlocal latest
        tick(answered)
        signals.check()
        if time.monotonic() > latest + EVERY:
            check()
            latest = time.monotonic()

    return ticked
