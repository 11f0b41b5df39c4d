"""Files and flags to a RunConfig: flags beat files, the task file's `eval:` and `model:` beat the model file."""

import difflib
import re
import types
from argparse import SUPPRESS
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from jsonargparse import ArgumentParser, Namespace, set_parsing_settings

from afrieval.config.settings import EvalConfig, ModelConfig, RunConfig, TaskConfig, check
from afrieval.errors import UserError
from afrieval.files.paths import shortened, user_path
from afrieval.files.schema import CLOSED
from afrieval.files.yaml import read_map_file
from afrieval.resources import here_or_shipped
from afrieval.terminal import visible

SECTIONS: dict[str, type] = {
    name: hint for name, hint in get_type_hints(RunConfig).items() if hasattr(hint, "__dataclass_fields__")
}
FLAGS = [f"{section}.{f.name}" for section, cls in SECTIONS.items() for f in fields(cls)] + ["run_dir"]
FILES = {"model_config_yaml": "model", "task_config_yaml": "task"}
OLD_NAMES = {"model.vllm": "backend_args"}
# What lm_eval, vLLM and Meta's recipe call options that have other names here.
NAMES_ELSEWHERE = {"tasks": "task.task_name", "output_path": "run_dir", "template_dir": "task.folder"} | {
    name: f"model.backend_args.{name}"
    for name in ("tensor_parallel_size", "data_parallel_size", "gpu_memory_utilization", "max_model_len")
}


@dataclass(frozen=True)
class ModelFile(ModelConfig):
    """What a model file holds."""

    __pydantic_config__ = CLOSED
    eval: EvalConfig = field(default_factory=EvalConfig)


@dataclass(frozen=True)
class ModelOfTask:
    """What a task may be meant for; the rest of a model has its own file."""

    __pydantic_config__ = CLOSED
    chat_template: bool = False


@dataclass(frozen=True)
class TaskFile(TaskConfig):
    """What a task file holds."""

    __pydantic_config__ = CLOSED
    eval: EvalConfig = field(default_factory=EvalConfig)
    model: ModelOfTask = field(default_factory=ModelOfTask)


def read_config(argv: list[str], *, command: str, needs_model: bool, needs_task: bool = True) -> RunConfig:
    """Returns the checked config that files and flags add up to.

    Args:
        argv: the command's arguments, without its name.
        command: its name, for `--help`.
        needs_model: whether the command runs a model.
        needs_task: whether it makes no sense without a task.

    Raises:
        UserError: for a file, key, flag or value that cannot be used.
        SystemExit: after printing `--help`.
    """
    flags = normalise(argv)
    values: dict[str, Any] = {}
    for flag, section in FILES.items():
        path, flags = _take(flags, flag)
        values |= read_file(here_or_shipped(user_path(path)), section) if path is not None else {}
    config = _parse(flags, values, command)
    check(config, needs_model=needs_model, needs_task=needs_task)
    return config


def read_file(path: Path, section: str) -> dict[str, Any]:
    """Returns dotted keys and values of a model or task file.

    Args:
        path: a YAML file with the keys of one section, and an optional `eval:` map; a task file may also have a
            `model:` map with `chat_template`.
        section: `model` or `task`.

    Raises:
        UserError: if there is no such file, it is empty, no YAML, or has an unknown key.
    """
    found = read_map_file(path)
    content = {OLD_NAMES.get(f"{section}.{key}", key): value for key, value in found.content.items()}
    other = next(name for name in FILES.values() if name != section)
    if f"{other}_name" in content and f"{section}_name" not in content:
        raise UserError(f"{path} is a {other} file", f"give it with --{other}-config-yaml")
    found._replace(content=content).checked(ModelFile if section == "model" else TaskFile)
    values: dict[str, Any] = {}
    for key, value in content.items():
        inner = key in SECTIONS
        values |= {f"{key}.{name}": each for name, each in value.items()} if inner else {f"{section}.{key}": value}
    return values


def normalise(argv: list[str]) -> list[str]:
    """Returns flags in one form: `--a.b-c x` and `--a.b_c=x` become `--a.b_c=x`.

    Bare boolean flags get `=true`; a list may be written `a,b` or `a` instead of `[a, b]`.

    Raises:
        UserError: for an unknown flag, a flag without its value, or a stray word.
    """
    words, flags = list(argv), []
    while words:
        word = words.pop(0)
        if word in ("-h", "--help"):
            flags.append("--help")
            continue
        if not word.startswith("--"):
            raise UserError(f"unexpected argument {word!r}", "options begin with --; see --help")
        name, equals, value = word[2:].partition("=")
        name = name.replace("-", "_")
        _check_flag(name)
        if not equals:
            value = _take_value(name, words)
        flags.append(f"--{name}={_as_list(name, value)}")
    return flags


def _check_flag(name: str) -> None:
    open_maps = ("model.backend_args.",)
    if name in FLAGS or name in FILES or name.startswith(open_maps):
        return
    known = [*FLAGS, *FILES]
    if name in NAMES_ELSEWHERE:
        raise UserError(f"unknown option --{name}", f"did you mean --{NAMES_ELSEWHERE[name]}?")
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    near = near or [f for f in known if f.rpartition(".")[2] == name.rpartition(".")[2]]
    hint = f"did you mean --{near[0]}?" if near else "see --help for all options"
    raise UserError(f"unknown option --{name}", hint)


def _take_value(name: str, words: list[str]) -> str:
    boolean = bool in _members(name)
    if words and (not words[0].startswith("--") if not boolean else words[0].lower() in ("true", "false", "null")):
        return words.pop(0)
    if boolean:
        return "true"
    raise UserError(f"option --{name} has no value", f"write --{name} VALUE")


def _as_list(name: str, value: str) -> str:
    if any(get_origin(m) is list for m in _members(name)) and not value.startswith("[") and value != "null":
        return f"[{value}]" if "," in value or str not in _members(name) else value
    return value


def _members(name: str) -> list[Any]:
    """Returns the types that a flag's value may have."""
    section, _, key = name.partition(".")
    hint = get_type_hints(SECTIONS[section]).get(key, str) if section in SECTIONS else str
    return list(get_args(hint)) if get_origin(hint) in (Union, types.UnionType) else [hint]


def _take(flags: list[str], name: str) -> tuple[str | None, list[str]]:
    prefix = f"--{name}="
    values = [f.removeprefix(prefix) for f in flags if f.startswith(prefix)]
    return (values[-1] if values else None), [f for f in flags if not f.startswith(prefix)]


class _Parser(ArgumentParser):
    def format_help(self, *args: Any) -> str:  # the default of a setting may come from the environment
        return visible(super().format_help(*args))


def _parser(command: str) -> ArgumentParser:
    set_parsing_settings(docstring_parse_attribute_docstrings=True)
    parser = _Parser(exit_on_error=False, prog=f"afrieval {command}", usage="%(prog)s [options]")
    for name, section in FILES.items():
        parser.add_argument(f"--{name}", metavar="FILE", help=f"YAML file with {section}.* keys.")
    parser.add_class_arguments(RunConfig, nested_key=None)
    for action in parser._actions:
        if action.dest in SECTIONS:  # jsonargparse's own files per section; ours are the two above
            action.help = SUPPRESS
    return parser


def _parse(flags: list[str], values: dict[str, Any], command: str) -> RunConfig:
    given = Namespace()  # type: ignore[no-untyped-call]
    for key, value in values.items():
        given[key] = value
    parser = _parser(command)
    try:
        config: RunConfig = RunConfig(**vars(parser.instantiate(_known(parser.parse_args(flags, namespace=given)))))
        return config
    except UserError:
        raise
    except Exception as e:  # jsonargparse raises several kinds, all about a value
        raise _value_error(str(e), flags) from None


def _known(parsed: Namespace) -> Namespace:
    for name in FILES:
        parsed.pop(name, None)
    return parsed


def _value_error(text: str, flags: list[str]) -> UserError:
    """Rewrites jsonargparse's message of several lines in one."""
    key = next(iter(re.findall(r'key "([\w.]+)"', text)), "")
    value = next(iter(re.findall(r"(?:Given value|Got value): (.*)", text)), _take(flags, key)[0])
    if not key or value is None:
        return UserError(" ".join(text.split()), "see --help for what each option takes")
    return UserError(f"{key} cannot be {shortened(value)!r}", f"it takes {_types(key)}")


def _types(key: str) -> str:
    return " or ".join(_type_name(m) for m in _members(key))


def _type_name(hint: Any) -> str:
    if hint is type(None):
        return "null"
    if get_args(hint) and get_origin(hint) not in (list, dict):
        return " or ".join(str(a) for a in get_args(hint))
    names = {bool: "true or false", int: "a whole number", str: "a text", float: "a number"}
    if get_origin(hint) is list:
        return f"a list such as [{'1, 2' if get_args(hint)[0] is int else 'yor, hau'}]"
    return names.get(hint, "a map" if get_origin(hint) is dict else str(hint))
