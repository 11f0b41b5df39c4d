"""The parts of run.yaml that describe a cell of a declared task."""

from dataclasses import asdict

from afrieval.scoring.extract import switches
from afrieval.tasks.cells.cell import RunPart
from afrieval.tasks.cells.questions import Questions
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.declaration.meta import published
from afrieval.tasks.declaration.presets import extract_of


def identity(questions: Questions) -> RunPart:
    """Returns everything except the model that a cell's scores depend on; fixed in a run folder."""
    evaluation = questions.config.eval
    fewshot = {
        "num_fewshot": evaluation.shots,
        "selection": evaluation.fewshot_selection,
        "seed": evaluation.fewshot_random_seed,
    }
    return {
        "fewshot": fewshot,
        "tasks": {questions.task.name: _task(questions)},
        **questions.rows.identity,
        **({"max_gen_toks": evaluation.max_gen_toks} if questions.generates else {}),
    }


def _task(questions: Questions) -> RunPart:
    task, split = questions.task, questions.task.data.evaluate
    hashes = {split: questions.data.sha256}
    if questions.pool is not None:
        hashes[str(task.data.fewshot)] = questions.pool.sha256
    pool = questions.pool.documents if questions.pool and questions.shots else []
    # Prompts of the paper differ between the languages that they are used for.
    language = questions.language if questions.prompt.paper else questions.prompt.language
    return {
        "version": task.version,
        **({"extract": options | task.switched} if (options := switches(extract_of(task))) else {}),
        "declaration": task.declaration,
        **({"options": {**task.chosen}} if task.chosen else {}),
        "answer_form": questions.answer_form,
        **({"evaluate": split, "fewshot": str(task.data.fewshot)} if questions.shots else {}),
        **({"no_examples": {questions.language: [d.id for d in pool if d.defect]}} if pool else {}),
        **({"shots": questions.shots} if task.examples.all else {}),
        **({"evals": task.data.hub} if task.evals else {}),
        "prompts": {language: {questions.prompt.id: questions.prompt.hash}},
        "data": {questions.language: hashes},
    }


def facts(questions: Questions) -> RunPart:
    """Returns the task's declaration and the few-shot rows, for readers of a cell's samples."""
    return {
        "declared": {questions.task.name: _declared(questions)},
        **({"fewshot_ids": {questions.name: _fewshot_ids(questions)}} if questions.shots else {}),
    }


def _declared(questions: Questions) -> RunPart:
    task, split = questions.task, questions.task.data.evaluate
    unreviewed = questions.prompt_language == "native" and not questions.prompt.reviewed_by
    return {
        "title": task.title,
        "data": task.data.hub,
        "labels": task.labels,
        "breakdowns": task.breakdowns,
        "parallel": task.parallel.get(split, []),
        "unreviewed": {questions.language: True} if unreviewed else {},
        "sample_rows": {questions.language: questions.config.data.source == SAMPLES},
        "defective": {questions.language: questions.data.defect} if questions.data.defect else {},
        "test_set": {questions.language: questions.rows.of},
        **({"extract": {**task.switched}} if task.switched else {}),
        **({"options": {**task.chosen}} if task.chosen else {}),
        "metrics": list(task.scoring.specs_of(questions.answer_form)),
        **({"signatures": signatures} if (signatures := task.scoring.signatures_of(questions.answer_form)) else {}),
        **({"contrast": task.scoring.contrast} if task.scoring.contrast else {}),
        **({"derived": derived} if (derived := {n: asdict(d) for n, d in task.scoring.derived.items()}) else {}),
        **({"groups": task.groups} if task.groups else {}),
        **(
            {"grouped_fields": grouped} if (grouped := {n: asdict(of) for n, of in task.grouped_fields.items()}) else {}
        ),
        **({"baselines": {questions.language: questions.baselines}} if questions.baselines else {}),
        **({"macro": task.macro} if task.macro else {}),
        **({"probabilities": task.probabilities} if task.probabilities else {}),
        **(
            {"evals": task.data.hub, "published": published(task), "rows": task.data.rows_of(split)}
            if task.evals
            else {}
        ),
    }


def _fewshot_ids(questions: Questions) -> list[int] | str:
    """Returns the few-shot rows, or where to find them if they differ between documents."""
    same = questions.task.examples.same
    if questions.config.eval.fewshot_selection == "per_document" or questions.task.apart:
        return "per document, in the sample file"
    if same:
        return f"per {', '.join(same)}, in the sample file"
    return [example.id for example in questions.examples(questions.documents[0])]
