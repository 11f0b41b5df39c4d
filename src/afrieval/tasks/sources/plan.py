"""Plans the cells of declared tasks, with all rows loaded and all prompts rendered."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from afrieval.config.settings import RunConfig
from afrieval.data.files import SAMPLES
from afrieval.data.lock import DataLock, read_lock
from afrieval.errors import UserError, choices
from afrieval.languages import ENGLISH
from afrieval.tasks.baselines import Scores, baselines
from afrieval.tasks.cell import Plan
from afrieval.tasks.paper import chosen_paper_prompts, left_out_of_paper
from afrieval.tasks.prompts import Prompt, PromptFiles, suits, telling
from afrieval.tasks.select import answer_form, chosen_tasks, named_languages
from afrieval.tasks.sources.complete_prompts import CompleteQuestions
from afrieval.tasks.sources.likelihoods import TextQuestions
from afrieval.tasks.sources.notes import all_notes
from afrieval.tasks.sources.templated import TemplatedQuestions
from afrieval.tasks.spec import TaskSpec
from afrieval.tasks.splits import Split, check_source, load_split, missing_hub, where_from

FOR_EXAMPLES = ", needed for examples"  # at the end of a line about rows that are missing


def plan_declared(config: RunConfig, likelihoods: bool = True) -> Plan:
    """Returns the cells of a config's declared tasks.

    Args:
        config: names tasks, languages and prompts.
        likelihoods: False for models that only chat.

    Raises:
        UserError: for an unknown task, language or prompt, missing data, too many shots, or a
            prompt that cannot be filled in.
    """
    asked, left_out = all_questions(config, likelihoods)
    return Plan([questions.cell() for questions in asked], left_out, all_notes(asked, config))


def all_questions(config: RunConfig, likelihoods: bool = True) -> tuple[list[TemplatedQuestions], list[str]]:
    """Returns the questions of these cells, and a line for each omission; arguments are those of `plan_declared`."""
    asked: list[TemplatedQuestions] = []
    left_out: list[str] = []
    lock = read_lock()
    for spec in chosen_tasks(config):
        of_task, missing = task_questions(spec, config, lock, likelihoods)
        asked += of_task
        left_out += missing
    return asked, left_out


def task_questions(
    spec: TaskSpec, config: RunConfig, lock: DataLock, likelihoods: bool = True
) -> tuple[list[TemplatedQuestions], list[str]]:
    """Returns the questions of a task's cells, and a line for each omission."""
    form = answer_form(spec, config, likelihoods)
    if config.task.suite and (hub := missing_hub(spec, config.data.source)):
        return [], [f"{spec.name}: the folder {config.data.source} does not contain {hub}"]
    for metric in spec.scoring.metrics:
        with suppress(UserError):  # a note says which metrics are left out
            metric.fetch()
    if why := _unscored(spec, form):
        if config.task.suite:
            return [], [f"{spec.name}: {why}"]
        raise UserError(f"{spec.name} cannot be scored: {why}", "remove the task, or provide what the metric needs")
    check_source(spec, config.data.source)
    languages, missing = _languages(spec, config, lock)
    files, make = PromptFiles(spec), _questions_of(spec)
    asked: list[TemplatedQuestions] = []
    unprompted: list[str] = []
    absent: list[str] = []
    for language, (data, pool) in languages.items():
        prompts = chosen_prompts(spec, config, form, language, files)
        if not prompts:
            absent.append(language)
        if config.task.prompt_language != "eng" and language != ENGLISH and "native" not in dict(prompts):
            unprompted.append(language)
        known = _baselines(spec, language, data, config) if prompts else {}
        asked += [make(spec, language, prompt, of, form, data, pool, config, files, known) for of, prompt in prompts]
    _check(asked)
    lacking = [code for code in config.task.languages or [] if code not in spec.languages]
    left_out = [f"{spec.name}: not in the data set: {', '.join(lacking)}"] if lacking else []
    left_out += [
        f"{spec.name}: no {split} rows for {', '.join(codes)}{'' if split == spec.data.evaluate else FOR_EXAMPLES}"
        for split, codes in missing.items()
    ]
    left_out += [f"{spec.name}: no native prompts for {', '.join(unprompted)}"] if unprompted else []
    left_out += left_out_of_paper(spec, config, absent)
    return asked, left_out


def _unscored(spec: TaskSpec, form: str) -> str:
    """Returns why no metric of a task can be computed; empty if one can."""
    missing = [m.missing("") for m in spec.scoring.metrics]
    return "" if spec.scoring.metrics_of(form) else next(filter(None, missing), "no metric applies")


def _questions_of(spec: TaskSpec) -> type[TemplatedQuestions]:
    return CompleteQuestions if spec.prompt else TextQuestions if spec.texts else TemplatedQuestions


def _languages(
    spec: TaskSpec, config: RunConfig, lock: DataLock
) -> tuple[dict[str, tuple[Split, Split | None]], dict[str, list[str]]]:
    """Returns the splits of each language with data, and the other languages by missing split."""
    found: dict[str, tuple[Split, Split | None]] = {}
    missing: dict[str, list[str]] = {}
    for language in named_languages(spec, config.task):
        data = load_split(spec, language, spec.data.evaluate, config.data.source, lock)
        pool = _pool(spec, language, config, lock)
        if data is not None and (pool is not None or not (config.eval.shots or spec.examples.all)):
            found[language] = (data, pool)
            continue
        lacking = spec.data.evaluate if data is None else str(spec.data.fewshot)
        if spec.prompt:
            raise UserError(
                f"{config.data.source} lacks the {lacking} rows of {spec.name}",
                where_from(spec, language, lacking, config.data.source),
            )
        if config.task.demanded:
            cure = where_from(spec, language, lacking, config.data.source)
            raise UserError(
                f"{config.data.source} has no {lacking} rows of {spec.name} for {language}",
                f"remove {language} from task.languages, {'give --eval.num_fewshot 0, ' if data else ''}or {cure}",
            )
        missing.setdefault(lacking, []).append(language)
    return found, missing


def _baselines(spec: TaskSpec, language: str, data: Split, config: RunConfig) -> Scores:
    """Returns what a model gets in the whole split that does not read it; the suite's own rows are too few to tell."""
    found = None if config.data.source == SAMPLES else baselines(spec, language, data.documents)
    return found.scores if found else {}


def _pool(spec: TaskSpec, language: str, config: RunConfig, lock: DataLock) -> Split | None:
    """Returns the few-shot split; without shots only if its worked solutions limit answers."""
    shots, split = config.eval.shots, spec.data.fewshot
    if shots and split is None:
        raise UserError(f"{spec.name} has no few-shot examples", "give --eval.num_fewshot 0")
    if split is None or not (shots or spec.worked or spec.examples.all):
        return None
    pool = load_split(spec.direct or spec, spec.text_language or language, split, config.data.source, lock)
    if shots and pool and spec.chain_of_thought and not any(d.worked for d in pool.documents):
        raise UserError(
            f"{spec.name} has no worked solutions in {language} for chain-of-thought examples",
            f"give --eval.num_fewshot 0, or remove {language} from task.languages",
        )
    return pool


def chosen_prompts(
    spec: TaskSpec, config: RunConfig, form: str, language: str, files: PromptFiles
) -> list[tuple[str, Prompt]]:
    """Returns (prompt language, prompt) pairs; for English, native is English and runs once.

    Args:
        spec: the task.
        config: names prompts and prompt languages.
        form: the answer form; all prompts that suit it are chosen if the config names none.
        language: the evaluated language.
        files: the task's prompt files.

    Raises:
        UserError: for a prompt that the task does not have, or that does not suit the answer form.
    """
    if config.task.prompt_set == "paper":
        return [("eng", prompt) for prompt in chosen_paper_prompts(spec, config, language)]
    wanted = config.task.prompt_language
    chosen: list[tuple[str, Prompt]] = []
    if wanted in ("eng", "both") or language == ENGLISH:
        chosen += [("eng", p) for p in _numbered(spec, config, form, files.load(ENGLISH), ENGLISH)]
    if wanted in ("native", "both") and language != ENGLISH:
        if not config.task.demanded and not _has_native(config, language, files):
            return chosen
        chosen += [("native", p) for p in _numbered(spec, config, form, files.load(language), language)]
    return chosen


def check_prompts(spec: TaskSpec, config: RunConfig) -> None:
    """Refuses numbers of prompts that a task does not have; needs neither data nor a model.

    Raises:
        UserError: naming the first.
    """
    languages = named_languages(spec, config.task)
    if not (config.task.prompts and languages and spec.prompted):
        return
    if config.task.prompt_set == "paper":
        chosen_paper_prompts(spec, config, languages[0])
        return
    wanted, files = config.task.prompt_language, PromptFiles(spec)
    native = [code for code in config.task.demanded if wanted != "eng"]
    for language in [*([ENGLISH] if wanted != "native" else []), *native]:
        _check_numbers(spec, config, files.load(language), language)


def _check_numbers(spec: TaskSpec, config: RunConfig, prompts: Mapping[int, Prompt], language: str) -> None:
    for number in config.task.prompts or []:
        if number not in prompts:
            raise UserError(
                f"{spec.name} has no prompt {number} in {language}",
                choices([*prompts]),
            )


def _has_native(config: RunConfig, language: str, files: PromptFiles) -> bool:
    return language in files.languages and set(config.task.prompts or ()) <= set(files.load(language))


def _numbered(spec: TaskSpec, config: RunConfig, form: str, prompts: dict[int, Prompt], language: str) -> list[Prompt]:
    _check_numbers(spec, config, prompts, language)
    suitable = [number for number, prompt in prompts.items() if suits(prompt, form)]
    if unfit := [number for number in config.task.prompts or [] if number not in suitable]:
        shown = "letters" if prompts[unfit[0]].lettered else "no letters"
        raise UserError(
            f"prompt {unfit[0]} of {spec.name} shows {shown}, but task.answer_form is {form}",
            f"choose from {', '.join(map(str, suitable)) or 'other answer forms'}, or give another --task.answer_form",
        )
    return [prompts[number] for number in dict.fromkeys(config.task.prompts or suitable)]


def _check(asked: Sequence[TemplatedQuestions]) -> None:
    """Selects examples and renders prompts, so that errors do not occur hours into a run."""
    selected = [[e for d in questions.of_each_kind for e in questions.examples(d)] for questions in asked]
    for questions, examples in zip(asked, selected, strict=True):
        for document in telling(questions.prompt, [*questions.scorable, *examples]):
            questions.header(document)
            questions.text(document)
