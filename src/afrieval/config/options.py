"""Options as commands declare them: fields of a frozen dataclass, whose docstrings are the text of `--help`."""

import inspect
import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from textwrap import fill
from typing import Annotated, Any, ClassVar, Literal, NotRequired, TypeVar, Union, get_args, get_origin

import yaml
from annotated_types import Ge, Le
from jsonargparse import SUPPRESS, ArgumentParser, set_parsing_settings
from typing_extensions import TypedDict

from afrieval._util.schema import CLOSED
from afrieval._util.terminal import visible
from afrieval._util.yaml_files import parsed

T = TypeVar("T")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?(\d{1,18}\.?\d*|\.\d+)([eE][+-]?\d{1,2})?", re.ASCII)
_SCIENTIFIC = re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+")  # YAML 1.1 takes it for text


@dataclass(frozen=True)  # no tuple: one equals a `Word`, and Python 3.11.2 then takes their types for one
class Metavar:
    """What stands for a value in the help; annotated to the type of an option."""

    text: str


class Word(Metavar):
    """What stands for an option that is given without a name, such as `RUN`."""


REPEATED = Metavar("LIST")
Repeated = list[Annotated[T, REPEATED]]  # grows each time the option is given; otherwise the last value counts
File = Annotated[str, Metavar("FILE")]
Folder = Annotated[str, Metavar("FOLDER")]
NAMED = Metavar("NAME=PATH")
References = Annotated[dict[str, str], NAMED]  # grows each time the option is given, as NAME=PATH


class DerivedConfig(TypedDict):
    """How a metric of a suite is computed.

    Attributes:
        how: the way, as in `auc`.
        of: TASK.METRIC, or a derived metric declared before; one or several.
        reference: name of a reference run, whose metrics are further inputs.
    """

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    how: str
    of: str | list[str]
    reference: NotRequired[str]


@dataclass(frozen=True)
class Options:
    """Base of what commands declare: the class docstring describes the command, field docstrings its options."""

    __pydantic_config__ = CLOSED


@dataclass(frozen=True)
class RunOptions(Options):
    """Base of what commands declare that take the settings of a run as well.

    Attributes:
        refused: settings that the command does not take, to what to do instead.
    """

    refused: ClassVar[Mapping[str, str]] = {}


@dataclass(frozen=True, kw_only=True)
class TableFiles(Options):
    """Files for the tables that a command prints."""

    json: File | None = None
    """File to write all tables to, as JSON; - is standard output. Default: no file."""
    csv: File | None = None
    """The same, as CSV. If there are several kinds of tables, each has a file, such as FILE-scores.csv, and their names
    are printed. Default: no file."""
    markdown: File | None = None
    """The same, as Markdown. Default: no file."""
    latex: File | None = None
    """The same, as LaTeX. Default: no file."""


@dataclass(frozen=True)
class Option:
    """One option: its name as a key, such as `eval.limit`, and its type; `MISSING` is the default of a required one."""

    name: str
    hint: Any
    help: str = ""
    default: Any = None

    @property
    def flag(self) -> str:
        """The name as the documentation writes it: settings as in files, other options with dashes."""
        return f"--{self.name if '.' in self.name else self.name.replace('_', '-')}"

    @property
    def types(self) -> list[Any]:
        """The types that a value may have, without what is annotated to them."""
        return [_bare(m) for m in _alternatives(self.hint)]

    @property
    def annotations(self) -> list[Any]:
        """What is annotated to the types: ranges such as `Ge(1)`, and a `Metavar`."""
        return [each for m in _alternatives(self.hint) if get_origin(m) is Annotated for each in get_args(m)[1:]]

    @property
    def word(self) -> str:
        """What stands for it in the usage line, if it is given without a name."""
        return next((each.text for each in self.annotations if isinstance(each, Word)), "")

    @property
    def repeats(self) -> bool:
        """Whether its values add up if it is given more than once."""
        return any(REPEATED in get_args(get_args(m)[0]) for m in self.types if get_origin(m) is list)

    @property
    def named(self) -> bool:
        """Whether its values are given as NAME=VALUE."""
        return NAMED in self.annotations

    @property
    def members(self) -> list[Any]:
        """The types that members of a list may have; empty if it takes no list."""
        return [_bare(get_args(m)[0]) for m in self.types if get_origin(m) is list]

    @property
    def choices(self) -> list[str]:
        """The words that it takes, if it takes no others."""
        return [word for m in self.members or self.types if get_origin(m) is Literal for word in get_args(m)]

    def value(self, text: str) -> Any:
        """Returns what a text says; the text itself if the option does not take it, for `parse` to refuse."""
        kinds = self.types
        if text == "null" and type(None) in kinds:
            return None
        if self.members and (text.startswith("[") or "," in text or str not in kinds):
            return _listed(text, self.members)
        if any(m is Any or get_origin(m) is dict for m in kinds):
            parsed_value = any_value(text)
            return text if parsed_value is None and Any not in kinds else parsed_value
        if self.choices:
            return text
        return any_value(text.lower()) if bool in kinds else _number(text, kinds)


@cache
def parser_of(kind: type) -> ArgumentParser:
    """Returns a parser of the options that a dataclass declares; a field that is a dataclass is a section."""
    set_parsing_settings(docstring_parse_attribute_docstrings=True)
    parser = ArgumentParser(exit_on_error=False, add_help=False)
    parser.add_class_arguments(kind, nested_key=None)
    return parser


def options_of(kind: type) -> list[Option]:
    """Returns the options that a dataclass declares, including the options of its sections."""
    return [
        Option(each.dest, each._typehint, " ".join(str(each.help).split()), MISSING if each.required else each.default)
        for each in parser_of(kind)._actions
        if hasattr(each, "_typehint") and each.default != SUPPRESS and not each.dest.endswith(".help")
    ]


def any_value(text: str) -> Any:
    """Returns what a text is in YAML; the text itself if it is not YAML."""
    if _SCIENTIFIC.fullmatch(text):
        return float(text)
    try:
        return parsed(text)[0] if text else text
    except (yaml.YAMLError, RecursionError):
        return text


def _alternatives(hint: Any) -> list[Any]:
    return list(get_args(hint)) if get_origin(hint) in (Union, types.UnionType) else [hint]


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _listed(text: str, kinds: list[Any]) -> Any:
    """Returns the members of a list, written `a,b`, `a` or `[a, b]`; the text if its bracket is not closed."""
    if text.startswith("[") and not isinstance(any_value(text), list):
        return text
    parts = yaml.load(text, yaml.BaseLoader) if text.startswith("[") else map(str.strip, text.split(","))
    return [_number(part, kinds) for part in parts if part]


def _number(text: Any, kinds: list[Any]) -> Any:
    """Returns a number if the option takes it and the text is one; 1_0 is none."""
    if float in kinds and _NUMBER.fullmatch(str(text)):
        return float(text)
    return int(text) if int in kinds and _WHOLE.fullmatch(str(text)) else text


WIDTH, INDENT = 80, " " * 6
GENERAL = """
General:
  --help
      Print this help.
  --debug
      Show the traceback of an error.
""".strip()
NOTES = """
Options beat files, and the eval: map of a task file beats that of a model file.
Names may have dashes or underscores, and an equals sign or a blank before the
value: --eval.num-fewshot 2, --eval.num_fewshot=2. An option that is true or
false may stand alone: --eval.write-out. A list is written a,b or [a, b]. null
stands for no value. A backend argument may be given by its own name:
--model.backend_args.NAME VALUE.
""".strip()


def help_text(command: str, kind: type, sections: dict[str, list[Option]]) -> str:
    """Returns how a command is used, what it does, examples and all options."""
    parts = _head(command, kind, next(iter(sections.values())))
    parts += ["\n".join([f"{title}:", *map(_entry, options)]) for title, options in sections.items() if options]
    return "\n\n".join([*parts, GENERAL, *([NOTES] if len(sections) > 1 else [])])


def daily_help(command: str, kind: type, options: list[Option], daily: dict[str, Option]) -> str:
    """Returns how a command is used, with the options that are used daily, on one screen.

    Args:
        command: the command.
        kind: the dataclass that declares it.
        options: those that it declares.
        daily: settings by short name.
    """
    rows = {option.word or f"{option.flag} {_metavar(option)}": option for option in options}
    rows |= {f"--{name.replace('_', '-')} {_metavar(option)}": option for name, option in daily.items()}
    width = min(max(map(len, rows)) + 4, 30)
    lines = [line for head, option in rows.items() for line in _row(head, option, width)]
    more = f"afrieval {command} --help-all describes all options. --debug shows the traceback of an error."
    return "\n\n".join([*_head(command, kind, options), "\n".join(["Daily options:", *lines]), fill(more, WIDTH)])


def _head(command: str, kind: type, options: list[Option]) -> list[str]:
    described, _, examples = str(inspect.getdoc(kind)).partition("\n\nExamples:\n")
    usage = [f"{o.flag} {_metavar(o)}" for o in options if o.default is MISSING and not o.word]
    usage += [o.word for o in options if o.word]
    parts = [f"usage: {' '.join(['afrieval', command, *usage, '[options]'])}"]
    parts += [fill(" ".join(paragraph.split()), WIDTH) for paragraph in described.split("\n\n")]
    return parts + ([f"Examples:\n{examples.replace('    ', '  ')}"] if examples else [])


def _row(head: str, option: Option, width: int) -> list[str]:
    """Returns an option and the first sentence about it, side by side."""
    what = visible(re.split(r"(?<=\.) ", f"{option.help} ")[0].strip())
    blank = " " * width
    first = f"  {head}".ljust(width)
    if len(first) > width or first.endswith(head):
        return [
            first,
            *fill(what, WIDTH, initial_indent=blank, subsequent_indent=blank, break_on_hyphens=False).splitlines(),
        ]
    return fill(what, WIDTH, initial_indent=first, subsequent_indent=blank, break_on_hyphens=False).splitlines()


def _entry(option: Option) -> str:
    head = f"  {option.word or f'{option.flag} {_metavar(option)}'}"
    text = fill(visible(_described(option)), WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
    return f"{head}\n{text}"


def _metavar(option: Option) -> str:
    """Returns what stands for the value of an option: the words that it takes, or their kind."""
    if declared := [each.text for each in option.annotations if isinstance(each, Metavar)]:
        return declared[0]
    if option.choices:
        return f"{{{','.join(option.choices)}}}"
    if bool in option.types:
        return "[true|false]"
    kinds = {
        "LIST": bool(option.members),
        "MAP": any(get_origin(m) is dict for m in option.types),
        "N": str not in option.types,
    }
    return next((name for name, fits in kinds.items() if fits), "VALUE")


def _described(option: Option) -> str:
    what, _, default = option.help.partition("Default: ")
    parts = [what.strip()]
    least = next((each.ge for each in option.annotations if isinstance(each, Ge)), None)
    most = next((each.le for each in option.annotations if isinstance(each, Le)), None)
    if least is not None:
        parts.append(f"{least} or more." if most is None else f"{least} to {most}.")
    if option.repeats:
        parts.append("May be repeated.")
    if option.default is MISSING:
        return " ".join([*parts, "Required."])
    shown = str(option.default).lower() if isinstance(option.default, bool) else option.default
    usual = f"{shown}." if shown or shown == 0 else "none."
    return " ".join([*parts, f"Default: {default or usual}"])
