"""Options of the commands that exchange files with others: exports, figures, archives, downloads, review sheets."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from afrieval._util.schema import Positive, Seed
from afrieval.cli.commands.score_options import OwnTasks
from afrieval.config.options import File, Folder, Metavar, Options, Repeated, RunOptions, Word
from afrieval.config.shared_options import ModelAndTasks

ExportForm = Literal[
    "harness", "open-unlearning", "csv", "parquet", "every-eval-ever", "harness-results", "huggingface-eval-yaml"
]


@dataclass(frozen=True)
class ExportCommand(RunOptions):
    """Writes stored runs as tables or in the forms of other programs, or tasks as files for lm_eval.

    csv and parquet are tables of scores, metrics, samples and settings. every-eval-ever, harness-results and
    huggingface-eval-yaml are records for that database, what lm_eval --output_path writes, and .eval_results of a
    model on the Hugging Face Hub. open-unlearning takes one run, of the suite tofu or muse. docs/exchange.md
    describes all files.

    harness writes task files for lm_eval --include_path FOLDER, and takes no run. Without --task.task_name, all tasks
    are written except Meta's, which depend on a model. Prompts in English, prompts in the language itself and
    translated test sets get different names; --task.prompt_language and --task.variant have no effect. The package
    afrieval must be installed where lm_eval runs.

    Examples:
        afrieval export --to csv tables --run runs/FIRST --run runs/SECOND
        afrieval export --to harness my-tasks --tasks afrimmlu --languages yoruba,hausa
        afrieval export --to open-unlearning results --run runs/tofu --reference retain=runs/RETAIN
    """

    to: Annotated[ExportForm, Metavar("FORM")]
    """Form of the files: csv, parquet, every-eval-ever, harness-results, huggingface-eval-yaml, open-unlearning or
    harness."""
    folder: Annotated[str, Word("FOLDER")]
    """Folder to write to. It must be new or empty."""
    run: Repeated[str] = field(default_factory=list)
    """Run folders to export; one for open-unlearning. Default: none."""


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
class PackCommand(Options):
    """Moves the sample files of finished runs into one archive per run, samples.zip, or restores them.

    All commands read packed runs as before; nothing is lost. Any program can open the archive.

    Examples:
        afrieval pack runs/FIRST runs/SECOND
        afrieval pack --unpack runs/FIRST
    """

    runs: Annotated[list[str], Word("RUN ...")]
    """Run folders."""
    unpack: bool = False
    """Restore the sample files, equal to the byte, and remove samples.zip."""


@dataclass(frozen=True)
class CheckRunsCommand(Options):
    """Checks runs before they go onto a public board: finished, of the installed tasks, and without texts of data sets.

    Exit code 2 means that a run is refused: it is not finished or damaged, its tasks, prompts or data are others, its
    scores are not those of its answers, it has the first rows only or the suite's own sample rows, or its files have
    the questions. Loads no model, and data only if they are on this machine.

    Examples:
        afrieval check-runs runs
        afrieval check-runs runs -o to-submit
    """

    folder: Annotated[str, Word("FOLDER")]
    """Run folder, or folder that run folders are in, at any depth."""
    output: Folder | None = None
    """New or empty folder to write copies of the runs to, without questions, prompts, right answers and names of people
    who rated answers, and to check instead; -o is short for it. Default: none."""


@dataclass(frozen=True)
class LlamaCommand(RunOptions):
    """Runs Meta's published Llama 3.1 and 3.2 evaluations.

    FILE has the keys of Meta's recipe, such as configs/llama/eval_config.yaml, which explains each of them. Options
    beat the file.

    Examples:
        afrieval llama configs/llama/eval_config.yaml
        afrieval llama configs/llama/eval_config.yaml --eval.limit 10 --model.model_name FOLDER
        afrieval llama configs/llama/eval_config.yaml --print-command
    """

    file: Annotated[str, Word("FILE")]
    """YAML file with the keys of Meta's recipe."""
    print_command: bool = False
    """Run nothing. Write task files to the work_dir of FILE, and print the lm_eval command that evaluates them in the
    same way. The package afrieval must be installed where that command runs."""


@dataclass(frozen=True)
class PlotCommand(Options):
    """Writes a figure for a paper: scores by language, what the prompt does, or English against native prompts.

    Needs matplotlib (pip install 'afrieval[plot]'). Loads no model.

    Examples:
        afrieval plot runs/FIRST runs/SECOND --kind languages -o languages.pdf
        afrieval plot runs/FIRST --kind native --tasks afrixnli --width two -o native.svg
    """

    runs: Annotated[list[str], Word("RUN ...")]
    """Run folders or folders of them, or results of lm_eval, lighteval or inspect_ai."""
    kind: Literal["languages", "prompts", "native"] = "languages"
    """Figure: languages has a score per language and model; prompts has the score under each prompt; native compares
    English prompts with native ones."""
    tasks: Repeated[str] = field(default_factory=list)
    """Tasks to show, one below the other. Default: all."""
    width: Literal["one", "two"] = "one"
    """Columns of a paper that the figure is as wide as: 3.3 or 6.9 inches."""
    output: File | None = None
    """File to write, which ends in .pdf, .svg or .png; -o is short for it. Default: KIND.pdf."""
