"""Options of the commands that pass runs and tasks on, and what a shell needs to know of all commands."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from afrieval.cli.registry import EXPORTERS
from afrieval.config.options import Folder, Metavar, Options, Repeated, RunOptions, Word

FORMS = ("csv", "parquet", "every-eval-ever", "harness-results", "huggingface-eval-yaml")  # of this package
if TYPE_CHECKING:
    ExportForm = str
else:
    ExportForm = Literal[("harness", *EXPORTERS, *FORMS)]


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
class CompletionCommand(Options):
    """Prints a script that completes commands, options and the words that they take, in bash or zsh.

    docs/installing.md says where a shell looks for it.

    Examples:
        afrieval completion bash
        afrieval completion zsh
    """

    shell: Annotated[Literal["bash", "zsh"], Word("{bash,zsh}")]
    """The shell."""
