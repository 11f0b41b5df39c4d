"""The one way to read a command line: words become options with their full names, and beat settings of files.

jsonargparse parses numbers, booleans, words to choose from and lists, and merges them with what files have.
"""

import difflib
import json
import re
from argparse import ArgumentError
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from types import NoneType
from typing import Any, TypeVar

from jsonargparse import ArgumentParser, Namespace
from typing_extensions import TypedDict

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped
from afrieval._util.schema import CLOSED, validated_json
from afrieval._util.terminal import shortened
from afrieval.config.files import (
    SECTIONS,
    YAML,
    Settings,
    inserted,
    model_settings,
    parse,
    read_file,
    suite_file,
    task_settings,
)
from afrieval.config.options import Option, RunOptions, any_value, map_of, options_of
from afrieval.config.settings import RunConfig
from afrieval.config.short_form import DAILY, MODEL_ARGS, NOT_HERE, full_name, model_args_flags

T = TypeVar("T")
R = TypeVar("R", bound=RunOptions)
Flag = tuple[Option, str]  # an option and the text that it is given; an entry of a map has an option of its own


def read_options(kind: type[T], argv: list[str], command: str) -> T:
    """Returns the options of a command that takes no settings of a run."""
    return _own(kind, *_flags(kind, argv, command), command)


def read_given(kind: type[R], argv: list[str], command: str) -> tuple[R, Settings]:
    """Returns the options of a command, and the settings of a run that files and flags give.

    `files.run_config` makes a config of the settings.
    """
    flags, words = _flags(kind, argv, command)
    options = _own(kind, flags, words, command)
    texts = {option.name: text for option, text in flags} | words
    model, tasks = getattr(options, "model", None), getattr(options, "tasks", None)
    _check_given_once(texts, {"model": model or texts.get(MODEL_ARGS.name), "task": tasks})
    settings = Settings()
    for path, section in ((options.config, "run"), (options.model_config_yaml, "model")):
        settings |= read_file(here_or_shipped(user_path(path)), section) if path is not None else {}
    further = Settings()
    if options.task_config_yaml is not None:
        further = read_file(here_or_shipped(user_path(options.task_config_yaml)), "task")
    elif (suite := texts.get("task.suite")) and not tasks and not {"task.task_name", "task.groups"} & {*texts}:
        further = read_file(suite_file(suite), "task")
    if MODEL_ARGS.name in texts:
        named = {option.name: option for option in options_of(RunConfig)}
        pairs = model_args_flags(model or "hf", texts[MODEL_ARGS.name])
        flags = [*((_option(name, named, command), text) for name, text in pairs), *flags]
    else:
        settings |= model_settings(model, settings | further | texts)
    settings = _merged(RunConfig, flags, settings | further | task_settings(tasks))
    for name, hint in kind.refused.items():
        if name in settings:
            raise UserError(f"{name} is given to afrieval {command}", hint)
    return options, settings


def _check_given_once(flags: Mapping[str, Any], words: Mapping[str, Any]) -> None:
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
    if not issubclass(kind, RunOptions):
        return {"Options": options_of(kind)}
    files = [each.name for each in fields(RunOptions)]
    sections: dict[str, list[Option]] = {"Options": [], "Config files": []}
    for option in options_of(kind):
        sections["Config files" if option.name in files else "Options"].append(option)
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


def _flags(kind: type, argv: list[str], command: str) -> tuple[list[Flag], dict[str, Any]]:
    """Returns the options that words name, and the values of those that are given without a name."""
    by_name = {option.name: option for options in sections_of(kind).values() for option in options}
    words, flags, alone = list(argv), list[Flag](), []
    while words:
        word = words.pop(0)
        word = f"-{word}" if word.partition("=")[0] == "-o" else word
        if not word.startswith("--"):
            alone.append(word)
            continue
        name, equals, text = word[2:].partition("=")
        option = _option(name, by_name, command)
        text = text if equals else _next_value(option, words)
        if option.name == "config" and "new.config" in by_name and not text.endswith(YAML):
            option = by_name["new.config"]  # the configuration of a data set
        if option.named:
            entry, equals, path = text.partition("=")  # of a map, as in --reference NAME=PATH
            if not (equals and path and re.fullmatch(r"[\w-]+", entry)):
                raise UserError(f"option {option.flag} is {text!r}", f"write {option.flag} NAME=PATH")
            option, text = Option(f"{option.name}.{entry}", option.entries), path
            if any(option.name == other.name for other, _ in flags):
                raise UserError(f"--{option.name.replace('.', ' ')} is given twice", "give each name once")
        flags.append((option, text))
    texts = {option.name for option, _ in flags}
    unnamed = [option for option in by_name.values() if option.word and option.name not in texts]
    return flags, _without_names(alone, unnamed, command)


def _option(typed: str, by_name: dict[str, Option], command: str) -> Option:
    """Returns the option with a name; the error for an unknown one names what may be meant."""
    name = typed.replace("-", "_")
    if "model.backend_args" in by_name and name == MODEL_ARGS.name:
        return MODEL_ARGS
    name = name if name in NOT_HERE else full_name(name, by_name)
    if name in by_name:
        return by_name[name]
    if whole := map_of(name, by_name):
        return Option(name, whole.entries)
    names = [*by_name, *(short for short, full in DAILY.items() if full in by_name)]
    near = next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.5)), "")
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


def _without_names(alone: list[str], options: list[Option], command: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for option in options:
        words, alone = (alone, []) if option.members else (alone[:1], alone[1:])
        if option.choices and not {*words[:1]} & {*option.choices}:
            but = f", not {shortened(words[0])!r}" if words else ""
            problem = f"afrieval {command} must be followed by {' or '.join(option.choices)}{but}"
            raise UserError(problem, f"see afrieval {command} --help")
        if words:
            settings[option.name] = words if option.members else words[0]
    for word in [*alone, *(w for words in settings.values() for w in ([words] if isinstance(words, str) else words))]:
        if word in alone or (word.startswith("-") and word != "-"):
            raise UserError(f"unexpected argument {shortened(word)!r}", f"see afrieval {command} --help")
    return settings


def _own(kind: type[T], flags: Sequence[Flag], words: Mapping[str, Any], command: str) -> T:
    """Returns the options that a dataclass declares; the others are left out."""
    options, named = options_of(kind), {option.name for option, _ in flags}
    for option in options:
        if option.default is MISSING and option.name not in {*words} | named:
            missing = option.word.removesuffix(" ...") or option.flag
            raise UserError(f"{missing} is missing", f"see afrieval {command} --help")
    return parse(kind, _merged(kind, flags, {o.name: words[o.name] for o in options if o.name in words}))


def _merged(kind: type, flags: Sequence[Flag], settings: Settings) -> Settings:
    """Returns settings together with the options of a dataclass that are given, which beat them.

    Texts and maps do not pass through jsonargparse: YAML would read the folder ~ as null, the text 1:30 as 90, and the
    text '5' of a backend's argument as a number.
    """
    options = {option.name: option for option in options_of(kind)}
    namespace, words = Namespace(), []  # type: ignore[no-untyped-call]
    values = _last_values(options, flags, settings)
    for name, value in (settings | values).items():
        kinds = options[name].types if name in options else []
        is_text = isinstance(value, str) and str in kinds and (value != "null" or NoneType not in kinds)
        if name not in values or name not in options or is_text or isinstance(value, dict):
            namespace[name] = value
            continue
        numbers = {int, float} & {*(members := options[name].members or kinds)} and str not in members
        if numbers and any(isinstance(part, str) and part != "null" for part in _listed(value)):
            _check(options[name], value)  # refuses what YAML reads and people do not write, such as 1_0 and 0x1
        words.append(f"--{name}={value if isinstance(value, str) else json.dumps(value)}")
    try:
        return dict(_parser_of(kind).parse_args(words, namespace, defaults=False).items())
    except ArgumentError as e:
        name = (re.findall(r'Parser key "(.*?)"', str(e)) or [""])[0]
        if name in values:
            _check(options[name], values[name])  # in our words
        raise UserError(" ".join(str(e).split()), "see --help") from None


def _last_values(options: Mapping[str, Option], flags: Sequence[Flag], settings: Settings) -> dict[str, Any]:
    """Returns the value of each option that is given; what may be repeated adds up, also with settings of files."""
    values: dict[str, Any] = {}
    for option, text in flags:
        name, value = option.name, option.value(text)
        if whole := options.get(name) if option.entries is not None else map_of(name, options):
            entry: Any = text if str in option.types else any_value(text.lower() if bool in option.types else text)
            entry = text if entry is None and Any not in option.types else entry
            path = name.removeprefix(whole.name).split(".")[1:]
            before = values.get(whole.name, settings.get(whole.name))
            values[whole.name] = inserted(before, path, entry)
        elif name in options:
            before = values.get(name, settings.get(name))
            adds = option.repeats and before and value and text != "null"
            values[name] = _listed(before) + _listed(value) if adds else value
    return values


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@cache
def _parser_of(kind: type) -> ArgumentParser:
    """Returns a parser of the options that a dataclass declares; a field that is a dataclass is a section."""
    parser = ArgumentParser(exit_on_error=False, add_help=False, parser_mode="json")
    parser.add_class_arguments(kind, nested_key=None)
    return parser


def _check(option: Option, value: Any) -> None:
    """Raises UserError for a value that an option does not take."""
    kind = TypedDict("kind", {option.name: option.hint})  # type: ignore[misc]
    kind.__pydantic_config__ = CLOSED  # type: ignore[attr-defined]
    content = json.dumps({option.name: value}, ensure_ascii=False).encode(errors="replace")
    validated_json(kind, content, "--")
