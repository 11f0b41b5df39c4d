"""Runs the cells that a run folder lacks, one harness call per cell, and stores their samples."""

import hashlib
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from lm_eval.evaluator import evaluate as harness_evaluate

from afrieval import stopping
from afrieval.config.settings import RunConfig
from afrieval.harness.cell import run_harness_cell
from afrieval.harness.plan import HarnessCell
from afrieval.models.answer_file import AnswerFile
from afrieval.models.load import load_model
from afrieval.models.processes import ALONE, Processes
from afrieval.models.response_cache import CachedLM, PairsLM, Tick
from afrieval.results.files import (
    harness_path,
    read_cell,
    read_harness,
    read_run,
    sample_path,
    write_harness,
    write_run,
    write_samples,
)
from afrieval.results.identity import check_same_run, merged
from afrieval.results.samples import Sample
from afrieval.run.limits import generation
from afrieval.run.manifest import circumstances, identity
from afrieval.run.plan import Plan
from afrieval.run.preflight import check_fit, first_tokens
from afrieval.run.progress import Progress
from afrieval.scoring.choice import best
from afrieval.scoring.extract.choice import final_answer
from afrieval.scoring.scorers import read_letter_or_word
from afrieval.tasks.cell import Cell, cell_task
from afrieval.tasks.documents import Document
from afrieval.tasks.meta import published
from afrieval.tasks.spec import TaskSpec

AfterCell = Callable[[Cell | HarnessCell], None]
EVERY = 1  # seconds between two looks at the run folder; on a network it takes a moment


def evaluate(
    config: RunConfig,
    plan: Plan,
    folder: Path,
    after_cell: AfterCell,
    processes: Processes = ALONE,
    check: Callable[[], None] = lambda: None,
) -> None:
    """Runs what is missing of a plan in a locked run folder.

    Args:
        config: the merged config.
        plan: its cells.
        folder: the run folder.
        after_cell: called with each cell of the plan once its samples are stored, in the plan's order.
        processes: those that share the work; the first alone reads and writes the folder and calls after_cell.
        check: called now and then, and before anything is stored; raises UserError where the folder is gone.

    Raises:
        UserError: if the folder holds another run or is gone, or the model cannot be loaded.
    """
    described = identity(config, plan)
    questions = [(cell.name, len(cell.documents)) for cell in plan.cells]
    questions += [(cell.name, cell.n) for cell in plan.harness.cells]
    processes.agree([questions, {k: v for k, v in described.items() if k != "model"}], "questions")
    missing = processes.first(lambda: _missing(folder, described, plan))
    if not missing:
        if processes.is_first:
            _keep_groups(folder, plan)
            for cell in plan.everything:
                after_cell(cell)
        return
    lm = _load(config, processes, described)
    visit = circumstances(config, plan, lm, processes.count)
    visit["first_tokens"] = first_tokens(plan.cells, lm, config)
    check_fit(plan.cells, lm, config)
    processes.first(_checked(check, lambda: _begin(config, plan, folder, described, visit)))
    kept = _answer_path(folder, described["model"]) if config.eval.use_cache and processes.is_first else None
    with (
        AnswerFile(kept) as answer_file,
        Progress(
            [cell for cell in plan.everything if cell.name in missing],
            bar=not config.eval.write_out,
            quiet=not processes.is_first,
        ) as progress,
    ):
        cached = CachedLM(lm, answer_file, _looking_after(progress.tick, check), processes)
        for cell in plan.everything:
            if cell.name in missing:
                progress.begin(cell)
                processes.first(_checked(check, _run(cell, cached, config, folder)))
                progress.end(cell)
            if processes.is_first:
                after_cell(cell)


def _checked(check: Callable[[], None], store: Callable[[], None]) -> Callable[[], None]:
    """Returns what stores something, once it is sure where."""

    def checked() -> None:
        check()
        store()

    return checked


def _looking_after(tick: Tick, check: Callable[[], None]) -> Tick:
    """Returns a tick that also checks, now and then, that it is of use to go on."""
    latest = time.monotonic()

    def ticked(answered: int) -> None:
        nonlocal latest
        tick(answered)
        stopping.check()
        if time.monotonic() > latest + EVERY:
            check()
            latest = time.monotonic()

    return ticked


def _missing(folder: Path, described: dict[str, Any], plan: Plan) -> list[str]:
    """Returns the names of the cells that the folder lacks, if it is of this run."""
    check_same_run(read_run(folder).get("identity", {}), described, folder)
    return [cell.name for cell in plan.everything if not is_done(folder, cell)]


def _keep_groups(folder: Path, plan: Plan) -> None:
    """Adds groups of the harness to run.yaml whose tasks are all there already."""
    stored = read_run(folder)
    known = stored.get("harness_groups", {})
    if not plan.harness.groups.items() <= known.items():
        write_run(folder, {**stored, "harness_groups": known | plan.harness.groups})


def _load(config: RunConfig, processes: Processes, described: dict[str, Any]) -> Any:
    """Returns the model, the same in all processes, and describes it."""
    with processes.together():
        lm = load_model(config.model, config.eval, processes)
        described["model"]["fingerprint"] = lm.fingerprint()
    processes.agree(described["model"]["fingerprint"], "model")
    return lm


def _begin(config: RunConfig, plan: Plan, folder: Path, described: dict[str, Any], visit: dict[str, Any]) -> None:
    """Writes run.yaml, if the folder is of this run."""
    stored = read_run(folder)
    check_same_run(stored.get("identity", {}), described, folder)
    write_run(folder, _run_record(config, plan, stored, described, visit))


def _run(cell: Cell | HarnessCell, lm: CachedLM, config: RunConfig, folder: Path) -> Callable[[], None]:
    """Runs a cell, and returns what stores it."""
    if not isinstance(cell, HarnessCell):
        return partial(write_samples, folder, cell.name, run_cell(cell, lm, config))
    record, samples = run_harness_cell(cell, PairsLM(lm), config)

    def store() -> None:
        write_harness(folder, cell.name, record)
        write_samples(folder, cell.name, samples)  # which makes it done

    return store


def _answer_path(folder: Path, model: dict[str, Any]) -> Path:
    """Returns the file of a model's answers; another model, or the same one run otherwise, has another."""
    digest = hashlib.sha256(json.dumps(model, sort_keys=True).encode()).hexdigest()[:16]
    return folder / f"answers_{digest}.jsonl"


def _run_record(
    config: RunConfig, plan: Plan, stored: dict[str, Any], described: dict[str, Any], visit: dict[str, Any]
) -> dict[str, Any]:
    """Returns what run.yaml says from now on."""
    fewshot = {cell.name: _fewshot_ids(cell) for cell in plan.cells} if config.eval.shots else {}
    groups = stored.get("harness_groups", {}) | plan.harness.groups
    declared = {cell.task.name: _declared(cell.task, config) for cell in plan.cells}
    for cell in plan.cells:
        if cell.prompt_language == "native" and not cell.prompt.reviewed_by:
            declared[cell.task.name]["unreviewed"][cell.language] = True
    return {
        "identity": merged(stored.get("identity", {}), described),
        "fewshot_ids": {**stored.get("fewshot_ids", {}), **fewshot},
        **({"harness_groups": groups} if groups else {}),
        "declared": merged(stored.get("declared", {}), declared),
        "cells": sorted({*stored.get("cells", []), *(cell.name for cell in plan.everything)}),
        "visits": [*stored.get("visits", []), visit],
    }


def _declared(task: TaskSpec, config: RunConfig) -> dict[str, Any]:
    """Returns what a reader of the samples has to know of a task."""
    evals: dict[str, Any] = {"evals": task.data.hub, "macro": task.macro, "published": published(task)}
    evals |= {"rows": task.data.rows_of(task.data.evaluate), "samples": config.data.source == "samples"}
    return {
        "title": task.title,
        "labels": task.labels,
        "breakdowns": task.breakdowns,
        "parallel": task.parallel.get(task.data.evaluate, []),
        "unreviewed": {},
        **(evals if task.evals else {}),
    }


def _fewshot_ids(cell: Cell) -> list[int] | str:
    """Returns the rows that stand before the documents, or where to find them if they differ."""
    if cell.fewshot_selection == "per_document" or cell.task.apart:
        return "per document, in the sample file"
    return [example.id for example in cell.examples(cell.documents[0])]


def is_done(folder: Path, cell: Cell | HarnessCell) -> bool:
    """Tells whether the folder has a cell with at least as many documents as asked for.

    Raises:
        UserError: if the cell's file is damaged.
    """
    if not os.path.lexists(sample_path(folder, cell.name)):
        return False
    samples = read_cell(folder, cell.name)
    if isinstance(cell, HarnessCell):
        n = samples[-1]["doc_id"] + 1
        return harness_path(folder, cell.name).exists() and read_harness(folder, cell.name)["n"] == n >= cell.n
    return len(samples) >= len(cell.documents)


def run_cell(cell: Cell, lm: Any, config: RunConfig) -> list[Sample]:
    """Returns the samples of a cell, by document; documents that cannot be scored have no answers."""
    scorable = [d for d in cell.documents if d.gold is not None]
    samples: dict[int, Sample] = {}
    if scorable:
        chat = config.model.chat_template
        generate = cell.answer_form == "generate"
        task = cell_task(cell, scorable, generation(cell, lm, config) if generate else None)
        results = harness_evaluate(
            lm,
            {"tasks": {cell.name: task}, "groups": {}},
            bootstrap_iters=0,
            log_samples=True,
            apply_chat_template=chat,
            fewshot_as_multiturn=chat,
            system_instruction=cell.prompt.system if chat else None,
        )
        samples = {s["doc"]["id"]: s for s in results["samples"][cell.name]}
    return [_sample(cell, d, samples.get(d.id), config) for d in cell.documents]


def _sample(cell: Cell, document: Document, answered: Sample | None, config: RunConfig) -> Sample:
    """Returns the line of a document: the harness' fields, then ours."""
    unanswered: Sample = {"doc": {"id": document.id, **document.fields}, "target": None}
    unanswered |= {"arguments": [], "resps": [], "filtered_resps": [], "metrics": []}
    sample = dict(answered or unanswered)
    if not config.eval.log_samples:
        sample = {k: v for k, v in sample.items() if k not in ("doc", "arguments")}
    return {
        **sample,
        "doc_id": document.id,
        "task": cell.task.name,
        "language": cell.language,
        "prompt": cell.prompt.number,
        "prompt_language": cell.prompt_language,
        "fewshot_ids": [e.id for e in cell.examples(document)] if answered else [],
        "defect": document.defect,
        "n_choices": len(document.choices),
        **_choice(cell, document, answered, config),
        **({"published_correct": document.verdict} if document.verdict is not None else {}),
        **({"part": document.fields[cell.task.macro]} if cell.task.macro else {}),
        **({"key": document.key} if document.key else {}),
    }


def _choice(cell: Cell, document: Document, answered: Sample | None, config: RunConfig) -> dict[str, Any]:
    """Returns the right choice and the one picked, by number, whatever words stand for them."""
    if cell.task.kind != "multiple_choice" or not answered:
        return {}
    resps = answered["resps"]
    if cell.answer_form == "generate":
        text = final_answer(resps[0][0], config.model.thinking_end or "")
        picked = read_letter_or_word(cell.task, cell.prompt, document, text)
    else:
        picked = best([answers[0][0] for answers in resps])
    return {"gold": document.gold, "picked": picked}
