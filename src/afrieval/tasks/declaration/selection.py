"""Selects the tasks of a config, each with its data set and variant, and checks the derived metrics of suites."""

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from afrieval._util.errors import SURE, UserError, choices, nearest
from afrieval._util.files import user_path
from afrieval._util.resources import shipped
from afrieval.config.options import NEW, DerivedConfig
from afrieval.config.settings import CODED_TASKS, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.languages import ENGLISH, LANGUAGES, language_of, named
from afrieval.scoring.derived import DERIVED, derived
from afrieval.scoring.extract import switches
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.declaration.schema import PUBLISHERS, check_options
from afrieval.tasks.declaration.spec import (
    PATTERNS,
    TASKS,
    TaskSpec,
    load_task,
    task_files,
    task_folders,
    task_names,
    translated,
)
from afrieval.tasks.declaration.task_scoring import by_likelihood, extract_of, scoring
from afrieval.tasks.prompts.prompts import load_prompts, suits


def chosen_tasks(config: RunConfig) -> list[TaskSpec]:
    """Returns the tasks that a config names, in order; groups of publishers are expanded.

    For a task that is about others, these are the tasks in `task.of`.

    Raises:
        UserError: for an unknown task, data set or variant, or settings that are incompatible with
            its prompts.
    """
    folders, about = named_folders(config.task), config.task.of
    if config.task.coded and about:
        config = replace(config, task=replace(config.task, task_name=about, of=None))
    groups = {group: publisher for _, publisher in PUBLISHERS.items() for group in publisher.GROUPS}
    available = [*task_names([*folders, TASKS]), *groups, *([] if about else CODED_TASKS)]
    suites = {path.stem for path in shipped("configs").glob("suites/*.yaml")} - {*available}
    for name in config.task.names:
        if name in suites:
            raise UserError(f"{name} is a suite, not a task", f"run it by itself: afrieval run MODEL {name}")
        if name not in available:
            raise _no_task(name, available)
    publishers = [groups[name] for name in config.task.names if name in groups]
    options, dataset = config.task.options, config.task.evals_dataset
    loaded = task_names([*folders, TASKS]) if publishers else config.task.names
    declared = {name: load_task(name, folders, options) for name in loaded}
    publishers += [declared[name].publisher for name in config.task.names if name not in groups]
    if publisher := next(filter(None, publishers), None):
        samples = config.data.source == SAMPLES
        specs = publisher.selected(config.task.names, declared, config.model.model_name, dataset, samples)
    elif dataset:
        raise UserError("task.evals_dataset is set, but no selected task uses it", "remove it")
    else:
        specs = [*declared.values()]
    others = [name for members in config.task.groups.values() for name in members if options and name not in declared]
    declared_options = {spec.name: spec.options for spec in specs}
    check_options(options, declared_options | {name: load_task(name, folders).options for name in others})
    for spec in specs:
        if spec.prompt:
            _check_complete(spec, config.eval, config.model)
    in_suite = list(dict.fromkeys(code for spec in specs for code in spec.languages)) if config.task.suite else []
    if in_suite and (unknown := [code for code in config.task.languages or [] if code not in in_suite]):
        raise _no_language(f"the suite {config.task.suite}", unknown[0], in_suite, f"afrieval list {config.task.suite}")
    return [switched(_variant(spec, config.task), config.task.extract) for spec in specs]


def _no_task(name: str, available: list[str]) -> UserError:
    hint = nearest(name, available, "afrieval list")
    if name.startswith(NEW):
        hint = f"write a task for it with: afrieval run MODEL {name} --kind KIND; then name its folder"
    elif several := fnmatch.filter(available, name):
        hint = f"patterns are not expanded; if you mean these tasks: {','.join(several)}"
    elif "/" in name:
        hint = f"there is no {name}/task.yaml"
    elif any([*user_path(name).glob(pattern)] for pattern in ("task.yaml", PATTERNS[0])):
        hint = f"if you mean the folder: ./{name}"
    elif language_of(name):
        hint = f"if you mean the language: --languages {language_of(name)}, several with commas"
    elif not hint.startswith("did"):
        hint += f"; a task of lm_eval is named with --task.harness_tasks {name}"
    return UserError(f"unknown task {name!r}", hint)


def _check_complete(spec: TaskSpec, evaluation: EvalConfig, model: ModelConfig) -> None:
    """Rejects settings that would add to or truncate complete prompts."""
    if evaluation.shots:
        raise UserError(
            f"eval.num_fewshot is {evaluation.shots}, but the prompts of {spec.name} already include examples",
            "remove eval.num_fewshot",
        )
    if model.chat_template:
        raise UserError(
            f"the prompts of {spec.name} already include a chat template", "give --model.chat_template false"
        )
    longest = evaluation.max_gen_toks or (spec.generation.max_tokens if spec.generation else 0)
    for name in ("max_model_len", "max_length"):
        length = model.backend_args.get(name)
        if isinstance(length, int) and length <= longest:
            raise UserError(
                f"backend_args.{name} is {length}, but answers of {spec.name} may have {longest} tokens",
                f"give more than {longest}, or a smaller --eval.max_gen_toks, which may lower scores",
            )


def switched(spec: TaskSpec, options: Mapping[str, bool]) -> TaskSpec:
    """Returns a task with other options of its extractor.

    Raises:
        UserError: for an option that the extractor does not have.
    """
    switchable = switches(extract_of(spec, spec.scoring.kind), spec.scoring.user_code.extractors)
    for name in options:
        if name not in switchable:
            hint = (
                nearest(name, list(switchable)) if switchable else "leave task.extract out; it has no options to switch"
            )
            raise UserError(f"the extractor of {spec.name} has no option {name!r} to switch", hint)
    changed = {name: on for name, on in options.items() if on != switchable[name]}
    if not changed:
        return spec
    scored = scoring(spec, spec.scoring.kind, spec.scoring.user_code, changed)
    return replace(spec, switched=changed, scoring=scored)


def named_folders(task: TaskConfig) -> list[Path]:
    """Returns the folders of the user's own tasks; the suite's own folder if the settings name none.

    Raises:
        UserError: for a folder without tasks, or two that have the same task.
    """
    folder_of: dict[str, Path] = {}
    folders = list(dict.fromkeys(task_folders(task.folders or [TASKS])))
    for folder in folders if len(folders) > 1 else ():
        for name in task_files(folder):
            if folder_of.setdefault(name, folder) != folder:
                raise UserError(f"{folder_of[name]} and {folder} both have the task {name}", "rename one of them")
    return folders


def replaced(spec: TaskSpec) -> str:
    """Returns a line that says so if a task of the user's has the name of one of the suite's; else nothing."""
    if spec.root == TASKS:
        return ""
    shipped_one = task_files(TASKS).get(spec.folder.name)
    if shipped_one is None or (spec.folder / shipped_one.name).samefile(shipped_one):
        return ""
    return f"{spec.name} is the task of {spec.root}, which replaces the suite's task of that name"


def named_languages(spec: TaskSpec, task: TaskConfig) -> list[str]:
    """Returns the named languages, or all of the task's; in a suite, those that the task has.

    Raises:
        UserError: for a language that the task does not have, outside a suite.
    """
    for code in task.demanded:
        if code not in spec.languages:
            raise _no_language(spec.name, code, list(spec.languages), f"afrieval list {spec.name}")
    return [code for code in dict.fromkeys(task.languages or spec.languages) if code in spec.languages]


def _no_language(what: str, code: str, codes: list[str], where: str) -> UserError:
    names = {name: named(of) for of in codes for name in (of, LANGUAGES[of].name)}
    lacks = f"no rows in {named(code)}" if code in LANGUAGES else f"no language {code!r}"
    if code not in LANGUAGES:
        return UserError(f"{what} has {lacks}", nearest(code, names, where, cutoff=SURE))
    others = [of for of in task_names() if what in of and of != what and code in load_task(of).languages]
    return UserError(
        f"{what} has {lacks}", f"{' or '.join(others)} has; {where} shows all" if others else f"{where} shows all"
    )


def answer_form(spec: TaskSpec, task: TaskConfig, likelihoods: bool = True) -> str:
    """Returns the answer form that is set, or the task's first that all named prompts suit.

    Args:
        spec: the task.
        task: may name the answer form.
        likelihoods: False for models that only chat; answers are generated unless `task` names another form.

    Raises:
        UserError: for an answer form that the task or its paper's prompts do not have.
    """
    form, of_paper = task.answer_form, task.prompt_set == "paper"
    if form is None and not likelihoods and "generate" in spec.answer_forms:
        return "generate"
    if form is None:
        numbers = task.prompts or ()
        english = load_prompts(spec, ENGLISH) if numbers and spec.labels and not of_paper else {}
        named = [english[number] for number in numbers if number in english]
        first, *others = spec.answer_forms
        candidates = [first, *(f for f in others if by_likelihood(f) == by_likelihood(first))]
        return next((f for f in candidates if all(suits(prompt, f) for prompt in named)), first)
    forms = [f for f in spec.answer_forms if not (of_paper and spec.labels and f == "letter")]
    if form not in forms:
        where = "with the prompts of its paper " if of_paper else ""
        raise UserError(f"{spec.name} {where}has no answer form {form!r}", choices(forms))
    return form


def _variant(spec: TaskSpec, task: TaskConfig) -> TaskSpec:
    if task.variant == "direct":
        return replace(spec, verbatim=task.uncleaned)
    if task.prompt_language != "eng":
        raise UserError(
            f"task.prompt_language is {task.prompt_language}, but translated test sets are in English",
            "give --task.prompt_language eng",
        )
    return translated(spec)


def check_derived(task: TaskConfig, names: Sequence[str], references: Sequence[str]) -> None:
    """Rejects derived metrics that no run could have, and references that none of them uses.

    Args:
        task: has the derived metrics, and the tasks of a suite by group.
        names: the tasks, if there are no groups.
        references: names of reference runs.

    Raises:
        UserError: for an unknown way, task, metric or reference, or a wrong number of inputs.
    """
    declared, folders = task.derived, named_folders(task) if task.derived else []
    tasks = [name for members in task.groups.values() for name in members] or list(names)
    for number, (name, spec) in enumerate(declared.items()):
        before = dict(list(declared.items())[:number])
        reference = spec.get("reference")
        # Names that neither `of` nor `--reference NAME=PATH` could contain.
        if not isinstance(name, str) or not name or "." in name:
            raise UserError(f"task.derived has the name {name!r}", "give a word without a full stop")
        if reference is not None and not re.fullmatch(r"[\w-]+", reference):
            cure = "give a name of letters, digits, - and _"
            raise UserError(f"task.derived.{name}: reference is {reference!r}", cure)
        for source in _names(spec):
            if source not in before:
                _check_metric(name, source, tasks, list(before), folders)
        _check_inputs(name, spec, before)
    check_references(references, [spec.get("reference", "") for spec in declared.values()])


def check_references(references: Sequence[str], used: Sequence[str]) -> None:
    """Rejects a reference that no derived metric uses."""
    names = list(dict.fromkeys(filter(None, used)))
    for name in references:
        if name not in names:
            hint = nearest(name, names) if names else "leave --reference out"
            raise UserError(f"no derived metric uses the reference {name!r}", hint)


def _names(spec: DerivedConfig) -> list[str]:
    return [spec["of"]] if isinstance(spec["of"], str) else spec["of"]


def _check_metric(name: str, source: str, tasks: list[str], before: list[str], folders: list[Path]) -> None:
    task, dot, metric = source.partition(".")
    if not dot:
        hint = nearest(source, before) if before else "write TASK.METRIC, or a derived metric declared before"
        raise UserError(f"task.derived.{name}: there is no derived metric {source!r} before it", hint)
    if task not in tasks:
        raise UserError(f"task.derived.{name}: the suite has no task {task!r}", nearest(task, tasks))
    scoring = load_task(task, folders).scoring
    metrics = [*(m.name for m in scoring.metrics), *scoring.derived]
    if metric.rpartition(".")[2] not in metrics:  # a group of documents may stand before it
        raise UserError(f"task.derived.{name}: {task} has no metric {metric!r}", nearest(metric, metrics))


def _check_inputs(name: str, spec: DerivedConfig, before: Mapping[str, DerivedConfig]) -> None:
    how, names, where = derived(name, spec["how"]), _names(spec), f"task.derived.{name}: {spec['how']}"
    if how.needs == "orders":
        supported = [name for name in DERIVED if derived(name, name).needs != "orders"]
        raise UserError(f"{where} is not supported in suites", choices(supported))
    if spec.get("reference") and how.n_inputs is None:
        raise UserError(f"{where} does not compare with a reference run", "remove reference:")
    n = len(names) * (2 if spec.get("reference") else 1)
    if not n or how.n_inputs not in (None, n):
        n_inputs = how.n_inputs or "one or more"
        raise UserError(f"{where} takes {n_inputs} inputs, not {n}", "correct of:; inputs of a reference run count too")
    if how.needs in ("documents", "pairs") and (source := next((name for name in names if name in before), None)):
        raise UserError(f"{where} needs documents, which {source} does not have", "name metrics of tasks")
    attacks = [name for name, other in before.items() if other["how"].startswith("auc")]
    if how.needs == "attack" and (source := next((name for name in names if name not in attacks), None)):
        raise UserError(f"{where} needs an AUC, which {source} is not", "name a derived metric with how: auc")
    if how.needs == "pairs" and not spec.get("reference"):
        raise UserError(f"{where} needs a reference run", "add reference: and its name")
