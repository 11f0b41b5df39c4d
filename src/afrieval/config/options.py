"""Options as commands declare them: fields of a frozen dataclass, whose docstrings are the help."""

import ast
import inspect
import re
import types
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

from afrieval.files.schema import CLOSED
from afrieval.files.yaml import parsed

T = TypeVar("T")
TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_SCIENTIFIC = re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+")  # YAML 1.1 takes it for text


class Metavar(NamedTuple):
    """What stands for a value in the help; annotated to the type of an option."""

    text: str


class Word(Metavar):
    """The same for an option that is given without a name, such as `RUN`."""


REPEATED = Metavar("LIST")
Repeated = Annotated[list[T], REPEATED]  # grows each time the option is given; otherwise the last value counts
File = Annotated[str, Metavar("FILE")]
Folder = Annotated[str, Metavar("FOLDER")]


@dataclass(frozen=True)
class Options:
    """Base of what commands declare: the class docstring describes the command, field docstrings its options."""

    __pydantic_config__ = CLOSED


@dataclass(frozen=True)
class RunOptions(Options):
    """Base of what commands declare that take the settings of a run as well."""


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        name: as a key: `show_blanks`, `eval.limit`.
        hint: its type.
        help: what it does.
        default: `MISSING` if it must be given.
    """

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
        return [get_args(m)[0] if get_origin(m) is Annotated else m for m in _alternatives(self.hint)]

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
        return any(each is REPEATED for each in self.annotations)

    @property
    def members(self) -> list[Any]:
        """The types that members of a list may have; empty if it takes no list."""
        return [get_args(m)[0] for m in self.types if get_origin(m) is list]

    @property
    def choices(self) -> list[str]:
        """The words that it takes, if it takes no others."""
        return [word for m in self.members or self.types if get_origin(m) is Literal for word in get_args(m)]

    def value(self, text: str) -> Any:
        """Returns the value that a text stands for; the text itself, if it is of no type that the option takes."""
        if text == "null" and type(None) in self.types:
            return None
        if self.members and (text.startswith("[") or "," in text or str not in self.types):
            parts = _parts(text)
            return [_scalar(part, self.members) for part in parts] if isinstance(parts, list) else text
        if any(m is Any or get_origin(m) is dict for m in self.types):
            return _any_value(text)
        return _scalar(text, self.types)


def options_of(kind: type, prefix: str = "") -> list[Option]:
    """Returns the options that a dataclass declares; a field that is a dataclass is a section."""
    hints, docs = get_type_hints(kind, include_extras=True), _field_docs(kind)
    found: list[Option] = []
    for each in fields(kind):
        name, hint = f"{prefix}{each.name}", hints[each.name]
        is_section = is_dataclass(hint)
        found += options_of(hint, f"{name}.") if is_section else [Option(name, hint, docs[each.name], _default(each))]
    return found


def _field_docs(kind: type) -> dict[str, str]:
    """Returns the string below each field of a dataclass, in one line."""
    (declared,) = ast.parse(inspect.getsource(kind)).body
    docs = {}
    for line, below in pairwise(getattr(declared, "body", [])):
        if isinstance(line, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            docs[ast.unparse(line.target)] = " ".join(str(below.value.value).split())
    return docs


def _default(declared: Field[Any]) -> Any:
    return declared.default_factory() if declared.default_factory is not MISSING else declared.default


def _alternatives(hint: Any) -> list[Any]:
    return list(get_args(hint)) if get_origin(hint) in (Union, types.UnionType) else [hint]


def _parts(text: str) -> Any:
    """Returns the members of a list as texts: of `a,b`, `a` or `[a, b]`."""
    if not text.startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    return yaml.load(text, yaml.BaseLoader) if isinstance(_any_value(text), list) else text


def _scalar(text: Any, kinds: list[Any]) -> Any:
    if isinstance(text, str) and bool in kinds:
        return TRUTH.get(text.strip().lower(), text)
    if isinstance(text, str) and int in kinds and re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        return int(text)
    return text


def _any_value(text: str) -> Any:
    """Returns what a text is in YAML; the text itself if it is not YAML."""
    if _SCIENTIFIC.fullmatch(text):
        return float(text)
    try:
        return parsed(text)[0] if text else text
    except (yaml.YAMLError, RecursionError):
        return text
