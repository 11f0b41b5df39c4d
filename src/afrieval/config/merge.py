"""Model and task files, and flags, add up to a RunConfig.

Flags beat files; the `eval:` and `model:` maps of a task file beat the model file.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from afrieval.config.settings import EvalConfig, ModelConfig, RunConfig, TaskConfig, check
from afrieval.errors import UserError
from afrieval.files.schema import CLOSED, validated_json
from afrieval.files.yaml import read_map_file

Given = list[tuple[str, Any]]  # names and values; a later one beats an earlier one

SECTIONS: dict[str, type] = {
    name: hint for name, hint in get_type_hints(RunConfig).items() if hasattr(hint, "__dataclass_fields__")
}
OLD_NAMES = {"model.vllm": "backend_args"}


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
class TaskFile(TaskConfig):
    """What a task file holds."""

    eval: EvalConfig = field(default_factory=EvalConfig)
    model: ModelOfTask = field(default_factory=ModelOfTask)


def read_file(path: Path, section: str) -> Given:
    """Returns the settings in a model or task file.

    Args:
        path: a YAML file with the keys of one section, and an optional `eval:` map; a task file may also have a
            `model:` map with `chat_template`.
        section: `model` or `task`.

    Raises:
        UserError: if there is no such file, it is empty, it is not YAML, or a key or value is not allowed.
    """
    found = read_map_file(path)
    content = {OLD_NAMES.get(f"{section}.{key}", key): value for key, value in found.content.items()}
    other = "task" if section == "model" else "model"
    if f"{other}_name" in content and f"{section}_name" not in content:
        raise UserError(f"{path} is a {other} file", f"give it with --{other}-config-yaml")
    found._replace(content=content).checked(ModelFile if section == "model" else TaskFile)
    settings: Given = []
    for key, value in content.items():
        settings += [(f"{key}.{k}", v) for k, v in value.items()] if key in SECTIONS else [(f"{section}.{key}", value)]
    return settings


def run_config(given: Iterable[tuple[str, Any]], *, needs_model: bool, needs_task: bool = True) -> RunConfig:
    """Returns the checked config that settings add up to.

    Args:
        given: dotted names and values, such as `("eval.limit", 3)`; a later one beats an earlier one.
        needs_model: whether a model must be named.
        needs_task: whether a task must be named.

    Raises:
        UserError: for the first value that is not allowed.
    """
    content: dict[str, Any] = {}
    for name, value in given:
        *path, last = name.split(".")
        at = content
        for step in path:
            inner = at.get(step)
            at[step] = dict(inner) if isinstance(inner, dict) else {}  # a copy: a file's map stays as it is
            at = at[step]
        at[last] = value
    check_types(RunConfig, content)
    config = RunConfig(
        **{name: SECTIONS[name](**value) if name in SECTIONS else value for name, value in content.items()}
    )
    check(config, needs_model=needs_model, needs_task=needs_task)
    return config


def check_types(kind: type, content: dict[str, Any]) -> None:
    """Refuses values of a wrong type or out of range; bytes of a path that are not text are replaced for it."""
    validated_json(kind, json.dumps(content, ensure_ascii=False).encode(errors="replace"), "--")
