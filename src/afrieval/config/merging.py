"""The options that are given are parsed and merged with settings of files, by jsonargparse."""

import json
import re
from argparse import ArgumentError
from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType
from typing import Any, NamedTuple

from jsonargparse import ArgumentParser, Namespace
from typing_extensions import TypedDict

from afrieval._util.errors import UserError
from afrieval._util.schema import CLOSED, validated_json
from afrieval.config.files import Settings, inserted
from afrieval.config.options import Option, any_value, map_of, options_of


class Flag(NamedTuple):
    """An option and the text that it is given; an entry of a map has an option of its own."""

    option: Option
    text: str


def merged(kind: type, flags: Sequence[Flag], settings: Settings) -> Settings:
    """Returns settings together with the options of a dataclass that are given, which beat them.

    jsonargparse parses numbers, booleans, words to choose from and lists. Texts and maps do not pass through it: YAML
    would read the folder ~ as null, the text 1:30 as 90, and the text '5' of a backend's argument as a number.
    """
    options = {option.name: option for option in options_of(kind)}
    namespace, words = Namespace(), []  # type: ignore[no-untyped-call]
    values = _last_values(options, flags, settings)
    for name, value in (settings | values).items():
        option = options.get(name)
        if name not in values or option is None or _is_text(option, value) or isinstance(value, dict):
            namespace[name] = value
        else:
            _check_numbers(option, value)
            words.append(f"--{name}={value if isinstance(value, str) else json.dumps(value)}")
    try:
        return dict(parser_of(kind).parse_args(words, namespace, defaults=False).items())
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
            path = name.removeprefix(whole.name).split(".")[1:]
            before = values.get(whole.name, settings.get(whole.name))
            values[whole.name] = inserted(before, path, _of_map(option, text))
        elif name in options:
            before = values.get(name, settings.get(name))
            adds = option.repeats and before and value and text != "null"
            values[name] = _listed(before) + _listed(value) if adds else value
    return values


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_text(option: Option, value: Any) -> bool:
    return isinstance(value, str) and str in option.types and (value != "null" or NoneType not in option.types)


@cache
def parser_of(kind: type) -> ArgumentParser:
    """Returns a parser of the options that a dataclass declares; a field that is a dataclass is a section."""
    parser = ArgumentParser(exit_on_error=False, add_help=False, parser_mode="json")
    parser.add_class_arguments(kind, nested_key=None)
    return parser


def _of_map(option: Option, text: str) -> Any:
    """Returns what a text is as a map, or as an entry of one."""
    value = text if str in option.types else any_value(text.lower() if bool in option.types else text)
    return text if value is None and Any not in option.types else value


def _check_numbers(option: Option, value: Any) -> None:
    """Refuses numbers that YAML reads and people do not write, such as 1_0 and 0x1."""
    kinds, parts = option.members or option.types, _listed(value)
    if {int, float} & {*kinds} and str not in kinds and any(isinstance(p, str) and p != "null" for p in parts):
        _check(option, value)


def _check(option: Option, value: Any) -> None:
    """Raises UserError for a value that an option does not take."""
    kind = TypedDict("kind", {option.name: option.hint})  # type: ignore[misc]
    kind.__pydantic_config__ = CLOSED  # type: ignore[attr-defined]
    content = json.dumps({option.name: value}, ensure_ascii=False).encode(errors="replace")
    validated_json(kind, content, "--")
