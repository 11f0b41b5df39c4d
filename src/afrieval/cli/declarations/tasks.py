"""Options of the commands about tasks, their data, and the scores and ratings of stored answers."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Gt

from afrieval._util.schema import Positive, Seed
from afrieval.config.options import File, Folder, Metavar, Options, Repeated, RunOptions, TableFiles, Word
from afrieval.config.settings import Source


@dataclass(frozen=True)
class OwnTasks(Options):
    """Where tasks are."""

    folder: Folder | Repeated[Folder] | None = None
    """Folder of your own tasks. Default: none."""
    extract: Annotated[dict[str, bool], Metavar("MAP")] = field(default_factory=dict)
    """Options of the tasks' extractor to read stored answers with, such as --task.extract.strict true. Default: those
    that they were read with."""


@dataclass(frozen=True)
class ListCommand(TableFiles):
    """Lists tasks by kind, and suites; or what the named tasks, suites, languages and model files offer.

    With a folder of your own tasks, lists these alone.

    Examples:
        afrieval list
        afrieval list afrimmlu
        afrieval list afrobench-lite
        afrieval list --language hausa
        afrieval list models
        afrieval list --folder my-tasks
    """

    names: Annotated[list[str], Word("[TASK|SUITE|models ...]")] = field(default_factory=list)
    """Tasks to show with all that is known of them, suites, or models for the model files. Default: all tasks."""
    language: Annotated[str, Metavar("LANGUAGE")] | None = None
    """Language, by name or code: its tasks, with rows, native prompts, known defects and published scores. Default:
    none."""
    task: OwnTasks = field(default_factory=OwnTasks)
    """Tasks."""


@dataclass(frozen=True)
class CheckDataCommand(RunOptions, TableFiles):
    """Checks the data of tasks for defects of translation: rows out of order, other right answers, wrong languages.

    Without TASK, all tasks with parallel languages are checked, as far as the data source has them. Exit code 1 means
    that a finding is not in the task's known_defects.yaml. docs/data-quality.md explains the checks.

    Examples:
        afrieval check-data afrixnli --data FOLDER
        afrieval check-data afrixnli --languages lingala,swahili --rows 100
        afrieval check-data afrixnli --data FOLDER --baselines
    """

    tasks: Annotated[list[str], Word("[TASK ...]")] = field(default_factory=list)
    """Tasks to check. Default: the tasks of task.task_name, or all with parallel languages."""
    rows: Positive = 10
    """Maximum number of row numbers to print for each finding. JSON and CSV have all of them."""
    baselines: bool = False
    """Make no other checks. Print what a model gets in each language that does not read the text, and write it to
    baselines.yaml in the task's folder. Without TASK, do so for all tasks whose answers are choices."""


@dataclass(frozen=True)
class ReviewCommand(Options):
    """Writes sheets that people fill in, and reads them: to review native prompts, and to rate stored answers.

    sheet writes .xlsx, .csv or .html, with a row for each string of a language's prompts. read changes the prompt files
    of a checkout, stores the reviews in reviews/, and rewrites all files that depend on them.

    answers writes a sheet with answers of runs, without names of models, for people who rate them by the rubric of
    their task. ratings reads such sheets, of one or more people, into the run folders. docs/people.md explains both.

    Examples:
        afrieval review sheet --language yor -o yor.xlsx
        afrieval review read yor.xlsx --dry-run
        afrieval review answers runs/FIRST runs/SECOND --language hau -o hausa.xlsx
        afrieval review ratings amina.xlsx bello.xlsx runs/FIRST runs/SECOND
    """

    action: Annotated[Literal["sheet", "read", "answers", "ratings"], Word("{sheet,read,answers,ratings}")]
    """What to do."""
    files: Annotated[list[str], Word("[FILE|RUN ...]")] = field(default_factory=list)
    """Filled-in sheets to read, .xlsx or .csv: one with read. Run folders with answers and ratings. Default: none."""
    language: Annotated[str, Metavar("CODE")] | None = None
    """Language of the sheet to write, as an ISO 639-3 code. Default: none."""
    output: File | None = None
    """File to write the sheet to; -o is short for it. Its name ends in .xlsx, .csv or .html. Default: none."""
    reviewer: Annotated[str, Metavar("NAME")] | None = None
    """With read: name of the reviewer. Default: the name in the sheet."""
    n: Positive = 40
    """With answers: number of questions of each task, whose answers by all runs and prompts are rated."""
    seed: Seed = 42
    """With answers: decides which questions these are, and the order of the rows."""
    tasks: Repeated[str] = field(default_factory=list)
    """With answers: tasks to rate. Default: all with a rubric."""
    dry_run: bool = False
    """Write nothing, and print what reading the sheets would change."""
    task: OwnTasks = field(default_factory=OwnTasks)
    """Tasks."""


@dataclass(frozen=True)
class StoredData(Options):
    """Data of a stored run."""

    source: Source | None = None
    """Where the documents come from, as for afrieval run. They must be the run's documents. Default: its own source."""


@dataclass(frozen=True)
class JudgeOptions(Options):
    """Judge."""

    model: str | None = None
    """Model that judges, named as MODEL of afrieval run. Its settings, such as a server's prices and limits, are those
    of a model file. Default: none; --metric judge requires it."""
    max_cost: Annotated[float, Gt(0)] | None = None
    """Most that all its replies in the run folders may cost, as model.api.max_cost. Default: that of the model file."""
    max_tokens: Positive | None = None
    """Maximum number of tokens in a reply. Default: 512; more for models that think."""
    against: Folder | None = None
    """Run with other answers to the same questions. The judge then says which of two answers is better. Default: none;
    each answer is judged by itself."""


@dataclass(frozen=True, kw_only=True)
class StoredAnswers(Options):
    """What stored answers are scored with."""

    judge: JudgeOptions = field(default_factory=JudgeOptions)
    """Judge."""
    data: StoredData = field(default_factory=StoredData)
    """Data."""
    task: OwnTasks = field(default_factory=OwnTasks)
    """Tasks."""
