"""Checks settings for what no type can say: what is missing, what does not go together, and texts that nothing has."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from afrieval._util.errors import UserError, nearest
from afrieval._util.files import user_path
from afrieval.config.settings import CODED_TASKS, DATE_FORM, ModelConfig, RunConfig, TaskConfig

HARNESS_TASKS = "tasks of the harness"
ITS_OWN = ("of", "unseen")
OF_PROMPTS = ("prompts", "prompt_language", "prompt_set", "answer_form", "extract", "evals_dataset")
NOWHERE = re.compile("[\0\ud800-\udc7f\udd00-\udfff]")  # other surrogates are bytes of a path
IN_NO_NAME = re.compile(r"[\x01-\x1f\x7f-\x9f\u2028\u2029]")  # they may be in a path, and in what a model reads
# Paths, and texts for models and servers; model_name may be a folder.
FREE = (
    *("run_dir", "reference", "data.source", "task.folder", "task.unseen", "model.model_name", "model.chat_tags"),
    *("model.chat_system", "model.thinking_end", "model.backend_args", "model.api.extra_body", "model.api.server"),
)
MEANT = ("model.chat_tags", "model.backend_args", "model.api.extra_body")  # where an empty text has a meaning


def check(config: RunConfig, *, needs_model: bool, needs_task: bool = True) -> None:
    """Refuses what types and ranges cannot: missing settings, and values that do not go together."""
    check_text(asdict(config))
    for path in (config.model.model_name, *config.task.folders, config.data.source, config.run_dir):
        user_path(path or ".")
    _check_model(config.model, needs_model)
    _check_task(config.task, config.eval.shots, needs_task)
    if config.eval.limit is not None and config.eval.sample is not None:
        problem = f"eval.limit is {config.eval.limit} and eval.sample is {config.eval.sample}, but only one can be used"
        raise UserError(problem, "give --eval.sample for estimates, or --eval.limit for debugging")
    until = config.eval.until is not None
    if until and config.eval.limit is not None:
        problem = "eval.until enlarges a representative sample, but eval.limit asks for the first documents"
        raise UserError(problem, "leave --eval.limit out; --eval.sample sets the largest sample")
    if (until or config.eval.looks > 1) and (without := without_looks(config.task)):
        name = "eval.until" if until else "eval.looks"
        raise UserError(f"{name} does not support {without}", "leave it out; --eval.sample alone is supported")
    if not is_batch_size(config.eval.batch_size):
        raise UserError(f"eval.batch_size is {config.eval.batch_size!r}", "give 1 or more, auto or auto:N")


def without_looks(task: TaskConfig) -> str:
    """Returns what of a run cannot be looked at while its sample grows; empty if all can."""
    kinds = {HARNESS_TASKS: task.wants_harness, "derived metrics": bool(task.derived)}
    return next((kind for kind, present in kinds.items() if present), task.coded)


def _check_model(model: ModelConfig, needed: bool) -> None:
    if needed and not model.model_name:
        raise UserError(
            "no model is given",
            "name it, as in afrieval run MODEL TASKS: a hub id, a folder, or one of afrieval list models",
        )
    for code in model.languages_supported:
        if not re.fullmatch("[a-z]{3}", code):
            raise UserError(f"model.languages_supported has {code!r}", "write names or ISO 639-3 codes: Yoruba, yor")
    check_chat(model.chat_template, model.chat_system, model.chat_date)


def _check_task(task: TaskConfig, shots: int, needed: bool) -> None:
    if needed and not task.names and not task.wants_harness:
        raise UserError(
            "no task is given",
            "name some, as in afrieval run MODEL afrixnli; afrieval list shows them",
        )
    for name in ("languages", "prompts"):
        used = task.names or (name == "languages" and task.task_template)
        value = getattr(task, name)
        if value and not used and task.wants_harness:
            hint = "leave it out, or use task.task_template with {{language}} in the names of harness tasks"
            raise UserError(f"task.{name} has no effect on task.harness_tasks", hint)
        if value == []:
            raise UserError(f"task.{name} is an empty list", f"name some, or leave task.{name} out to run all")
    for name in ("extract", "options"):
        if getattr(task, name) and not task.names:
            raise UserError(f"task.{name} has no effect on task.harness_tasks", "leave it out")
    _check_coded(task, shots)
    _check_prompt_set(task)
    _check_groups(task)


def _check_groups(task: TaskConfig) -> None:
    grouped = [name for members in task.groups.values() for name in members]
    for name in ("groups", "derived"):
        if getattr(task, name) and not task.suite:
            raise UserError(f"task.{name} is given without task.suite", "name the suite with task.suite")
    if twice := next((name for name in grouped if grouped.count(name) > 1), None):
        raise UserError(f"task.groups has {twice!r} twice", "name each task once")
    if other := next((name for name in task.names if grouped and name not in grouped), None):
        raise UserError(f"the suite {task.suite} does not have the task {other!r}", nearest(other, grouped))


def _check_prompt_set(task: TaskConfig) -> None:
    if task.prompt_set == "paper" and task.wants_harness and not task.names:
        raise UserError(
            "task.prompt_set has no effect on task.harness_tasks", "leave it out, or name tasks with task.task_name"
        )
    if task.prompt_set == "paper" and task.prompt_language != "eng":
        raise UserError(
            f"task.prompt_language is {task.prompt_language}, but prompts of the paper are in English",
            "give --task.prompt_language eng, or --task.prompt_set suite",
        )
    if task.uncleaned and task.prompt_set != "paper":
        raise UserError(
            f"task.uncleaned is true, but task.prompt_set is {task.prompt_set}, whose prompts are clean",
            "give --task.prompt_set paper, or leave task.uncleaned out",
        )


def check_chat(chat_template: bool, system: str | None, date: str | None) -> None:
    """Refuses settings of chats without a chat template, and dates that templates do not write."""
    for name, text in (("chat_system", system), ("chat_date", date)):
        if text and not chat_template:
            raise UserError(f"model.{name} has no effect without a chat template", "give --model.chat_template true")
    try:
        if date is not None:
            datetime.strptime(date, DATE_FORM)
    except ValueError:
        raise UserError(f"model.chat_date is {date!r}", "give a date such as 26 Jul 2024") from None


def _check_coded(task: TaskConfig, shots: int) -> None:
    """Rejects settings that a task without task.yaml lacks, or that have no effect."""
    name = task.coded
    if not name:
        if set_keys := [key for key in ITS_OWN if getattr(task, key) is not None]:
            name = " or ".join(CODED_TASKS)
            raise UserError(
                f"task.{set_keys[0]} has no effect without the task {name}",
                f"give --task.task_name {name}, or leave task.{set_keys[0]} out",
            )
        return
    if len(task.names) > 1 or task.wants_harness or task.suite:
        raise UserError(f"the task {name} is run by itself", "run the other tasks with another command")
    if not task.of:
        raise UserError(f"{name} needs the tasks that it is about", "give --of with their names, as in --of afrixnli")
    for key in OF_PROMPTS:
        if getattr(task, key) != getattr(TaskConfig(), key):
            raise UserError(f"task.{key} has no effect on {name}, which uses no prompts", "leave it out")
    if shots:
        raise UserError(f"eval.num_fewshot is {shots}, but {name} uses no prompts", "leave it out")


def check_text(settings: Mapping[str, Any]) -> None:
    """Rejects empty texts, characters that no name or path can contain, and control characters in names."""
    for name, text in _texts(settings):
        if match := NOWHERE.search(text):
            raise UserError(f"{name} is {text!r}", f"remove {match[0]!r}, which no name or path can contain")
        if not f"{name}.".startswith(tuple(f"{free}." for free in FREE)) and (match := IN_NO_NAME.search(text)):
            raise UserError(f"{name} is {text!r}", f"remove the control character {match[0]!r}")
        if not (text.strip() or name.startswith(MEANT)):
            raise UserError(f"{name} is empty", "give a text, or leave it out")


def _texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yields all texts of nested maps and lists, each with the name of its setting."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member, name)
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _texts(member, f"{name}.{key}" if name else str(key))


def is_batch_size(size: int | str) -> bool:
    """Tells whether a batch size is 1 or more, auto or auto:N."""
    return size >= 1 if isinstance(size, int) else bool(re.fullmatch(r"auto(:[1-9]\d*)?", size))
