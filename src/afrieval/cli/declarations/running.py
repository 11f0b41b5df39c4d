"""Options of the commands that run models, or say what a run takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from annotated_types import Gt

from afrieval._util.schema import NotNegative, Positive
from afrieval.config.options import (
    Folder,
    Metavar,
    ModelAndTasks,
    NewTask,
    Options,
    Repeated,
    RunOptions,
    TableFiles,
    Word,
)
from afrieval.config.settings import Points


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
    """Run a share of the cells, such as 1/4. Others, as on other machines, run the rest into the same run folder, and
    the last one prints the scores. Default: all cells."""
    print_config: bool = False
    """Print all settings, and run nothing. They are merged from files and options, as a file that --config reads."""
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
class PrefetchCommand(ModelAndTasks):
    """Downloads the data of tasks, and the model if one is named. Afterwards a run needs no network.

    Examples:
        afrieval prefetch --tasks afrixnli --languages yoruba,hausa
        afrieval prefetch --tasks afrobench-lite --to mirror
        afrieval prefetch meta_llama_8b_instruct afrimmlu --lock
    """

    lock: bool = False
    """Write commits and hashes of the data to data.lock. Later runs in the same folder check them."""
    to: Annotated[str, Metavar("FOLDER")] | None = None
    """Folder to copy the data's files to, laid out as on the hub, for --data.source FOLDER where there is no network.
    Files that it has already stay. Default: none."""
