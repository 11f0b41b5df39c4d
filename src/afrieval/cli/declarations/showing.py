"""Options of the commands that show stored runs."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from afrieval._util.schema import Positive, Seed
from afrieval.cli.declarations.running import AllMetrics
from afrieval.config.options import File, Folder, Metavar, Options, References, Repeated, TableFiles, Word

Dimension = Literal["prompt_language", "prompt", "model", "shots", "answer_form", "language"]
Grouping = Literal["Africa", "family", "script", "region"]


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
