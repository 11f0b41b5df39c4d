"""Options as commands declare them: fields of a frozen dataclass, whose docstrings are the text of `--help`.

Those that several commands have are here: files of settings and of tables, MODEL and TASKS, a new task.
"""

import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NotRequired, TypeVar, Union, get_args, get_origin, get_type_hints

import docstring_parser
import yaml
from typing_extensions import TypedDict

from afrieval._util.schema import CLOSED
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
NEW = FROM_HUB, FROM_FILE = "hub:", "file:"  # what `afrieval run` writes a task for
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
    """Base of commands and of groups of settings: the class docstring describes them, field docstrings each option."""

    __pydantic_config__ = CLOSED


@dataclass(frozen=True, kw_only=True)
class RunOptions(Options):
    """Base of what commands declare that take the settings of a run as well: the files that hold some.

    Attributes:
        refused: settings that the command does not take, to what to do instead.
    """

    refused: ClassVar[Mapping[str, str]] = {}
    config: File | None = None
    """YAML file with all settings of a run, as afrieval run --print-config prints them. Default: no file."""
    model_config_yaml: File | None = None
    """YAML file with model options, as in configs/models/, and an optional eval: map. Default: no file."""
    task_config_yaml: File | None = None
    """YAML file with task options, as in configs/tasks/, and optional eval: and model: maps. Default: no file."""


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
class ModelAndTasks(RunOptions):
    """What a command that runs or plans a model may be given without a name."""

    model: Annotated[str, Word("[MODEL]")] | None = None
    """Model: a hub id, a folder, a model file, or the name of one, such as gpt_4o. afrieval list models shows them."""
    tasks: Annotated[list[str], Word("[TASKS]")] = field(default_factory=list)
    """Tasks, separated by commas; a path, such as my-tasks/mytask, is a task of your own. Or a suite or a task file.
    afrieval list shows tasks and suites."""


@dataclass(frozen=True)
class NewTask(Options):
    """How to ask about a data set that no task declares."""

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
    def entries(self) -> Any:
        """The type of a map's values; None if it takes no map."""
        return next((get_args(m)[1] for m in self.types if get_origin(m) is dict), None)

    @property
    def choices(self) -> list[str]:
        """The words that it takes, if it takes no others."""
        return [word for m in self.members or self.types if get_origin(m) is Literal for word in get_args(m)]

    def value(self, text: str) -> Any:
        """Returns a text as numbers and lists where the option takes them; anything else stays as it is."""
        kinds = self.types
        if not (self.members and (text.startswith("[") or "," in text or str not in kinds)):
            return _number(text, kinds)
        if text == "null" or (text.startswith("[") and not isinstance(any_value(text), list)):
            return text
        parts = yaml.load(text, yaml.BaseLoader) if text.startswith("[") else map(str.strip, text.split(","))
        return [_number(part, self.members) for part in parts if part]


def options_of(kind: type) -> list[Option]:
    """Returns the options that a dataclass declares, including the options of its sections."""
    hints, texts, options = get_type_hints(kind, include_extras=True), _docstrings(kind), list[Option]()
    for each in sorted(fields(kind), key=lambda each: bool(each.kw_only)):
        if is_dataclass(hints[each.name]):
            options += [replace(o, name=f"{each.name}.{o.name}") for o in options_of(hints[each.name])]
        else:
            default = each.default if each.default_factory is MISSING else each.default_factory()
            options.append(Option(each.name, hints[each.name], texts.get(each.name, ""), default))
    return options


@cache
def _docstrings(kind: type) -> dict[str, str]:
    """Returns the text below each field of a dataclass and of its bases, by name."""
    texts: dict[str, str] = {}
    for base in reversed([base for base in kind.__mro__ if is_dataclass(base)]):
        parameters = docstring_parser.parse_from_object(base).params
        texts |= {each.arg_name: " ".join(str(each.description).split()) for each in parameters}
    return texts


def map_of(name: str, options: Mapping[str, Option]) -> Option | None:
    """Returns the map that an option is an entry of, such as `model.backend_args.NAME`; None if it is of none."""
    return next((o for o in options.values() if o.entries is not None and name.startswith(f"{o.name}.")), None)


def any_value(text: str) -> Any:
    """Returns what a text is in YAML; the text itself if it is not YAML."""
    if _SCIENTIFIC.fullmatch(text):
        return float(text)
    try:
        return parsed(text)[0] if text else text
    except (yaml.YAMLError, RecursionError, UnicodeEncodeError):  # the last for bytes of a path that are no text
        return text


def _alternatives(hint: Any) -> list[Any]:
    return list(get_args(hint)) if get_origin(hint) in (Union, types.UnionType) else [hint]


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _number(text: Any, kinds: list[Any]) -> Any:
    """Returns a number if the option takes it and the text is one; 1_0 is none."""
    if float in kinds and _NUMBER.fullmatch(str(text)):
        return float(text)
    return int(text) if int in kinds and _WHOLE.fullmatch(str(text)) else text
