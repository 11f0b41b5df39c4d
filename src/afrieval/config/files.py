"""Model and task files, which MODEL and TASKS may name, suites and flags add up to a RunConfig."""

import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from afrieval._util.errors import UserError, nearest
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped, shipped
from afrieval._util.schema import validated_json
from afrieval._util.yaml_files import read_map_file
from afrieval.config.checks import check
from afrieval.config.options import Options, options_of
from afrieval.config.settings import EvalConfig, ModelConfig, RunConfig, TaskConfig

log = logging.getLogger("afrieval")

T = TypeVar("T")
Settings = dict[str, Any]  # names and values, such as eval.limit; also of an entry of a map, model.backend_args.NAME

OLD_NAMES = {"model.vllm": "backend_args"}  # model files of the suite's predecessor have it
BACKENDS = ("hf", "hf-auto", "huggingface", "vllm", "sglang", "openai", "local-completions", "local-chat-completions")
YAML = (".yaml", ".yml")
OWN_NAMES = "recorded"  # the backend whose models are named by the user
SECTIONS = {each.name: each.type for each in fields(RunConfig) if isinstance(each.type, type)}


@dataclass(frozen=True)
class ModelFile(ModelConfig):
    """What a model file holds."""

    eval: EvalConfig = field(default_factory=EvalConfig)


@dataclass(frozen=True)
class ModelOfTask(Options):
    """What a task may require of the model; other model options belong in a model file."""

    chat_template: bool = False


@dataclass(frozen=True)
class TaskConfigFile(TaskConfig):
    """What a task file holds."""

    eval: EvalConfig = field(default_factory=EvalConfig)
    model: ModelOfTask = field(default_factory=ModelOfTask)


FILES = {"model": ModelFile, "task": TaskConfigFile, "run": RunConfig}


def read_file(path: Path, section: str) -> Settings:
    """Returns the settings in a file; `section` is `model`, `task`, or `run` for a file with all settings of a run.

    Raises:
        UserError: if there is no such file, it is empty, it is not YAML, or a key or value is not allowed.
    """
    file = read_map_file(path)
    content = {OLD_NAMES.get(f"{section}.{key}", key): value for key, value in file.content.items()}
    other = "task" if section == "model" else "model"
    if section != "run" and f"{other}_name" in content and f"{section}_name" not in content:
        raise UserError(f"{path} is a {other} file", f"give it with --{other}-config-yaml")
    file._replace(content=content).checked(FILES[section])
    return flat(content, section)


def flat(content: dict[str, Any], section: str) -> Settings:
    """Returns the settings in the content of a file."""
    if section == "run":
        return _flat(RunConfig, content, "")
    settings = Settings()
    for key, value in content.items():
        name, below = (key, value) if key in SECTIONS else (section, {key: value})
        settings |= _flat(SECTIONS[name], below, f"{name}.")
    return settings


def _flat(kind: Any, content: dict[str, Any], start: str) -> Settings:
    """Returns the settings in a map of a dataclass; a field that is a dataclass is a map in it."""
    kinds, settings = {each.name: each.type for each in fields(kind)}, Settings()
    for key, value in content.items():
        settings |= _flat(kinds[key], value, f"{start}{key}.") if is_dataclass(kinds[key]) else {f"{start}{key}": value}
    return settings


def run_config(settings: Settings, *, needs_model: bool, needs_task: bool = True) -> RunConfig:
    """Returns the checked config that settings add up to."""
    config = parse(RunConfig, settings)
    check(config, needs_model=needs_model, needs_task=needs_task)
    log.debug("settings: %s", ", ".join(settings))  # names alone: a value may be a key
    return config


def parse(kind: type[T], settings: Settings) -> T:
    """Returns a dataclass of options, filled in and checked; a field that is a dataclass is a section."""
    options, content = {option.name: option for option in options_of(kind)}, dict[str, Any]()
    for name, value in settings.items():
        whole = type(value) is int and name in options and float in options[name].types
        content = inserted(content, name.split("."), float(value) if whole else value)  # 1 and 1.0 are one setting
    text = json.dumps(content, ensure_ascii=False).encode(errors="replace")  # a path may have bytes that are not text
    validated_json(kind, text, "--")
    return _made(kind, content)


def _made(kind: Callable[..., T], values: dict[str, Any]) -> T:
    kinds: dict[str, Any] = {each.name: each.type for each in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: _made(kinds[name], v) if is_dataclass(kinds[name]) else v for name, v in values.items()})


def inserted(tree: Any, path: list[str], value: Any) -> Any:
    """Returns nested maps with a value at a path."""
    if not path:
        return value
    tree = tree if isinstance(tree, dict) else {}
    return tree | {path[0]: inserted(tree.get(path[0]), path[1:], value)}


def suite_file(name: str) -> Path:
    """Returns the file of a suite in configs/suites/, or the file with that path."""
    files = {path.stem: path for path in shipped("configs").glob("suites/*.yaml")}
    if name in files:
        return files[name]
    if not (path := user_path(name)).exists():
        raise UserError(f"there is no suite {name!r}, and no such file", nearest(name, sorted(files)))
    return path


def shipped_suites() -> dict[str, TaskConfig]:
    """Returns the suites that come with the package, by name."""
    files = sorted(shipped("configs").glob("suites/*.yaml"))
    configs = [run_config(read_file(path, "task"), needs_model=False) for path in files]
    return {config.task.suite: config.task for config in configs if config.task.suite}


def model_settings(word: str | None, further: Mapping[str, Any] | None = None) -> Settings:
    """Returns the settings that MODEL names.

    Args:
        word: a hub id, a folder, a model file or the name of one in configs/models.
        further: the other settings of the run.

    Raises:
        UserError: if a backend is given and no model, or a file cannot be read.
    """
    if word is None:
        return {}
    if word in BACKENDS:
        hint = f"give the model first, and the backend with --model.model_type {word}"
        raise UserError(f"{word} is a backend, and no model is named", hint)
    is_file = word.endswith(YAML) or (further or {}).get("model.model_type") != OWN_NAMES
    path = config_file("models", word) if is_file else None
    return read_file(path, "model") if path else {"model.model_name": word}


def task_settings(words: Iterable[str] | None) -> Settings:
    """Returns the settings that TASKS names: tasks and folders of tasks, separated by commas; or one suite or config.

    Raises:
        UserError: if a suite or config is given with other tasks, or a file cannot be read.
    """
    names, folders = list[str](), list[str]()
    for word in words or ():
        is_own = word.startswith("file:")  # whose name may have blanks
        is_file = (is_own or word.endswith(YAML)) and user_path(word.removeprefix("file:")).is_file()
        for name in [word] if is_file else filter(None, re.split("," if is_own else r"[,\s]+", word)):
            task_files = _task_files(name)
            names += [path.parent.name for path in task_files] or [name]
            folders += [str(path.parents[1]) for path in task_files]
    files = {} if folders else {name: path for name in names if (path := config_file("suites", name))}
    if len(names) == 1 and files:
        return read_file(files[names[0]], "task")
    if files:
        problem = f"{next(iter(files))} has settings of its own, and cannot be combined with other tasks"
        raise UserError(problem, "run it by itself, or name its tasks")
    settings = Settings({"task.folder": list(dict.fromkeys(folders))} if folders else {})
    return settings | ({"task.task_name": names[0] if len(names) == 1 else names} if names else {})


def _task_files(word: str) -> list[Path]:
    """Returns the task files that a path leads to: one, its folder, or a folder of several; none for another word."""
    if not re.search(r"[/\\]|^\.+$|^task\.yaml$", word):
        return []
    path = user_path(word).resolve()
    if path.name == "task.yaml" and path.is_file():
        return [path]
    return sorted(path.glob("task.yaml")) or sorted(path.glob("*/task.yaml"))


def config_file(folder: str, name: str) -> Path | None:
    """Returns the config file that a word names; None if it names none.

    Args:
        folder: the folder in configs/, such as `models`.
        name: a path that ends in .yaml, or the name of a file in the folder; case, dashes and underscores do not
            matter.
    """
    if name.endswith(YAML):
        return here_or_shipped(user_path(name))
    plain = _plain(name)
    return next((path for path in shipped("configs").glob(f"{folder}/*.yaml") if _plain(path.stem) == plain), None)


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_")
