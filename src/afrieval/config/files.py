"""Model and task files, suites and flags add up to a RunConfig."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from afrieval._util.errors import UserError, nearest
from afrieval._util.files import user_path
from afrieval._util.resources import shipped
from afrieval._util.schema import CLOSED, validated_json
from afrieval._util.yaml_files import read_map_file
from afrieval.config.checks import check
from afrieval.config.options import options_of
from afrieval.config.settings import EvalConfig, ModelConfig, RunConfig, TaskConfig

T = TypeVar("T")
Given = list[tuple[str, Any]]  # names and values; a later one beats an earlier one

OLD_NAMES = {"model.vllm": "backend_args"}  # model files of the suite's predecessor have it
SECTIONS = {each.name: each.type for each in fields(RunConfig) if isinstance(each.type, type)}


@dataclass(frozen=True)
class ModelFile(ModelConfig):
    """What a model file holds."""

    eval: EvalConfig = field(default_factory=EvalConfig)


@dataclass(frozen=True)
class ModelOfTask:
    """What a task may require of the model; other model options belong in a model file."""

    __pydantic_config__ = CLOSED
    chat_template: bool = False


@dataclass(frozen=True)
class TaskConfigFile(TaskConfig):
    """What a task file holds."""

    eval: EvalConfig = field(default_factory=EvalConfig)
    model: ModelOfTask = field(default_factory=ModelOfTask)


def read_file(path: Path, section: str) -> Given:
    """Returns the settings in a model or task file; `section` is `model` or `task`.

    Raises:
        UserError: if there is no such file, it is empty, it is not YAML, or a key or value is not allowed.
    """
    file = read_map_file(path)
    content = {OLD_NAMES.get(f"{section}.{key}", key): value for key, value in file.content.items()}
    other = "task" if section == "model" else "model"
    if f"{other}_name" in content and f"{section}_name" not in content:
        raise UserError(f"{path} is a {other} file", f"give it with --{other}-config-yaml")
    file._replace(content=content).checked(ModelFile if section == "model" else TaskConfigFile)
    return flat(content, section)


def flat(content: dict[str, Any], section: str) -> Given:
    """Returns the settings in the content of a model or task file."""
    settings: Given = []
    for key, value in content.items():
        name, below = (key, value) if key in SECTIONS else (section, {key: value})
        settings += _flat(SECTIONS[name], below, name)
    return settings


def _flat(kind: Any, content: dict[str, Any], name: str) -> Given:
    """Returns the settings in a map of a dataclass; a field that is a dataclass is a map in it."""
    kinds, settings = {each.name: each.type for each in fields(kind)}, Given()
    for key, value in content.items():
        below = f"{name}.{key}"
        settings += _flat(kinds[key], value, below) if is_dataclass(kinds.get(key)) else [(below, value)]
    return settings


def run_config(settings: Given, *, needs_model: bool, needs_task: bool = True) -> RunConfig:
    """Returns the checked config that settings add up to."""
    config = parse(RunConfig, settings)
    check(config, needs_model=needs_model, needs_task=needs_task)
    return config


def parse(kind: type[T], settings: Given) -> T:
    """Returns a dataclass of options, filled in; a field that is a dataclass is a section.

    A later value replaces an earlier one, or is added to it if the option may be repeated.
    """
    options = {option.name: option for option in options_of(kind)}
    values: dict[str, Any] = {}
    for name, value in settings:
        setting = name
        while setting not in options and "." in setting:
            setting = setting.rpartition(".")[0]
        path = name.removeprefix(setting).split(".")[1:]  # in a map
        before = values.get(setting)
        if options[setting].repeats and before and value:
            values[setting] = [each for of in (before, value) for each in (of if isinstance(of, list) else [of])]
        else:
            values[setting] = _inserted(before, path, value)
    by_section: dict[str, Any] = {}
    for name, value in values.items():
        whole = type(value) is int and float in options[name].types  # 1 and 1.0 are the same setting
        by_section = _inserted(by_section, name.split("."), float(value) if whole else value)
    content = json.dumps(by_section, ensure_ascii=False).encode(
        errors="replace"
    )  # a path may have bytes that are not text
    validated_json(kind, content, "--")
    return _made(kind, by_section)


def _made(kind: Callable[..., T], values: dict[str, Any]) -> T:
    kinds: dict[str, Any] = {each.name: each.type for each in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: _made(kinds[name], v) if is_dataclass(kinds[name]) else v for name, v in values.items()})


def _inserted(tree: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    tree = tree if isinstance(tree, dict) else {}
    return tree | {path[0]: _inserted(tree.get(path[0]), path[1:], value)}


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
