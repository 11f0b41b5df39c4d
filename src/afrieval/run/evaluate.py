"""Runs the missing cells of a run folder, and stores their samples."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from afrieval._util import garbage
from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval.config.checks import HARNESS_TASKS, without_looks
from afrieval.models.answer_file import AnswerFile
from afrieval.models.base import LanguageModel
from afrieval.models.registry import load_model
from afrieval.results.identity import check_same_run
from afrieval.results.run_files import harness_path, read_run, write_json, write_run, write_samples
from afrieval.results.run_folder import RunFolder
from afrieval.run.finish import config_of, summarise
from afrieval.run.manifest import answer_path, circumstances, record, suite_of
from afrieval.run.people_scores import with_earlier_ratings
from afrieval.run.progress import RunProgress
from afrieval.run.session import Session
from afrieval.tasks.cells.cell import Cell, CellResult

UNTIL = "generate_until"  # the requests for generated answers, as the harness names them


def evaluate(
    session: Session,
    lm: LanguageModel | None = None,
    on_cell: Callable[[Cell], None] = lambda cell: None,
) -> None:
    """Runs the missing cells of a run; one that is interrupted gets its summary as far as it got.

    Args:
        session: the run.
        lm: the loaded model; the one of the config is loaded if it is needed and none is given.
        on_cell: called with all of its cells in order, each once its samples are stored; of several processes, only
            the first calls it.

    Raises:
        UserError: if the folder contains another run or is gone, or the model cannot be loaded.
    """
    try:
        _evaluate(session, lm, on_cell if session.processes.is_first else lambda cell: None)
    except KeyboardInterrupt:
        # Of several jobs in one folder, none knows when it may summarise the cells of the others.
        if session.processes.is_first and session.stored.names and not session.share:
            summarise(session.stored)
        raise


def _evaluate(session: Session, lm: LanguageModel | None, on_cell: Callable[[Cell], None]) -> None:
    config, processes = session.config, session.processes
    described, mine = session.identity, session.cells
    questions = [(cell.name, cell.n) for cell in mine]
    # each process plans by itself; different files on two machines would mix the answers of two runs
    processes.assert_equal_across_ranks([questions, {k: v for k, v in described.items() if k != "model"}], "questions")
    missing = processes.run_on_rank_zero(lambda: [cell.name for cell in missing_cells(session)])
    if not missing:
        session.write(lambda: _complete(session))
        for cell in mine:
            on_cell(cell)
        return
    cells = [cell for cell in mine if cell.name in missing]
    lm = _loaded(session, lm, described)
    processes.run_on_rank_zero(lambda: _note_growth(session))
    entry = circumstances(asdict(config), config.model, session.plan, lm, processes.count)
    entry |= {"share": session.share} if session.share else {}
    entry["first_tokens"] = first_tokens(session.plan.cells, lm)
    for cell in session.plan.cells:
        cell.check_fit(lm)
    _note_template(session, lm)
    session.write(lambda: _begin(session, described, entry))
    from afrieval.models.response_cache import CachedLM  # a run without missing cells does not need the harness

    stores = config.eval.use_cache and processes.is_first
    path = answer_path(session.stored.path, described["model"]) if stores else None
    progress = RunProgress(
        cells,
        bar=not config.eval.write_out,
        quiet=not processes.is_first,
        spending=lm.spending,
        check=session.check,
    )
    with AnswerFile(path) as answers, progress:
        processes.run_on_rank_zero(lambda: note(_size(cells, mine, len(answers))))
        lm.resume(answers.details())  # what stored answers have cost counts towards the budget
        model = CachedLM(lm, answers, progress.tick, processes, config.model.thinking_end or "")
        try:
            for cell in mine:
                if cell.name in missing:
                    progress.begin(cell)
                    model.thinks = UNTIL in cell.asks
                    outcome = cell.run(model)
                    session.write(partial(_store, session.stored, cell.name, outcome))
                    progress.end(cell)
                on_cell(cell)
        except BaseException:
            # Each process comes here by itself. What ended the run is what the user has to hear of.
            if processes.is_first:
                with suppress(UserError, OSError):
                    session.check()
                    _add_work(session.stored.path, model.work_so_far())
            raise
        session.write(lambda: _add_work(session.stored.path, model.work_so_far()))


def _begin(session: Session, identity: dict[str, Any], entry: dict[str, Any]) -> None:
    """Adds the session to run.yaml; the files of new cells may follow."""
    folder = session.stored.path
    # read again: the model's fingerprint, which was not known at the first check, is part of the identity
    stored = read_run(folder)
    check_same_run(stored.get("identity", {}), identity, folder, session.stored.names)
    write_run(folder, record(stored, session.plan, identity, entry))


def _store(run: RunFolder, name: str, outcome: CellResult) -> None:
    """Writes the samples of a cell, last, since they mark it as done."""
    if outcome.record is not None:
        write_json(harness_path(run.path, name), outcome.record)
    write_samples(run.path, name, with_earlier_ratings(run, name, outcome.samples))


def _add_work(folder: Path, work: dict[str, Any]) -> None:
    """Adds requests, tokens and seconds to this session in run.yaml."""
    if work:
        stored = read_run(folder)
        *earlier, entry = stored["visits"]
        write_run(folder, {**stored, "visits": [*earlier, {**entry, "work": work}]})


def _complete(session: Session) -> None:
    """Adds harness groups, the suite and the number of looks to run.yaml, if all cells are stored already."""
    config, plan, stored = session.config, session.plan, read_run(session.stored.path)
    groups = {"harness_groups": stored.get("harness_groups", {}) | plan.groups} if plan.groups else {}
    suite = suite_of(asdict(config.task))
    looks = {"looks": config.eval.looks} if config.eval.looks > stored.get("looks", 1) else {}
    updated = {**stored, **groups, **({"suite": suite} if suite else {}), **looks}
    if updated != stored:
        write_run(session.stored.path, updated)


def missing_cells(session: Session) -> list[Cell]:
    """Returns the cells of a run that its folder lacks.

    Raises:
        UserError: if the folder contains another run, or a damaged file.
    """
    stored, config = session.stored, session.config
    stored_identity = stored.record.get("identity", {})
    check_same_run(stored_identity, session.identity, stored.path, stored.names)
    without = without_looks(config.task) or (HARNESS_TASKS if stored_identity.get("harness_tasks") else "")
    if without and max(stored.record.get("looks", 1), config.eval.looks) > 1:
        problem = f"a sample that grows does not support {without}, but {stored.path} would have both"
        raise UserError(problem, "give another folder with --out")
    return [cell for cell in session.cells if not stored.has(cell.name, cell.n)]


def _note_growth(session: Session) -> None:
    """Says what the intervals of a sample need that grows by hand, unless its looks are planned."""
    record, evaluation = session.stored.record, session.config.eval
    before = config_of(record).get("eval", {}).get("sample") if session.stored.names else None
    planned = max(evaluation.looks, record.get("looks", 1)) > 1 or without_looks(session.config.task)
    if planned or evaluation.limit or not before or (evaluation.sample and evaluation.sample <= before):
        return
    sizes = f"{before:,} to {f'{evaluation.sample:,}' if evaluation.sample else 'all'} questions"
    note(f"the sample grows from {sizes}; if you looked at its scores, give --eval.looks, so that intervals hold")


def _size(cells: Sequence[Cell], planned: Sequence[Cell], stored_answers: int) -> str:
    """Returns the line on how much is to be run, and on answers that a stopped session has stored already.

    Args:
        cells: the cells to run.
        planned: these and the ones that are done.
        stored_answers: to requests of all of them.
    """
    requests = sum(cell.n_requests for cell in cells)
    generated = sum(cell.n_requests for cell in cells if UNTIL in cell.asks)
    neutral, once = sum(cell.n_neutral for cell in cells), ""
    same = grouped((cell for cell in cells if cell.shares), lambda cell: cell.shares).values()
    if again := sum(cell.n_neutral for sharing in same for cell in sharing[1:]):
        once = f", {again:,} of which repeat others and are asked once"
    of_neutral = f" ({neutral:,} of neutral prompts{once})" if neutral else ""
    kinds = [(requests - generated, f"likelihoods{of_neutral}"), (generated, "generated answers")]
    counts = " and ".join(f"{number:,} {kind}" for number, kind in kinds if number)
    of_all = f"{len(cells):,} of {len(planned):,}" if len(cells) < len(planned) else f"{len(planned):,}"
    documents = sum(cell.n for cell in cells)
    # of the stored answers, as many as there are requests belong to cells that are done
    left = min(stored_answers + requests - sum(cell.n_requests for cell in planned), requests)
    stored = f", {left:,} of which are stored" if left > 0 else ""
    return (
        f"to run: {of_all} cell{'s' * (len(planned) > 1)}, {documents:,} documents, {counts or 'no requests'}{stored}"
    )


def _loaded(session: Session, lm: LanguageModel | None, described: dict[str, Any]) -> LanguageModel:
    """Returns the loaded model, after checking that all processes loaded equal ones; records its fingerprint."""
    config, processes = session.config, session.processes
    with processes.barrier():
        if lm is None:
            lm = load_model(config.model, config.eval, processes)
        garbage.started()
        described["model"]["fingerprint"] = lm.fingerprint()
    processes.assert_equal_across_ranks(described["model"]["fingerprint"], "model")
    return lm


SHOWN = 8


def first_tokens(cells: Sequence[Cell], lm: LanguageModel) -> dict[str, list[int]]:
    """Returns task to the ids of the first tokens of one of its prompts, if the tokenizer is known.

    Raises:
        UserError: if complete prompts would not begin with exactly one beginning-of-sequence token:
            scores of Llama 3 would drop by some points without any other sign.
    """
    begun: dict[str, list[int]] = {}
    for cell in cells if lm.can.count_tokens else ():
        task = cell.key.task
        if task in begun or (prompt := cell.first_prompt(lm)) is None:
            continue
        tokens = begun[task] = list(lm.tok_encode(prompt))
        bos = getattr(lm.tokenizer, "bos_token_id", None)
        if not cell.complete or bos is None:  # a model without such a token needs none
            continue
        if tokens[:1] != [bos]:
            problem = f"prompts of {task} would not begin with the beginning-of-sequence token"
            raise UserError(problem, "give --model.add_bos_token true")
        if tokens[1:2] == [bos]:
            problem = f"prompts of {task} would begin with two beginning-of-sequence tokens"
            raise UserError(problem, "give --model.add_bos_token false; the prompts already include one")
    return {task: tokens[:SHOWN] for task, tokens in begun.items()}


def _note_template(session: Session, lm: LanguageModel) -> None:
    """Says once if the model's chat template is not used where prompts could have it."""
    from afrieval.models.loading import unused_template

    asks = {kind for cell in session.plan.cells if not cell.complete for kind in cell.asks}
    if asks - {"loglikelihood_rolling"} and (line := unused_template(session.config.model, lm, UNTIL in asks)):
        session.processes.run_on_rank_zero(lambda: note(line))
