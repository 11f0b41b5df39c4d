"""The one way to parse a command line: options that a command declares, and the settings of a run."""

import difflib
import re
from dataclasses import MISSING, dataclass
from typing import Any, TypeVar

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped
from afrieval._util.terminal import shortened
from afrieval.config.files import SECTIONS, Given, parse, read_file, run_config
from afrieval.config.options import File, Option, Options, RunOptions, options_of
from afrieval.config.settings import RunConfig

__all__ = ["Given", "read_config", "read_given", "read_options", "run_config", "sections_of"]

T = TypeVar("T")
SHORT = {"-o": "--output", "--of": "--task.of"}
ARGS = "model.backend_args."
OPEN_MAPS = {ARGS: Any, "task.extract.": bool | Any, "task.options.": str}  # to the type of their values
# What lm_eval, vLLM and Meta's recipe call options that have other names here.
NAMES_ELSEWHERE = {"tasks": "task.task_name", "output_path": "run_dir", "template_dir": "task.folder"} | {
    name: f"{ARGS}{name}"
    for name in ("tensor_parallel_size", "data_parallel_size", "gpu_memory_utilization", "max_model_len")
}


@dataclass(frozen=True)
class Files(Options):
    """Files that hold settings."""

    model_config_yaml: File | None = None
    """YAML file with model options, as in configs/models/, and an optional eval: map. Default: no file."""
    task_config_yaml: File | None = None
    """YAML file with task options, as in configs/tasks/, and optional eval: and model: maps. Default: no file."""


def read_options(kind: type[T], argv: list[str], command: str) -> T:
    """Returns the options of a command that takes no settings of a run."""
    return _own(kind, _parsed(argv, kind, command), command)


def read_given(kind: type[T], argv: list[str], command: str) -> tuple[T, Given]:
    """Returns the options of a command, and the settings of a run that files and flags give.

    `run_config` makes a config of the settings.
    """
    given = _parsed(argv, kind, command)
    files, settings = _own(Files, given, command), Given()
    for section, path in (("model", files.model_config_yaml), ("task", files.task_config_yaml)):
        settings += read_file(here_or_shipped(user_path(path)), section) if path is not None else []
    elsewhere = {option.name for declared in (kind, Files) for option in options_of(declared)}
    settings += [(name, value) for name, value in given if name not in elsewhere]
    return _own(kind, given, command), settings


def read_config(
    argv: list[str], *, command: str, needs_model: bool, needs_task: bool = True, kind: type = RunOptions
) -> RunConfig:
    """Returns the config of a command that has no options but the settings of a run."""
    return run_config(read_given(kind, argv, command)[1], needs_model=needs_model, needs_task=needs_task)


def sections_of(kind: type) -> dict[str, list[Option]]:
    """Returns the options of a command, and the settings of a run if it takes them, by heading."""
    sections = {"Options": options_of(kind)}
    if not issubclass(kind, RunOptions):
        return sections
    sections["Config files"] = options_of(Files)
    for option in options_of(RunConfig):
        section = SECTIONS.get(option.name.partition(".")[0], RunConfig)
        sections.setdefault(str(section.__doc__), []).append(option)
    return sections


def _parsed(argv: list[str], kind: type, command: str) -> Given:
    """Returns names and values; those of options without a name come last."""
    known = {option.name: option for options in sections_of(kind).values() for option in options}
    words, given, alone = list(argv), Given(), []
    while words:
        word = words.pop(0)
        short, equals, rest = word.partition("=")
        word = SHORT.get(short, short) + equals + rest
        if not word.startswith("--"):
            alone.append(word)
            continue
        name, equals, text = word[2:].partition("=")
        option = _option(name.replace("-", "_"), known, command)
        text = text if equals else _next_value(option, words)
        setting = _named(option, text) if option.named else (option.name, option.value(text))
        if option.named and setting[0] in dict(given):
            raise UserError(f"{option.flag} {text.partition('=')[0]} is given twice", "give each name once")
        given.append(setting)
    return given + _without_names(alone, [o for o in known.values() if o.word], command)


def _option(name: str, known: dict[str, Option], command: str) -> Option:
    """Returns the option with a name; the error for an unknown one names what may be meant."""
    if name in known and not known[name].word:
        return known[name]
    if found := next((m for m in OPEN_MAPS if name.startswith(m) and m[:-1] in known), None):
        return Option(name, OPEN_MAPS[found])
    named = [option.name for option in known.values() if not option.word]
    near = difflib.get_close_matches(name, named, n=1, cutoff=0.5)
    near = near or [n for n in named if n.rpartition(".")[2] == name.rpartition(".")[2]]
    meant = known[near[0]].flag if near else ""
    if name in NAMES_ELSEWHERE and "run_dir" in known:
        meant = f"--{NAMES_ELSEWHERE[name]}"
    raise UserError(f"unknown option --{name}", f"did you mean {meant}?" if meant else f"see afrieval {command} --help")


def _next_value(option: Option, words: list[str]) -> str:
    """Takes the value of an option from the words that follow it; an option that is true or false needs none."""
    boolean = bool in option.types
    if words and (words[0].lower() in ("true", "false", "null") if boolean else not words[0].startswith("--")):
        return words.pop(0)
    if boolean:
        return "true"
    raise UserError(f"option {option.flag} has no value", f"write {option.flag} VALUE")


def _named(option: Option, text: str) -> tuple[str, str]:
    """Returns NAME and PATH of an option such as --reference NAME=PATH, as the name and value of a setting."""
    name, equals, value = text.partition("=")
    if not (equals and value and re.fullmatch(r"[\w-]+", name)):
        raise UserError(f"option {option.flag} is {text!r}", f"write {option.flag} NAME=PATH")
    return f"{option.name}.{name}", value


def _without_names(alone: list[str], options: list[Option], command: str) -> Given:
    given: Given = []
    for option in options:
        taken, alone = (alone, []) if option.members else (alone[:1], alone[1:])
        if option.choices and not {*taken[:1]} & {*option.choices}:
            but = f", not {shortened(taken[0])!r}" if taken else ""
            problem = f"afrieval {command} must be followed by {' or '.join(option.choices)}{but}"
            raise UserError(problem, f"see afrieval {command} --help")
        given += [(option.name, taken if option.members else taken[0])] if taken else []
    for word in [*alone, *(w for _, value in given for w in ([value] if isinstance(value, str) else value))]:
        if word in alone or (word.startswith("-") and word != "-"):
            raise UserError(f"unexpected argument {shortened(word)!r}", f"see afrieval {command} --help")
    return given


def _own(kind: type[T], given: Given, command: str) -> T:
    options = options_of(kind)
    maps = {option.name for option in options if option.named}
    own = [(n, v) for n, v in given if n in {o.name for o in options} or n.partition(".")[0] in maps]
    for option in options:
        if option.default is MISSING and option.name not in dict(own):
            missing = option.word.removesuffix(" ...") or option.flag
            raise UserError(f"{missing} is missing", f"see afrieval {command} --help")
    return parse(kind, own)
