"""Plans the cells of declared tasks, with all rows loaded and prompts rendered, and says what to know of them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from afrieval._util.errors import UserError, choices
from afrieval.config.settings import RunConfig, TaskConfig
from afrieval.languages import ENGLISH
from afrieval.models.registry import backend_of
from afrieval.tasks.cells.cell import CellSettings, Plan
from afrieval.tasks.cells.questions import UNENDED
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.baselines import baselines
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.lock import DataLock, read_lock
from afrieval.tasks.data.splits import (
    Split,
    check_source,
    load_split,
    missing_files,
    shown_source,
    source_of,
    where_from,
)
from afrieval.tasks.declaration.known_facts import known_defects
from afrieval.tasks.declaration.selection import answer_form, chosen_tasks, named_languages, replaced
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.paper import chosen_paper_prompts, left_out_of_paper
from afrieval.tasks.prompts.prompts import Prompt, PromptFiles, suits, telling


def _notes(cells: Sequence[TaskCell], pads: bool) -> list[str]:
    """Returns lines about metrics, rows and data that a user should know of before the run.

    Args:
        cells: of the run.
        pads: whether the model's backend pads the prompts of a batch.
    """
    splits = [split for cell in cells for split in (cell.data, cell.pool)]
    unparsed = list(dict.fromkeys(split.note for split in splits if split and split.note))
    replacements = dict.fromkeys(filter(None, (replaced(cell.task) for cell in cells)))
    notes = [*replacements, *_unscored_by(cells), *unparsed, *_excerpts(cells), *_keyless(cells), *_suspected(cells)]
    complete = [cell for cell in cells if cell.complete]
    notes += [line for cell in complete for line in _unscored_notes(cell)]
    padded = [cell.task.name for cell in complete if cell.answer_form == "generate"]
    if padded and pads:
        notes.append(
            f"hf pads the prompts of a batch to equal length, which may change scores slightly "
            f"({', '.join(padded)}); model_type vllm does not pad"
        )
    return notes


def _unscored_by(cells: Sequence[TaskCell]) -> list[str]:
    """Returns a line for each metric that cannot be computed, with the languages of which it cannot."""
    lines: dict[str, dict[str, None]] = {}
    for cell in cells:
        for metric in cell.task.scoring.metrics:
            if why := metric.missing(cell.task.answers_in(cell.language)):
                lines.setdefault(f"{cell.task.name}: {metric.name} is left out, {why}", {})[cell.language] = None
    return [f"{line} ({', '.join(languages)})" for line, languages in lines.items()]


def _excerpts(cells: Sequence[TaskCell]) -> list[str]:
    """Returns a line for each task with only a small part of its rows in the data folder."""
    parts_by_task: dict[str, dict[str, None]] = {}
    for cell in cells:
        data = cell.task.data
        for name, split in ((data.evaluate, cell.data), (data.fewshot, cell.pool)):
            if split and split.excerpt:
                part = f"{cell.language} {name} {len(split.documents)} of {split.excerpt}"
                parts_by_task.setdefault(cell.task.name, {})[part] = None
    return [
        f"{task}: the data folder has only part of the rows: {', '.join(parts)}"
        for task, parts in parts_by_task.items()
    ]


def _keyless(cells: Sequence[TaskCell]) -> list[str]:
    """Returns a line for each language with rows that lack a unique key, in tasks that declare one."""
    lines = {}
    for cell in cells:
        lacking = [d.id for d in cell.documents if not d.key] if cell.task.key else []
        if lacking:
            how = "are not paired across languages" if len(lacking) < len(cell.documents) else "use the row number"
            where = f"{cell.task.name}, {cell.language}: {len(lacking)} of {len(cell.documents)} rows"
            lines[cell.task.name, cell.language] = f"{where} have no unique key and {how} (row {_listed(lacking)})"
    return list(lines.values())


def _suspected(cells: Sequence[TaskCell]) -> list[str]:
    """Returns a line for each translated test set whose original has a known defect as a whole."""
    lines: dict[str, None] = {}
    for cell in cells:
        task, language = cell.task, cell.language
        for defect in known_defects(task.direct) if task.direct else []:
            if defect.whole and (defect.language, defect.split) == (language, task.data.evaluate):
                line = f"{task.name}, {language}: the original has a known defect, which its translation may share"
                lines[f"{line}: {defect.what}"] = None
    return list(lines)


def _unscored_notes(cell: TaskCell) -> list[str]:
    reasons: dict[str, list[int]] = {}
    for document in cell.documents:
        if document.gold is None and document.id not in cell.data.unparsed:
            reasons.setdefault(document.defect, []).append(document.id)
    return [
        f"{cell.task.name}: {len(rows)} of {len(cell.documents)} rows cannot be scored, {why} (row {_listed(rows)})"
        for why, rows in reasons.items()
    ]


def _listed(rows: list[int]) -> str:
    return f"{', '.join(map(str, rows[:10]))}{' ...' if rows[10:] else ''}"


FOR_EXAMPLES = ", needed for examples"  # at the end of a line about rows that are missing


def plan_declared(config: RunConfig, likelihoods: bool = True) -> Plan:
    """Returns the cells of a config's declared tasks.

    Raises:
        UserError: for an unknown task, language or prompt, missing data, too many shots, or a
            prompt that cannot be filled in.
    """
    cells, left_out = declared_cells(config, likelihoods)
    pads = config.model.model_name is not None and backend_of(config.model.model_type).has_engine
    return Plan([*cells], left_out, _notes(cells, pads))


def declared_cells(config: RunConfig, likelihoods: bool = True) -> tuple[list[TaskCell], list[str]]:
    """Returns the cells of a config's declared tasks, and a line for each omission."""
    lock = read_lock()
    settings = CellSettings.of_run(config.model, config.eval, config.data.source)
    by_task = [task_cells(spec, config.task, settings, lock, likelihoods) for spec in chosen_tasks(config)]
    return [cell for cells, _ in by_task for cell in cells], [line for _, lines in by_task for line in lines]


def task_cells(
    spec: TaskSpec, task: TaskConfig, settings: CellSettings, lock: DataLock, likelihoods: bool = True
) -> tuple[list[TaskCell], list[str]]:
    """Returns the cells of a task, and a line for each omission."""
    form = answer_form(spec, task, likelihoods)
    if task.suite and (split_files := missing_files(spec, settings.source)):
        return [], [f"{spec.name}: the folder {settings.source} does not contain {split_files.repository}"]
    for metric in spec.scoring.metrics:
        with suppress(UserError):  # a note says which metrics are left out
            metric.fetch()
    if not spec.scoring.metrics_of(form):
        why = next(filter(None, (metric.missing("") for metric in spec.scoring.metrics)), "no metric applies")
        if task.suite:
            return [], [f"{spec.name}: {why}"]
        raise UserError(f"{spec.name} cannot be scored: {why}", "remove the task, or provide what the metric needs")
    check_source(spec, settings.source)
    languages, missing = _languages(spec, task, settings, lock)
    files = PromptFiles(spec)
    cells: list[TaskCell] = []
    unprompted: list[str] = []
    absent: list[str] = []
    for language, (data, pool) in languages.items():
        prompts = chosen_prompts(spec, task, form, language, files)
        if not prompts:
            absent.append(language)
        if task.prompt_language != "eng" and language != ENGLISH and "native" not in dict(prompts):
            unprompted.append(language)
        # The suite's own rows are too few to tell what a model gets that does not read.
        baseline = baselines(spec, language, data.documents) if prompts and settings.source != SAMPLES else None
        floors = baseline.scores if baseline else {}
        cells += [
            TaskCell(spec, language, prompt, of, form, data, pool, settings, files, floors) for of, prompt in prompts
        ]
    _check(cells)
    lacking = [code for code in task.languages or [] if code not in spec.languages]
    left_out = [f"{spec.name}: not in the data set: {', '.join(lacking)}"] if lacking else []
    left_out += [
        f"{spec.name}: no {split} rows for {', '.join(codes)}{'' if split == spec.data.evaluate else FOR_EXAMPLES}"
        for split, codes in missing.items()
    ]
    left_out += [f"{spec.name}: no native prompts for {', '.join(unprompted)}"] if unprompted else []
    left_out += left_out_of_paper(spec, task, absent)
    return cells, left_out


def _languages(
    spec: TaskSpec, task: TaskConfig, settings: CellSettings, lock: DataLock
) -> tuple[dict[str, tuple[Split, Split | None]], dict[str, list[str]]]:
    """Returns the splits of each language with data, and the other languages by missing split."""
    splits: dict[str, tuple[Split, Split | None]] = {}
    missing: dict[str, list[str]] = {}
    source = source_of(spec, settings.source)
    for language in named_languages(spec, task):
        data = load_split(spec, language, spec.data.evaluate, settings.source, lock)
        pool = _pool(spec, language, settings, lock)
        if data is not None and (pool is not None or not (settings.shots or spec.examples.all)):
            splits[language] = (data, pool)
            continue
        lacking = spec.data.evaluate if data is None else str(spec.data.fewshot)
        if spec.prompt:
            raise UserError(
                f"{shown_source(source)} lacks the {lacking} rows of {spec.name}",
                where_from(spec, language, lacking, source),
            )
        if task.demanded:
            cure = where_from(spec, language, lacking, source)
            raise UserError(
                f"{shown_source(source)} has no {lacking} rows of {spec.name} for {language}",
                f"remove {language} from task.languages, {'give --eval.num_fewshot 0, ' if data else ''}or {cure}",
            )
        missing.setdefault(lacking, []).append(language)
    return splits, missing


def _pool(spec: TaskSpec, language: str, settings: CellSettings, lock: DataLock) -> Split | None:
    """Returns the few-shot split; without shots only if its worked solutions limit answers."""
    shots, split = settings.shots, spec.data.fewshot
    if shots and split is None:
        raise UserError(f"{spec.name} has no few-shot examples", "give --eval.num_fewshot 0")
    if split is None or not (shots or spec.worked or spec.examples.all):
        return None
    pool = load_split(spec.direct or spec, spec.text_language or language, split, settings.source, lock)
    if shots and pool and spec.chain_of_thought and not any(d.worked for d in pool.documents):
        raise UserError(
            f"{spec.name} has no worked solutions in {language} for chain-of-thought examples",
            f"give --eval.num_fewshot 0, or remove {language} from task.languages",
        )
    return pool


def chosen_prompts(
    spec: TaskSpec, task: TaskConfig, form: str, language: str, files: PromptFiles
) -> list[tuple[str, Prompt]]:
    """Returns (prompt language, prompt) pairs; for English, native is English and runs once.

    Raises:
        UserError: for a prompt that the task does not have, or that does not suit the answer form.
    """
    if task.prompt_set == "paper":
        prompts = chosen_paper_prompts(spec, task, language)
        if spec.choices and form != "text" and (blind := [p for p in prompts if "choices" not in p.template]):
            raise UserError(
                f"{spec.name}: {blind[0].source} shows no choices, but task.answer_form is {form}",
                "give --task.answer_form text, which scores the texts of the choices",
            )
        return [("eng", prompt) for prompt in prompts]
    prompt_language = task.prompt_language
    chosen: list[tuple[str, Prompt]] = []
    if prompt_language in ("eng", "both") or language == ENGLISH:
        chosen += [("eng", p) for p in _numbered(spec, task, form, files.load(ENGLISH), ENGLISH)]
    if prompt_language in ("native", "both") and language != ENGLISH:
        has_native = language in files.languages and set(task.prompts or ()) <= set(files.load(language))
        if not (task.demanded or has_native):
            return chosen
        chosen += [("native", p) for p in _numbered(spec, task, form, files.load(language), language)]
    return chosen


def check_prompts(spec: TaskSpec, task: TaskConfig) -> None:
    """Refuses numbers of prompts that a task does not have; needs neither data nor a model."""
    languages = named_languages(spec, task)
    if not (task.prompts and languages and spec.prompted):
        return
    if task.prompt_set == "paper":
        chosen_paper_prompts(spec, task, languages[0])
        return
    prompt_language, files = task.prompt_language, PromptFiles(spec)
    native = [code for code in task.demanded if prompt_language != "eng"]
    for language in [*([ENGLISH] if prompt_language != "native" else []), *native]:
        _check_numbers(spec, task.prompts, files.load(language), language)


def _check_numbers(spec: TaskSpec, numbers: Sequence[int] | None, prompts: Mapping[int, Prompt], language: str) -> None:
    for number in numbers or []:
        if number not in prompts:
            raise UserError(f"{spec.name} has no prompt {number} in {language}", choices([*prompts]))


def _numbered(spec: TaskSpec, task: TaskConfig, form: str, prompts: dict[int, Prompt], language: str) -> list[Prompt]:
    _check_numbers(spec, task.prompts, prompts, language)
    suitable = [number for number, prompt in prompts.items() if suits(prompt, form)]
    if unfit := [number for number in task.prompts or [] if number not in suitable]:
        shown = "letters" if prompts[unfit[0]].lettered else "no letters"
        problem = f"prompt {unfit[0]} of {spec.name} shows {shown}, but task.answer_form is {form}"
        cure = f"--task.prompts {','.join(map(str, suitable))}, or " if suitable else ""
        raise UserError(problem, f"give {cure}another --task.answer_form")
    return [prompts[number] for number in dict.fromkeys(task.prompts or suitable)]


def _check(cells: Sequence[TaskCell]) -> None:
    """Selects examples and renders prompts, so that errors do not occur hours into a run."""
    selected = [[e for d in cell.of_each_kind for e in cell.examples(d)] for cell in cells]
    for cell, examples in zip(cells, selected, strict=True):
        for document in telling(cell.prompt, [*cell.scorable, *examples]):
            cell.header(document)
            cell.text(document)
        cell.scorer(UNENDED)  # reads native files for the words that announce answers
        cell.try_user_code()
