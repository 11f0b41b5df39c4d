"""Runs the missing cells of a run folder, one harness call per cell, and stores their samples."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from afrieval._util import garbage
from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval.config.checks import HARNESS_TASKS, without_looks
from afrieval.models.answer_file import AnswerFile
from afrieval.models.base import LanguageModel
from afrieval.results.identity import check_same_run
from afrieval.results.run_files import read_run, write_harness, write_run, write_samples
from afrieval.run.finish import config_of, summarise
from afrieval.run.manifest import answer_path, circumstances, record, suite_of
from afrieval.run.people_scores import with_earlier_ratings
from afrieval.run.plan import check_fit, first_tokens
from afrieval.run.session import Session
from afrieval.tasks.cells.cell import Cell, CellResult, Plan

if TYPE_CHECKING:  # a run without missing cells needs neither the model nor the harness
    from afrieval.models.response_cache import CachedLM
    from afrieval.results.run_folder import RunFolder
    from afrieval.run.progress import RunProgress

UNTIL = "generate_until"  # the requests for generated answers, as the harness names them


class CellShare(NamedTuple):
    """The cells of a run that one of several jobs (`name`, such as 1 of 2) runs, in a folder that names all cells."""

    name: str
    cells: Collection[str]


def evaluate(session: Session, lm: LanguageModel | None = None) -> None:
    """Runs the missing cells of a run, as `evaluated_cells` does."""
    for _ in evaluated_cells(session, lm):
        pass


def evaluated_cells(
    session: Session, lm: LanguageModel | None = None, share: CellShare | None = None
) -> Iterator[Cell]:
    """Runs the missing cells of a run, and yields all of its cells in order, each once its samples are stored.

    A run that is interrupted gets its summary as far as it got.

    Args:
        session: the run; of several processes that share it, only the first yields cells.
        lm: the loaded model; the one of the config is loaded if it is needed and none is given.
        share: the cells to run and yield, if others are run elsewhere.

    Raises:
        UserError: if the folder contains another run or is gone, or the model cannot be loaded.
    """
    try:
        yield from _evaluated(session, lm, share)
    except KeyboardInterrupt:
        if session.processes.is_first and session.stored.names and not share:
            summarise(session.stored)
        raise


def _evaluated(session: Session, lm: LanguageModel | None, share: CellShare | None) -> Iterator[Cell]:
    config, processes, folder = session.config, session.processes, session.stored.path
    described, mine = session.identity, _cells_of(session, share)
    questions = [(cell.name, cell.n) for cell in mine]
    processes.assert_equal_across_ranks([questions, {k: v for k, v in described.items() if k != "model"}], "questions")
    missing = processes.run_on_rank_zero(lambda: [cell.name for cell in missing_cells(session, share)])
    if not missing:
        if processes.is_first:
            _keep(folder, session.plan, suite_of(asdict(config.task)), config.eval.looks)
            yield from mine
        return
    cells = [cell for cell in mine if cell.name in missing]
    lm = _loaded(session, lm, described)
    processes.run_on_rank_zero(lambda: [*map(note, _grown(session))])
    entry = circumstances(config, session.plan, lm, processes.count) | ({"share": share.name} if share else {})
    entry["first_tokens"] = first_tokens(session.plan.cells, lm)
    check_fit(session.plan.cells, lm)
    _note_template(session, lm)

    def begin() -> None:
        stored = read_run(folder)
        check_same_run(stored.get("identity", {}), described, folder, session.stored.names)
        write_run(folder, record(stored, session.plan, described, entry))

    session.write(begin)
    with _asking(session, mine, cells, lm, answer_path(folder, described["model"])) as (cached, progress):
        for cell in mine:
            if cell.name in missing:
                progress.begin(cell)
                session.write(partial(_store, session.stored, cell.name, run_cell(cell, cached)))
                progress.end(cell)
            if processes.is_first:
                yield cell


def missing_cells(session: Session, share: CellShare | None = None) -> list[Cell]:
    """Returns the cells of a run that its folder lacks.

    Raises:
        UserError: if the folder contains another run, or a damaged file.
    """
    stored, config = session.stored, session.config
    stored_identity = stored.record.get("identity", {})
    check_same_run(stored_identity, session.identity, stored.path, stored.names)
    without = without_looks(config) or (HARNESS_TASKS if stored_identity.get("harness_tasks") else "")
    if without and max(stored.record.get("looks", 1), config.eval.looks) > 1:
        problem = f"a sample that grows does not support {without}, but {stored.path} would have both"
        raise UserError(problem, "give another folder with --out")
    return [cell for cell in _cells_of(session, share) if not stored.has(cell.name, cell.n)]


def _grown(session: Session) -> list[str]:
    """Returns a line on the intervals of a sample that grows by hand, unless its looks are planned."""
    record, evaluation = session.stored.record, session.config.eval
    before = config_of(record).get("eval", {}).get("sample") if session.stored.names else None
    planned = max(evaluation.looks, record.get("looks", 1)) > 1 or without_looks(session.config)
    if planned or evaluation.limit or not before or (evaluation.sample and evaluation.sample <= before):
        return []
    sizes = f"{before:,} to {f'{evaluation.sample:,}' if evaluation.sample else 'all'} questions"
    return [f"the sample grows from {sizes}; if you looked at its scores, give --eval.looks, so that intervals hold"]


def _cells_of(session: Session, share: CellShare | None) -> list[Cell]:
    return [cell for cell in session.plan.cells if share is None or cell.name in share.cells]


def _size(cells: Sequence[Cell], planned: int, stored_answers: int) -> str:
    """Returns the line on how much is to be run, and on answers that a stopped session has stored already."""
    generated = sum(cell.n_requests for cell in cells if UNTIL in cell.asks)
    likelihoods = sum(cell.n_requests for cell in cells) - generated
    kinds = [(likelihoods, f"likelihoods{_neutral(cells)}"), (generated, "generated answers")]
    counts = " and ".join(f"{number:,} {kind}" for number, kind in kinds if number)
    of_all = f"{len(cells):,} of {planned:,}" if len(cells) < planned else f"{planned:,}"
    documents = sum(cell.n for cell in cells)
    stored = f", {stored_answers:,} of which are stored" if stored_answers > 0 else ""
    return f"to run: {of_all} cell{'s' * (planned > 1)}, {documents:,} documents, {counts or 'no requests'}{stored}"


def _neutral(cells: Sequence[Cell]) -> str:
    """Returns the words on likelihoods of neutral prompts, and on those that are equal; empty for none."""
    number = sum(cell.n_neutral for cell in cells)
    same = grouped((cell for cell in cells if cell.shares), lambda cell: cell.shares).values()
    again = sum(cell.n_neutral for of in same for cell in of[1:])
    once = f", {again:,} of which repeat others and are asked once" if again else ""
    return f" ({number:,} of neutral prompts{once})" if number else ""


def _loaded(session: Session, lm: LanguageModel | None, described: dict[str, Any]) -> LanguageModel:
    """Returns the loaded model, after checking that all processes loaded equal ones; records its fingerprint."""
    config, processes = session.config, session.processes
    with processes.barrier():
        if lm is None:
            from afrieval.models.load import load_model

            lm = load_model(config.model, config.eval, processes)
        garbage.started()
        described["model"]["fingerprint"] = lm.fingerprint()
    processes.assert_equal_across_ranks(described["model"]["fingerprint"], "model")
    return lm


def _note_template(session: Session, lm: LanguageModel) -> None:
    """Says once if the model's chat template is not used where prompts could have it."""
    from afrieval.models.loading import unused_template

    asks = {kind for cell in session.plan.cells if not cell.complete for kind in cell.asks}
    if asks - {"loglikelihood_rolling"} and (line := unused_template(session.config.model, lm, UNTIL in asks)):
        session.processes.run_on_rank_zero(lambda: note(line))


@contextmanager
def _asking(
    session: Session, mine: Sequence[Cell], cells: Sequence[Cell], lm: LanguageModel, answers: Path
) -> "Iterator[tuple[CachedLM, RunProgress]]":
    """Provides a model that stores its answers, and the display of progress; checks the folder regularly."""
    from afrieval.models.response_cache import CachedLM
    from afrieval.run.progress import RunProgress

    evaluation, processes = session.config.eval, session.processes
    path = answers if evaluation.use_cache and processes.is_first else None
    bar, quiet = not evaluation.write_out, not processes.is_first
    shown = RunProgress(cells, bar=bar, quiet=quiet, spending=lm.spending, check=session.check)
    with AnswerFile(path) as answer_file, shown as progress:
        left = sum(cell.n_requests for cell in cells)
        stored_answers = min(len(answer_file) + left - sum(cell.n_requests for cell in mine), left)
        processes.run_on_rank_zero(lambda: note(_size(cells, len(mine), stored_answers)))
        lm.resume(answer_file.details())
        cached = CachedLM(lm, answer_file, progress.tick, processes, session.config.model.thinking_end or "")
        with _recorded_work(session, cached):
            yield cached, progress


@contextmanager
def _recorded_work(session: Session, cached: "CachedLM") -> Iterator[None]:
    """Adds requests, tokens and seconds to this session in run.yaml at the end, also if the run is stopped."""

    def store() -> None:
        if work := cached.work_so_far():
            stored = read_run(session.stored.path)
            *earlier, entry = stored["visits"]
            write_run(session.stored.path, {**stored, "visits": [*earlier, {**entry, "work": work}]})

    try:
        yield
    except BaseException:
        if session.processes.is_first:
            with suppress(UserError, OSError):  # what ended the run is what the user has to hear of
                session.check()
                store()
        raise
    session.write(store)


def run_cell(cell: Cell, model: LanguageModel) -> CellResult:
    """Asks a model all of a cell's requests, and returns what is to be stored."""
    job = cell.build(model)
    if job.task is None:
        return job.collect({})
    from lm_eval.evaluator import evaluate as harness_evaluate

    job.model.thinks = UNTIL in cell.asks
    with job.context():
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


def _store(run: "RunFolder", name: str, outcome: CellResult) -> None:
    """Writes a cell's outcome, samples last, since they mark it as done."""
    if outcome.record is not None:
        write_harness(run.path, name, outcome.record)
    write_samples(run.path, name, with_earlier_ratings(run, name, outcome.samples))


def _keep(folder: Path, plan: Plan, suite: dict[str, Any], looks: int) -> None:
    """Adds harness groups, the suite and the number of looks to run.yaml, if all tasks are stored already."""
    stored = read_run(folder)
    groups = stored.get("harness_groups", {})
    updated = {**stored, **({"harness_groups": groups | plan.groups} if plan.groups else {})}
    updated |= ({"suite": suite} if suite else {}) | ({"looks": looks} if looks > stored.get("looks", 1) else {})
    if updated != stored:
        write_run(folder, updated)
