"""Options that several commands have: MODEL and TASKS, a new task, and files for tables."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from afrieval._util.schema import CLOSED
from afrieval.config.options import File, Metavar, Options, RunOptions, Word

NEW = FROM_HUB, FROM_FILE = "hub:", "file:"  # what `afrieval run` writes a task for


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
