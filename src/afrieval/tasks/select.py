"""Selects the tasks of a config, each with its data set and variant."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from afrieval.config.memorisation import MEMORISATION
from afrieval.config.settings import RunConfig, TaskConfig
from afrieval.data.files import SAMPLES
from afrieval.errors import UserError, choices, nearest
from afrieval.files.paths import user_path
from afrieval.languages import ENGLISH
from afrieval.resources import shipped
from afrieval.scoring.extract import switches
from afrieval.tasks.meta import GROUPS, Llama, chosen_evals, members, of_evals
from afrieval.tasks.options import check_options
from afrieval.tasks.presets import by_likelihood, extract_of, scoring
from afrieval.tasks.prompts import Prompt, load_prompts, suits
from afrieval.tasks.sources.complete_prompts import check_complete
from afrieval.tasks.spec import TASKS, TaskSpec, load_task, task_names, translated


def chosen_tasks(config: RunConfig) -> list[TaskSpec]:
    """Returns the tasks that a config names, in order; Meta's groups are expanded.

    For the task memorisation, they are those that it is about.

    Raises:
        UserError: for an unknown task, data set or variant, or settings that are incompatible with
            its prompts.
    """
    folder, of = task_folder(config), config.task.of
    if config.asks_memorisation and of:
        config = replace(config, task=replace(config.task, task_name=of, of=None))
    known = [*task_names(folder), *GROUPS, *([] if of else [MEMORISATION])]
    suites = {path.stem for path in shipped("configs").glob("suites/*.yaml")} - {*known}
    for name in config.task_names:
        if name in suites:
            raise UserError(f"{name} is a suite, not a task", f"give --task-config-yaml configs/suites/{name}.yaml")
        if name not in known:
            raise UserError(f"unknown task {name!r}", nearest(name, known, "afrieval list"))
    grouped = any(name in GROUPS for name in config.task_names)
    options = config.task.options
    loaded = task_names(folder) if grouped else config.task_names
    declared = {name: load_task(name, folder, options) for name in loaded}
    asked = [declared[name] for name in config.task_names if name not in GROUPS]
    evals = _evals(config, needed=grouped or any(spec.evals for spec in asked))
    names: list[str] = []
    for name in config.task_names:
        names += members(name, list(declared.values()), evals) if name in GROUPS else [name]
    specs = [of_evals(declared[name], evals, config.data.source == SAMPLES) for name in dict.fromkeys(names)]
    others = [name for members in config.task.groups.values() for name in members if options and name not in declared]
    own = {spec.name: spec.options for spec in specs}
    check_options(options, own | {name: load_task(name, folder).options for name in others})
    for spec in specs:
        check_complete(spec, config)
    if config.task.suite:
        check_languages(specs, config.task)
    return [switched(_variant(spec, config), config.task.extract) for spec in specs]


def switched(spec: TaskSpec, options: Mapping[str, bool]) -> TaskSpec:
    """Returns a task with other options of its extractor.

    Args:
        spec: the task.
        options: name to whether it is on.

    Raises:
        UserError: for an option that the extractor does not have.
    """
    known = switches(extract_of(spec))
    for name in options:
        if name not in known:
            hint = nearest(name, list(known)) if known else "leave task.extract out; it has no options to switch"
            raise UserError(f"the extractor of {spec.name} has no option {name!r} to switch", hint)
    changed = {name: on for name, on in options.items() if on != known[name]}
    return replace(spec, switched=changed, scoring=scoring(spec, changed)) if changed else spec


def task_folder(config: RunConfig) -> Path:
    """Returns the folder of the task declarations.

    Raises:
        UserError: if the config's folder has no tasks.
    """
    if config.task.folder is None:
        return TASKS
    folder = user_path(config.task.folder)
    if not task_names(folder):
        raise UserError(f"{folder} contains no tasks", "give a folder that contains TASK/task.yaml, or omit it")
    return folder


def _evals(config: RunConfig, needed: bool) -> Llama | None:
    """Returns the model whose evaluation data set is used, if a task needs one."""
    if not needed:
        if config.task.evals_dataset:
            raise UserError("task.evals_dataset is set, but no selected task uses it", "remove it")
        return None
    return chosen_evals(config.model.model_name, config.task.evals_dataset)


def named_languages(spec: TaskSpec, task: TaskConfig) -> list[str]:
    """Returns the named languages, or all of the task's; in a suite, those that the task has.

    Raises:
        UserError: for a language that the task does not have, outside a suite.
    """
    for code in task.demanded:
        if code not in spec.languages:
            raise UserError(
                f"{spec.name} has no language {code!r}", nearest(code, [*spec.languages], f"afrieval list {spec.name}")
            )
    return [code for code in dict.fromkeys(task.languages or spec.languages) if code in spec.languages]


def check_languages(specs: Sequence[TaskSpec], task: TaskConfig) -> None:
    """Rejects a language that no task of a suite has.

    Raises:
        UserError: for the first such language.
    """
    known = list(dict.fromkeys(code for spec in specs for code in spec.languages))
    for code in task.languages or []:
        if specs and code not in known:
            raise UserError(f"no task has the language {code!r}", nearest(code, known, "afrieval list"))


def answer_form(spec: TaskSpec, config: RunConfig, likelihoods: bool = True) -> str:
    """Returns the config's answer form, or the task's first that all named prompts suit.

    Args:
        spec: the task.
        config: may name the answer form.
        likelihoods: False for models that only chat; answers are generated unless the config names another form.

    Raises:
        UserError: for an answer form that the task or its paper's prompts do not have.
    """
    form, of_paper = config.task.answer_form, config.task.prompt_set == "paper"
    if form is None and not likelihoods and "generate" in spec.answer_forms:
        return "generate"
    if form is None:
        named = [] if of_paper or not spec.labels else _named(spec, config)
        first, *others = spec.answer_forms
        asked = [first, *(f for f in others if by_likelihood(f) == by_likelihood(first))]
        return next((f for f in asked if all(suits(prompt, f) for prompt in named)), first)
    forms = [f for f in spec.answer_forms if not (of_paper and spec.labels and f == "letter")]
    if form not in forms:
        where = "with the prompts of its paper " if of_paper else ""
        raise UserError(f"{spec.name} {where}has no answer form {form!r}", choices(forms))
    return form


def _named(spec: TaskSpec, config: RunConfig) -> list[Prompt]:
    """Returns the English prompts that a config names."""
    prompts = load_prompts(spec, ENGLISH)
    return [prompts[number] for number in config.task.prompts or () if number in prompts]


def _variant(spec: TaskSpec, config: RunConfig) -> TaskSpec:
    if config.task.variant == "direct":
        return replace(spec, verbatim=config.task.uncleaned)
    if config.task.prompt_language != "eng":
        raise UserError(
            f"task.prompt_language is {config.task.prompt_language}, but translated test sets are in English",
            "give --task.prompt_language eng",
        )
    return translated(spec)
