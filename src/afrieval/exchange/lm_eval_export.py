"""Exports our tasks to the harness, as a TaskManager or a folder, and the lm_eval command of a recipe."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import yaml
from lm_eval.tasks import TaskManager

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval.config.files import shipped_suites
from afrieval.config.settings import DataConfig, RunConfig, TaskConfig
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.results.cell_key import CellKey
from afrieval.run.harness.exported import Definition
from afrieval.tasks.cells.plan import chosen_prompts
from afrieval.tasks.data.files import HUB, SAMPLES
from afrieval.tasks.data.splits import check_folder
from afrieval.tasks.declaration.known_facts import known_defects
from afrieval.tasks.declaration.schema import PUBLISHERS
from afrieval.tasks.declaration.selection import answer_form, chosen_tasks, named_folders, named_languages
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names, translated
from afrieval.tasks.prompts.prompts import PromptFiles

CLASS = "!function afrieval.run.harness.exported.ExportedTask"
ENDS = {"eng": "", "native": "_native"}  # prompt language to what a group's name ends with
KEPT = ("num_fewshot", "fewshot_selection", "fewshot_random_seed", "max_gen_toks")


def definitions(config: RunConfig) -> dict[str, Definition]:
    """Returns the cells and groups of a config by name, without loading data.

    Folders are absolute, so that the harness can be started anywhere.

    Raises:
        UserError: for an unknown task, language, prompt, answer form or folder.
    """
    source = config.data.source
    source = source if source in (HUB, SAMPLES) else str(check_folder(source).resolve())
    own_folders = [str(user_path(folder).resolve()) for folder in config.task.folders]
    config = replace(config, data=DataConfig(source), task=replace(config.task, folder=own_folders or None))
    folders = named_folders(config.task)
    rest = {"eval": {key: getattr(config.eval, key) for key in KEPT}, "data": asdict(config.data)}
    written: dict[str, Definition] = {}
    plain = replace(config.task, variant="direct", prompt_language="eng")
    if not config.task.names:  # those with complete prompts depend on a model, and are exported by name
        loaded = [load_task(name, folders) for name in task_names(folders)]
        plain = replace(plain, task_name=[spec.name for spec in loaded if not (spec.prompt or spec.texts)])
    specs = chosen_tasks(replace(config, task=plain))
    for spec in specs:
        if spec.texts:
            why = "measures the likelihood of each token, which the harness does not keep"
            raise UserError(f"{spec.name} cannot be exported: it {why}", "run it with afrieval")
        if config.task.names:
            named_languages(spec, config.task)
        if spec.prompt:
            form = answer_form(spec, config.task)
            chosen_prompts(spec, config.task, form, ENGLISH, PromptFiles(spec))  # rejects unknown numbers
            written[spec.name] = _cell(spec.name, spec, "eng", 1, config.task, rest)
            continue
        written |= _of_task(spec, replace(config.task, variant="direct"), rest)
        if spec.translate and not config.task.uncleaned:
            written |= _of_task(translated(spec), replace(config.task, variant="translate"), rest)
    groups = {group for _, publisher in PUBLISHERS.items() for group in publisher.GROUPS}
    for group in groups & set(config.task.names):
        written |= _group(group, [spec.name for spec in specs if spec.evals], [])
    for suite, task in shipped_suites().items():
        for end in ENDS.values():
            written |= _suite(suite, end, task, written)
    return written


def _suite(name: str, end: str, task: TaskConfig, written: dict[str, Definition]) -> dict[str, Definition]:
    """Returns the groups of a suite whose tasks are all among the definitions; else none.

    Each member is all of a task, or a group of the suite's languages. Tasks without native prompts have no native ones.
    """
    tasks = [of for members in task.groups.values() for of in members]
    if not set(tasks) <= set(written):
        return {}
    tasks = [of for of in tasks if f"{of}{end}" in written]
    if not task.languages:
        return _group(f"{name}{end}", [f"{of}{end}" for of in tasks], [])
    groups: dict[str, Definition] = {}
    for member in tasks:
        languages = [each for code in task.languages if (each := f"{member}_{code}{end}") in written]
        african = written.get(f"{member}_african{end}", {})  # none if all are from elsewhere
        metrics = african.get("aggregate_metric_list", [])
        groups |= _group(f"{name}_{member}{end}", languages, [metric["metric"] for metric in metrics])
    return groups | _group(f"{name}{end}", list(groups), [])


def _of_task(spec: TaskSpec, task: TaskConfig, rest: Mapping[str, Any]) -> dict[str, Definition]:
    form = answer_form(spec, task)

    def metrics(*codes: str) -> list[str]:
        """Returns the metrics that all of some languages have; not every backend counts tokens."""
        of_each = [spec.scoring.metrics_of(form, counts_tokens=False, language=spec.answers_in(code)) for code in codes]
        return [m.name for m in spec.scoring.metrics if all(m in of_language for of_language in of_each)]

    written: dict[str, Definition] = {}
    files = PromptFiles(spec)
    defective = {d.language for d in known_defects(spec) if d.whole and d.split == spec.data.evaluate}
    for prompt_language, end in ENDS.items():
        languages: dict[str, list[str]] = {}
        for language in [code for code in task.languages or spec.languages if code in spec.languages]:
            choice = replace(task, languages=None, prompt_language=prompt_language)  # type: ignore[arg-type]
            if cells := dict(_cells(spec, form, language, choice, rest, files)):
                written |= cells
                languages[language] = list(cells)
                written |= _group(f"{spec.name}_{language}{end}", list(cells), metrics(language))
        african = [code for code in languages if LANGUAGES[code].african and code not in defective]
        written |= _group(f"{spec.name}{end}", [f"{spec.name}_{code}{end}" for code in languages], [])
        members = [f"{spec.name}_{code}{end}" for code in african]
        written |= _group(f"{spec.name}_african{end}", members, metrics(*african))
    return written


def _group(name: str, members: list[str], metrics: list[str]) -> dict[str, Definition]:
    """Returns a group that weighs all members equally; empty without members."""
    means = [{"metric": m, "aggregation": "mean", "weight_by_size": False} for m in metrics]
    group = {"group": name, "task": members, **({"aggregate_metric_list": means} if means else {})}
    return {name: group} if members else {}


def _cells(
    spec: TaskSpec, form: str, language: str, task: TaskConfig, rest: Mapping[str, Any], files: PromptFiles
) -> Iterator[tuple[str, Definition]]:
    is_native = task.prompt_language == "native"
    if is_native and (language == ENGLISH or spec.text_language):
        return
    for _, prompt in chosen_prompts(spec, task, form, language, files):
        if prompt.language == (language if is_native else ENGLISH):
            name = CellKey(spec.name, language, prompt.id, task.prompt_language).text()
            yield name, _cell(name, spec, language, prompt.number, task, rest)


def _cell(
    name: str, spec: TaskSpec, language: str, prompt: int, settings: TaskConfig, rest: Mapping[str, Any]
) -> Definition:
    """Returns the definition of a cell: the sections of a RunConfig that define its task."""
    task = {key: value for key, value in asdict(settings).items() if value}
    task |= {"task_name": spec.folder.name, "languages": [language], "prompts": [prompt]}
    if spec.evals and not spec.data.hub.endswith("{evals}"):
        task["evals_dataset"] = spec.data.hub  # found from the model's name, which the harness does not pass on
    return {"task": name, "class": CLASS, "metadata": {"version": spec.version}, "cell": {"task": task, **rest}}


def unfitted(written: dict[str, Definition], folders: Sequence[Path]) -> dict[str, str]:
    """Returns task to what a run does with prompts that are too long for the model, and the harness does not."""
    names = dict.fromkeys(d["cell"]["task"]["task_name"] for d in written.values() if "cell" in d)
    specs = [load_task(name, folders) for name in names]
    shortened = {spec.name: f"shorten {spec.fit}" for spec in specs if spec.fit}
    return shortened | {spec.name: "leave out examples" for spec in specs if spec.examples.drop}


def write_definitions(written: dict[str, Definition], folder: Path) -> None:
    """Writes a YAML file for each name, for `lm_eval --include_path`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, definition in written.items():
            text = yaml.safe_dump(definition, sort_keys=False, allow_unicode=True)
            text = text.replace(f"'{CLASS}'", CLASS)  # a tag, not a text
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8", newline="\n")
    except OSError as e:
        raise UserError(f"the folder {folder} cannot be written: {e.strerror}", "name another folder") from None


def task_manager(config: RunConfig | None = None, include_defaults: bool = False) -> TaskManager:
    """Returns the harness' own TaskManager with our tasks and groups, for `simple_evaluate(task_manager=...)`.

    Args:
        config: tasks and settings; by default all tasks with the settings of `afrieval run`.
        include_defaults: whether to include the harness' tasks, which takes 12 seconds.
    """
    folder = tempfile.TemporaryDirectory(prefix="afrieval-tasks-")
    write_definitions(definitions(config or RunConfig()), Path(folder.name))
    manager = TaskManager(include_path=folder.name, include_defaults=include_defaults)
    manager.afrieval_folder = folder  # its files are loaded when tasks are built, so it must outlive them
    return manager
