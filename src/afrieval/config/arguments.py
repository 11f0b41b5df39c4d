"""The one way to parse a command line: options that a command declares, and the settings of a run."""

import re
from dataclasses import MISSING, dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped
from afrieval._util.schema import CLOSED
from afrieval._util.terminal import shortened
from afrieval.config.files import SECTIONS, Given, parse, read_file, run_config, suite_file
from afrieval.config.options import File, Metavar, Option, Options, RunOptions, Word, options_of
from afrieval.config.settings import RunConfig
from afrieval.config.short_form import (
    DAILY,
    MODEL_ARGS,
    NOT_HERE,
    full_name,
    model_settings,
    similar_option,
    task_settings,
)

__all__ = ["Given", "read_given", "read_options", "run_config", "sections_of"]

T = TypeVar("T")
NEW = FROM_HUB, FROM_FILE = "hub:", "file:"  # what `afrieval run` writes a task for
ARGS = "model.backend_args."
OPEN_MAPS = {ARGS: Any, "task.extract.": bool | Any, "task.options.": str}  # to the type of their values


@dataclass(frozen=True)
class Files(Options):
    """Files that hold settings."""

    model_config_yaml: File | None = None
    """YAML file with model options, as in configs/models/, and an optional eval: map. Default: no file."""
    task_config_yaml: File | None = None
    """YAML file with task options, as in configs/tasks/, and optional eval: and model: maps. Default: no file."""


@dataclass(frozen=True)
class ModelAndTasks(RunOptions):
    """What a command that runs or plans a model may be given without a name."""

    model: Annotated[str, Word("[MODEL]")] | None = None
    """Model: a hub id, a folder, a model file, or the name of one, such as gpt_4o. afrieval list models shows them."""
    tasks: Annotated[list[str], Word("[TASKS]")] = field(default_factory=list)
    """Tasks, separated by commas; a path, such as my-tasks/mytask, is a task of your own. Or a suite or a task file.
    afrieval list shows tasks and suites."""


@dataclass(frozen=True)
class NewTask:
    """How to ask about a data set that no task declares."""

    __pydantic_config__ = CLOSED

    kind: Literal["classification", "multiple_choice", "question"] | None = None
    """For hub:ORG/NAME or file:FILE, a data set that no task declares: the kind of task to write. Default: none."""
    text: Annotated[list[str], Metavar("COLUMN")] | None = None
    """With --kind: column with the text or question, or several, such as passage,question. Default: none."""
    label: Annotated[str, Metavar("COLUMN")] | None = None
    """With --kind: column with the label, or the right answer. Default: none."""
    choices: Annotated[list[str], Metavar("COLUMNS")] | None = None
    """With --kind multiple_choice: column with the list of choices, or a column for each choice. Default: none."""
    config: Annotated[str, Metavar("NAME")] | None = None
    """With --kind: configuration of the data set, or a part of its files' names. Default: all, if each language has
    one."""


def read_options(kind: type[T], argv: list[str], command: str) -> T:
    """Returns the options of a command that takes no settings of a run."""
    return _own(kind, _parsed(argv, kind, command), command)


def read_given(kind: type[T], argv: list[str], command: str) -> tuple[T, Given]:
    """Returns the options of a command, and the settings of a run that files and flags give.

    `run_config` makes a config of the settings.
    """
    words = _parsed(argv, kind, command)
    options, files, flags = _own(kind, words, command), _own(Files, words, command), dict(words)
    model, tasks = getattr(options, "model", None), getattr(options, "tasks", None)
    _check_given_once(flags, {"model": model or flags.get(MODEL_ARGS.name), "task": tasks})
    settings = Given()
    if files.model_config_yaml is not None:
        settings += read_file(here_or_shipped(user_path(files.model_config_yaml)), "model")
    further = Given()
    if files.task_config_yaml is not None:
        further += read_file(here_or_shipped(user_path(files.task_config_yaml)), "task")
    elif (suite := flags.get("task.suite")) and not tasks and not {"task.task_name", "task.groups"} & {*flags}:
        further += read_file(suite_file(suite), "task")
    further += task_settings(tasks)
    elsewhere = {option.name for declared in (kind, Files) for option in options_of(declared)} | {MODEL_ARGS.name}
    further += [(name, value) for name, value in words if name not in elsewhere]
    settings += [*model_settings(model, flags.get(MODEL_ARGS.name), further), *further]
    for name, hint in getattr(kind, "refused", {}).items():
        if name in dict(settings):
            raise UserError(f"{name} is given to afrieval {command}", hint)
    return options, settings


def _check_given_once(flags: dict[str, Any], words: dict[str, Any]) -> None:
    """Rejects a model or tasks that are named twice."""
    for what, word in words.items():
        for name in (f"{what}_config_yaml", f"{what}.{what}_name"):
            if word and name in flags:
                flag = f"--{name.replace('_config_', '-config-')}"
                raise UserError(f"{shortened(str(word))} and {flag} both name a {what}", "give one of them")


def sections_of(kind: type, refused: bool = True) -> dict[str, list[Option]]:
    """Returns the options of a command, and the settings of a run if it takes them, by heading.

    Args:
        kind: the dataclass that declares the command.
        refused: whether settings that it does not take are included, as for parsing.
    """
    sections = {"Options": options_of(kind)}
    if not issubclass(kind, RunOptions):
        return sections
    sections["Config files"] = options_of(Files)
    for option in options_of(RunConfig):
        section = SECTIONS.get(option.name.partition(".")[0], RunConfig)
        if not refused and option.name in kind.refused:
            continue
        sections.setdefault(str(section.__doc__), []).append(option)
    return sections


def daily_of(kind: type) -> dict[str, Option]:
    """Returns the settings of a run that are used daily, by short name; empty for a command that takes no settings."""
    settings = {option.name: option for options in sections_of(kind, refused=False).values() for option in options}
    return {name: settings[of] for name, of in DAILY.items() if of in settings}


def as_typed(text: str, argv: list[str], kind: type) -> str:
    """Returns a message in which options have the names that the user typed, such as --shots, and not their full ones.

    Args:
        text: the message, or a hint.
        argv: the words after the command.
        kind: the dataclass that declares the command.
    """
    flags = {option.name: option.flag for options in sections_of(kind).values() for option in options}
    for word in reversed(argv):  # the last one counts
        typed = word.partition("=")[0]
        name = typed.lstrip("-").replace("-", "_")
        full = full_name(name, flags) if typed.startswith("-") else name
        if full != name:
            ways = [flags.get(full, f"--{full}"), f"--{full}", *([full] if "." in full else [])]
            text = re.sub(rf"(?<![\w.])({'|'.join(map(re.escape, ways))})(?!\.?\w)", typed, text)
    return text


def _parsed(argv: list[str], kind: type, command: str) -> Given:
    """Returns names and values; those of options without a name come last."""
    by_name = {option.name: option for options in sections_of(kind).values() for option in options}
    words, settings, alone = list(argv), Given(), []
    while words:
        word = words.pop(0)
        word = f"-{word}" if word.partition("=")[0] == "-o" else word
        if not word.startswith("--"):
            alone.append(word)
            continue
        name, equals, text = word[2:].partition("=")
        option = _option(name, by_name, command)
        text = text if equals else _next_value(option, words)
        setting = _named(option, text) if option.named else (option.name, option.value(text))
        if option.named and setting[0] in dict(settings):
            raise UserError(f"{option.flag} {text.partition('=')[0]} is given twice", "give each name once")
        settings.append(setting)
    return settings + _without_names(
        alone, [o for o in by_name.values() if o.word and o.name not in dict(settings)], command
    )


def _option(typed: str, by_name: dict[str, Option], command: str) -> Option:
    """Returns the option with a name; the error for an unknown one names what may be meant."""
    name = typed.replace("-", "_")
    if "model.backend_args" in by_name and name == MODEL_ARGS.name:
        return MODEL_ARGS
    name = name if name in NOT_HERE else full_name(name, by_name)
    if name in by_name:
        return by_name[name]
    if prefix := next((m for m in OPEN_MAPS if name.startswith(m) and m[:-1] in by_name), None):
        return Option(name, OPEN_MAPS[prefix])
    near = similar_option(name, by_name)
    flag = by_name[near].flag if near in by_name else f"--{near.replace('_', '-')}"
    hint = NOT_HERE.get(name) or (f"did you mean {flag}?" if near else f"see afrieval {command} --help")
    raise UserError(f"unknown option --{typed}", hint)


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
    settings: Given = []
    for option in options:
        words, alone = (alone, []) if option.members else (alone[:1], alone[1:])
        if option.choices and not {*words[:1]} & {*option.choices}:
            but = f", not {shortened(words[0])!r}" if words else ""
            problem = f"afrieval {command} must be followed by {' or '.join(option.choices)}{but}"
            raise UserError(problem, f"see afrieval {command} --help")
        settings += [(option.name, words if option.members else words[0])] if words else []
    for word in [*alone, *(w for _, value in settings for w in ([value] if isinstance(value, str) else value))]:
        if word in alone or (word.startswith("-") and word != "-"):
            raise UserError(f"unexpected argument {shortened(word)!r}", f"see afrieval {command} --help")
    return settings


def _own(kind: type[T], settings: Given, command: str) -> T:
    options = options_of(kind)
    names, maps = {o.name for o in options}, {o.name for o in options if o.named}
    opened = tuple(prefix for prefix in OPEN_MAPS if prefix[:-1] in names)
    declared = [(n, v) for n, v in settings if n in names or n.startswith(opened) or n.partition(".")[0] in maps]
    for option in options:
        if option.default is MISSING and option.name not in dict(declared):
            missing = option.word.removesuffix(" ...") or option.flag
            raise UserError(f"{missing} is missing", f"see afrieval {command} --help")
    return parse(kind, declared)
