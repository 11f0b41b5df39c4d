"""The tables of commands and of exporters; other packages add theirs as entry points of these groups."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from afrieval._util.registry import Registry
from afrieval.config.commands import LOOK, ORDER, SCALE, Command

RESUMES = ("run", "race", "prefetch", "score")  # the same command continues one that was stopped
# Each command by its group: the module of its options in declarations/, and what it does.
GROUPS = {
    LOOK: {
        "run": ("running", "evaluate a model on tasks"),
        "list": ("tasks", "show tasks, suites, languages and models"),
        "preview": ("running", "print prompts as a model would see them; no model is loaded"),
        "show": ("showing", "print the tables of stored runs again"),
        "compare": ("showing", "compare stored runs: differences, intervals, p-values, means"),
        "samples": ("showing", "show documents of a stored run, with prompts and answers"),
        "report": ("showing", "write stored runs as one page for a browser"),
        "leaderboard": ("showing", "write all results below a folder as pages for a browser"),
    },
    SCALE: {
        "plan": ("running", "say what a run takes: tokens, time, memory, cost; no weights are loaded"),
        "race": ("running", "find the best of several models with as few questions as that takes"),
        "doctor": ("added", "check this machine: versions, GPUs, disks, access to models and data"),
        "prefetch": ("running", "download data and model, so that a run needs no network"),
        "export": ("exchange", "write stored runs as tables or for other programs, or tasks for lm_eval"),
        "plot": ("showing", "write a figure for a paper"),
    },
    ORDER: {
        "score": ("added", "score stored answers again, after a metric or extractor was corrected"),
        "pack": ("exchange", "move the sample files of finished runs into one file each, or back"),
        "check-runs": ("exchange", "say what keeps runs from a public board; write copies without texts of data sets"),
        "check-data": ("tasks", "look for defects in the data of tasks"),
        "review": ("tasks", "write or read sheets in which speakers review native prompts or rate answers"),
        "completion": ("exchange", "print a script that completes command lines in bash or zsh"),
    },
}


def _command(name: str, group: str, module: str, summary: str) -> Command:
    """Returns a command whose module and options are called as it is: `check-data`, `CheckDataCommand`."""
    options = f"afrieval.cli.declarations.{module}:{name.title().replace('-', '')}Command"
    main = f"afrieval.cli.commands.{name.replace('-', '_')}:main"
    return Command(group, summary, options, main, name in RESUMES)


COMMANDS: Registry[Command] = Registry(
    "command",
    "afrieval.commands",
    {name: _command(name, group, *words) for group, commands in GROUPS.items() for name, words in commands.items()},
    needs=("group", "summary", "kind", "main"),
)

# Writes runs in the form of another program: from their folders, to a folder, with reference runs.
Exporter = Callable[[Sequence[Path], Path, Mapping[str, str]], list[Path]]
EXPORTERS: Registry[Exporter] = Registry("exporter", "afrieval.exporters", {}, needs=["__call__"])
