"""What each command can be given; `--help` needs no more than this, and so answers at once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from annotated_types import Gt

from afrieval._util.schema import NotNegative, Positive, Seed
from afrieval.cli.commands.exchange_options import (
    CheckRunsCommand,
    ExportCommand,
    LlamaCommand,
    PackCommand,
    PlotCommand,
    PrefetchCommand,
    ReviewCommand,
)
from afrieval.cli.commands.score_options import OwnTasks, ScoreCommand
from afrieval.config.options import File, Folder, Metavar, Options, References, Repeated, RunOptions, Word
from afrieval.config.settings import Points
from afrieval.config.shared_options import ModelAndTasks, NewTask, TableFiles

Dimension = Literal["prompt_language", "prompt", "model", "shots", "answer_form", "language"]
Grouping = Literal["Africa", "family", "script", "region"]


@dataclass(frozen=True, kw_only=True)
class AllMetrics(Options):
    """How much of its tables a command shows."""

    all_metrics: bool = False
    """Print all metrics and counts, not only scores, their intervals and what went wrong. JSON and CSV have all of
    them anyway."""


@dataclass(frozen=True)
class RunCommand(AllMetrics, ModelAndTasks):
    r"""Evaluates a model on tasks and prints a score, with its interval, for each language and prompt.

    Results go into a run folder. The same command continues a stopped run.

    Examples:
        afrieval run demo afrixnli --languages hausa,yoruba --data samples
        afrieval run Qwen/Qwen3-0.6B afrobench-lite --sample 100 --prompt-language both
        afrieval run demo hub:ORG/NAME --kind classification --text COLUMN --label COLUMN
        afrieval run --model-config-yaml configs/models/demo.yaml \
            --task-config-yaml configs/tasks/demo.yaml --data.source samples
    """

    dry_run: bool = False
    """Run nothing and load no model. Print what `afrieval plan` prints: requests, tokens, memory, time and cost."""
    share: Annotated[str, Metavar("N/SHARES")] | None = None
    """Run a share of the cells, such as 1/4, while others run the rest into the same run folder, as on other machines.
    The last one prints the scores. Default: all cells."""
    new: NewTask = field(default_factory=NewTask)
    """New task."""


@dataclass(frozen=True)
class PreviewCommand(RunOptions):
    """Prints one document under each prompt, exactly as a model would see it. Loads no model.

    Examples:
        afrieval preview afrixnli --languages yoruba --data samples
        afrieval preview afrimmlu --prompts 1,2 --document 3 --show-blanks
    """

    tasks: Annotated[list[str], Word("[TASKS]")] = field(default_factory=list)
    """Tasks, separated by commas; a path, such as my-tasks/mytask, is a task of your own. Or a suite or a task file.
    afrieval list shows tasks and suites."""
    document: NotNegative = 0
    """Row of the evaluated split to show, counted from 0."""
    show_blanks: bool = False
    """Make spaces, tabs and line ends visible."""


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
class PlanCommand(ModelAndTasks, TableFiles):
    """Prints how much a run has to compute, how long it takes, what it costs, and whether it fits the memory.

    Takes the options of afrieval run. Loads the tokenizer and config.json, but no weights, and writes nothing to the
    run folder. docs/planning.md explains the tables.

    Examples:
        afrieval plan demo afrobench-lite --data samples
        afrieval plan gpt_4o afrimmlu --languages hausa,swahili --json plan.json
        afrieval plan FOLDER afrimmlu --calibrate
        afrieval plan demo afrixnli --data samples --precision 2 --difference 3
    """

    calibrate: bool = False
    """Load the model and measure for about ten seconds, for each kind of request, how fast it answers requests of the
    plan. By default, rates that earlier runs of the same model on the same device have stored are used."""
    precision: Points | None = None
    """Say how many questions give each language's score an interval of +/- so many points, and what they take. Default:
    not asked."""
    difference: Points | None = None
    """Say how many questions show a difference of so many points between two models in each language, four times out of
    five. Default: not asked."""
    like: Repeated[Folder] = field(default_factory=list)
    """Run of the same tasks. Scores, and how often two models differ, are expected to be as there. Without one, half of
    the answers are taken to be right, and two models to differ on three questions of ten."""


@dataclass(frozen=True)
class RaceCommand(RunOptions, TableFiles):
    """Finds the best of several models, and asks only as many questions as that takes.

    All models are asked 50 questions of each task and language, then 100, 200 and so on. A model that is shown not to
    be the best is asked no more. Takes the options of afrieval run; --sample is the most questions, and --out the
    folder. The same command continues a race that was stopped. docs/cost.md explains how sure the result is.

    Examples:
        afrieval race gpt_4o gemini_2.5_flash claude_sonnet_4.5 --tasks afrixnli,afrimmlu --prompts 1 --dry-run
        afrieval race FOLDER1 FOLDER2 --tasks afrimmlu --by language --margin 2
    """

    refused: ClassVar[Mapping[str, str]] = {
        "model.model_name": "the models of a race are given without a name: afrieval race MODEL MODEL",
        "eval.limit": "give --sample N, the most questions of each language and prompt",
        "eval.looks": "a race counts its looks itself",
        "eval.until": "a race enlarges its samples itself, up to --sample N",
    }
    models: Annotated[list[str], Word("MODEL ...")]
    """Models: hub ids, folders, model files or their names, such as gpt_4o. afrieval list models shows them."""
    tasks: Repeated[str] = field(default_factory=list)
    """Tasks, folders of your own tasks, or one suite or task file. Default: the tasks of --task-config-yaml."""
    by: Literal["suite", "language"] = "suite"
    """suite finds the best in the average over tasks and African languages; language finds the best in each language,
    and asks a model only in languages where it may be the best."""
    margin: Points = 1.0
    """Difference that does not matter, in points: the race ends if all models that are left are shown to be closer."""
    most_requests: Positive | None = None
    """Most requests of all models together. The race ends before a look that would take more. Default: no limit."""
    most_cost: Annotated[float, Gt(0)] | None = None
    """The same for the cost in US dollars, at the prices of the model files. Default: no limit."""
    dry_run: bool = False
    """Ask nothing. Print the looks, and how many requests they have, at most."""


@dataclass(frozen=True)
class ShowCommand(AllMetrics, TableFiles):
    """Prints the tables of stored runs again: scores, prompts, averages, derived metrics, usage.

    Loads no model and needs no config. Of a run that is not finished, it prints what is there and says what is missing.

    Examples:
        afrieval show runs/FIRST
        afrieval show runs/FIRST runs/SECOND --csv tables.csv
    """

    runs: Annotated[list[str], Word("RUN ...")]
    """Run folders, or folders that have some below them."""


@dataclass(frozen=True)
class CompareCommand(AllMetrics, TableFiles):
    """Compares stored runs: differences with their intervals and p-values, prompts, and means over languages.

    Loads no model. Runs are compared in the order given.

    Examples:
        afrieval compare runs/FIRST runs/SECOND
        afrieval compare runs/FIRST --contrast prompt_language --by subject --csv table.csv
    """

    runs: Annotated[list[str], Word("RUN ...")]
    """Run folders or folders of them, results of lm_eval, lighteval or inspect_ai, published tables (CSV), records of
    Every Eval Ever (JSON, or folders of them), or results of open-unlearning (JSON)."""
    contrast: Repeated[Dimension] = field(default_factory=list)
    """What to compare. Default: everything that differs, except prompts and languages."""
    tasks: Repeated[str] = field(default_factory=list)
    """Tasks to compare. Default: all."""
    metric: Annotated[str, Metavar("NAME")] | None = None
    """Metric to compare. Default: the main metric of each task."""
    languages: Repeated[str] = field(default_factory=list)
    """Languages to compare, by name or code, such as hausa,yor. Default: all."""
    means: Grouping = "Africa"
    """Groups of African languages to average over."""
    average: Literal["suite", "afrobench"] = "suite"
    """How to average over several tasks: suite is the mean over groups of tasks, tasks and African languages; afrobench
    is that of the AfroBench leaderboard (see "Suites" in the documentation)."""
    by: Annotated[str, Metavar("FIELD")] | None = None
    """Break scores down by a field such as subject, or by confusion: right answers against chosen ones. Default: no
    breakdown."""
    published: Repeated[str] = field(default_factory=list)
    """Published scores to show: with --by, such as Phi-3-3.8B-4K for MMLU; or of a suite, such as NPO for TOFU.
    Default: those of the run's model."""
    reference: References = field(default_factory=dict)
    """Stored run that derived metrics of a suite compare with, as for afrieval run. May be repeated. Default: none."""
    seed: Seed = 42
    """Seed of bootstrap and permutation tests."""


@dataclass(frozen=True)
class ReportCommand(Options):
    """Writes stored runs as one page for a browser, which needs no network: scores, prompts, languages, settings.

    Loads no model.

    Examples:
        afrieval report runs/FIRST runs/SECOND -o report.html
    """

    runs: Annotated[list[str], Word("RUN ...")]
    """Run folders or folders of them, results of lm_eval, lighteval or inspect_ai, published tables (CSV), or records
    of Every Eval Ever (JSON, or folders of them)."""
    output: File = "report.html"
    """File to write, replaced if it exists; -o is short for it."""


@dataclass(frozen=True)
class LeaderboardCommand(Options):
    """Writes all results below a folder as pages: averages, ranks and their intervals, languages, tasks and models.

    Results are run folders, results of lm_eval, lighteval and inspect_ai, published tables (CSV) and records of Every
    Eval Ever (JSON), at any depth. What cannot be used is left out with a note. Loads no model.

    Examples:
        afrieval leaderboard runs -o site
        afrieval leaderboard runs -o site --watch
    """

    folder: Annotated[str, Word("FOLDER")]
    """Folder that has the results."""
    output: Folder = "site"
    """Folder to write; -o is short for it. It must be new, empty, or written by this command, and is then replaced."""
    watch: bool = False
    """Keep running, and write the pages again when results change. Ctrl-C ends it."""


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
class DoctorCommand(ModelAndTasks, TableFiles):
    """Checks this machine: versions, GPUs, disks, hub, SLURM, Ray; and whether it has what a config needs.

    With a config or a sweep, it also checks the models or servers, the data, and data.lock. Loads no model, downloads
    nothing, and takes a few seconds. Exit code 1 means that there is a problem, 2 that the config is invalid.

    Examples:
        afrieval doctor
        afrieval doctor meta_llama_8b_instruct afrimmlu
        afrieval doctor --sweep configs/sweeps/demo.yaml
    """

    sweep: File | None = None
    """Sweep file, whose models, suites and settings are checked. Default: none."""


@dataclass(frozen=True)
class SamplesCommand(Options):
    """Prints documents of a stored run under two prompts: what was asked, what was answered, and whether it is right.

    Examples:
        afrieval samples runs/FIRST --languages yoruba --only flips
        afrieval samples runs/FIRST --languages yoruba --prompts eng1,native1 --n 3
    """

    run: Annotated[str, Word("RUN")]
    """Run folder."""
    tasks: Repeated[str] = field(default_factory=list)
    """Tasks to show. Default: the only task of the run."""
    languages: Repeated[str] = field(default_factory=list)
    """Languages to show, by name or code. Default: the only language of the run."""
    prompts: list[str] | None = None
    """One or two prompts, such as eng1,native1. Default: English and native of the same number, or the first two."""
    only: Literal["all", "flips", "wrong", "unparsed"] = "all"
    """Documents to show: flips are right under one prompt only; wrong and unparsed are so under either prompt."""
    n: Positive = 5
    """Maximum number of documents of each task and language."""
    whole: bool = False
    """Print long prompts and answers whole. By default, their middle is left out."""


@dataclass(frozen=True)
class SweepCommand(Options):
    """Runs models, suites and settings in all combinations, as jobs on this machine, on SLURM or on a Ray cluster.

    FILE lists them. Each job loads one model, once. The same command continues a sweep that was stopped: it runs what
    is missing, except for jobs that failed. Exit code 1 means that some jobs have failed or were stopped.

    Examples:
        afrieval sweep configs/sweeps/demo.yaml
        afrieval sweep configs/sweeps/demo.yaml --status
    """

    file: Annotated[str, Word("FILE")]
    """YAML file with models, suites and settings, as in configs/sweeps/."""
    status: bool = False
    """Start nothing. Print how far each job is, and why it failed. Exit code 1 means that some have failed."""
    retry_failed: bool = False
    """Also run jobs again that have failed."""
    dry_run: bool = False
    """Start nothing. Print the runs of each job, and how many cells and requests they have."""
    executor: Literal["local", "slurm", "ray"] | None = None
    """What starts the jobs: local (this machine), slurm or ray. Default: what FILE says, or local."""


KINDS: tuple[type[Options], ...] = (
    RunCommand, PlanCommand, RaceCommand, PreviewCommand, ListCommand, ShowCommand, ScoreCommand, CompareCommand,
    ReportCommand, LeaderboardCommand, PlotCommand, SamplesCommand, PackCommand, LlamaCommand, ExportCommand,
    PrefetchCommand, CheckDataCommand, CheckRunsCommand, ReviewCommand, SweepCommand, DoctorCommand,
)  # fmt: skip
OPTIONS = {re.sub("(?<=[a-z])(?=[A-Z])", "-", kind.__name__.removesuffix("Command")).lower(): kind for kind in KINDS}
