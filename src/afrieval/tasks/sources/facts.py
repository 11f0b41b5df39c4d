"""What run.yaml keeps of a cell of a declared task."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from afrieval.tasks.cell import RunPart
from afrieval.tasks.meta import published

if TYPE_CHECKING:
    from afrieval.tasks.sources.templated import TemplatedCell


def identity(cell: "TemplatedCell") -> RunPart:
    """Returns what a cell's scores depend on, the model apart; what is named here must stay in a run folder."""
    evaluation = cell.config.eval
    fewshot = {
        "num_fewshot": cell.shots,
        "selection": evaluation.fewshot_selection,
        "seed": evaluation.fewshot_random_seed,
    }
    return {
        "fewshot": fewshot,
        "tasks": {cell.task.name: _task(cell)},
        **({"max_gen_toks": evaluation.max_gen_toks} if cell.generates else {}),
    }


def _task(cell: "TemplatedCell") -> RunPart:
    task, split = cell.task, cell.task.data.evaluate
    hashes = {split: cell.data.sha256}
    if cell.pool is not None:
        hashes[str(task.data.fewshot)] = cell.pool.sha256
    return {
        "version": task.version,
        "declaration": task.declaration,
        "answer_form": cell.answer_form,
        **({"evaluate": split, "fewshot": str(task.data.fewshot)} if cell.shots else {}),
        **({"evals": task.data.hub} if task.evals else {}),
        "prompts": {cell.prompt.language: {cell.prompt.number: cell.prompt.hash}},
        "data": {cell.language: hashes},
    }


def facts(cell: "TemplatedCell") -> RunPart:
    """Returns what a reader of a cell's samples has to know."""
    return {
        "declared": {cell.task.name: _declared(cell)},
        **({"fewshot_ids": {cell.name: _fewshot_ids(cell)}} if cell.shots else {}),
    }


def _declared(cell: "TemplatedCell") -> RunPart:
    task, split = cell.task, cell.task.data.evaluate
    unreviewed = cell.prompt_language == "native" and not cell.prompt.reviewed_by
    evals: RunPart = {"evals": task.data.hub, "macro": task.macro, "published": published(task)}
    evals |= {"rows": task.data.rows_of(split), "samples": cell.config.data.source == "samples"}
    return {
        "title": task.title,
        "labels": task.labels,
        "breakdowns": task.breakdowns,
        "parallel": task.parallel.get(split, []),
        "unreviewed": {cell.language: True} if unreviewed else {},
        "metrics": list(task.scoring.specs_of(cell.answer_form)),
        **({"derived": derived} if (derived := {n: asdict(d) for n, d in task.scoring.derived.items()}) else {}),
        **({"groups": task.groups} if task.groups else {}),
        **(evals if task.evals else {}),
    }


def _fewshot_ids(cell: "TemplatedCell") -> list[int] | str:
    """Returns the rows that stand before the documents, or where to find them if they differ."""
    if cell.config.eval.fewshot_selection == "per_document" or cell.task.apart:
        return "per document, in the sample file"
    return [example.id for example in cell.examples(cell.documents[0])]
