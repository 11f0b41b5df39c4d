"""The table of commands; other packages add theirs as entry points of the group `afrieval.commands`."""

from afrieval._util.registry import Registry
from afrieval.config.commands import LOOK, ORDER, SCALE, Command


def _entry(group: str, summary: str, options: str, module: str, resumes: bool = False) -> Command:
    return Command(
        group, summary, f"afrieval.cli.declarations.{options}", f"afrieval.cli.commands.{module}:main", resumes
    )


COMMANDS = Registry(
    "command",
    "afrieval.commands",
    {
        "run": _entry(LOOK, "evaluate a model on tasks", "running:RunCommand", "run", resumes=True),
        "list": _entry(LOOK, "show tasks, suites, languages and models", "tasks:ListCommand", "list"),
        "preview": _entry(
            LOOK, "print prompts as a model would see them; no model is loaded", "running:PreviewCommand", "preview"
        ),
        "show": _entry(LOOK, "print the tables of stored runs again", "showing:ShowCommand", "show"),
        "compare": _entry(
            LOOK, "compare stored runs: differences, intervals, p-values, means", "showing:CompareCommand", "compare"
        ),
        "samples": _entry(
            LOOK, "show documents of a stored run, with prompts and answers", "showing:SamplesCommand", "samples"
        ),
        "report": _entry(LOOK, "write stored runs as one page for a browser", "showing:ReportCommand", "report"),
        "leaderboard": _entry(
            LOOK, "write all results below a folder as pages for a browser", "showing:LeaderboardCommand", "leaderboard"
        ),
        "plan": _entry(
            SCALE,
            "say what a run takes: tokens, time, memory, cost; no weights are loaded",
            "running:PlanCommand",
            "plan",
        ),
        "race": _entry(
            SCALE,
            "find the best of several models with as few questions as that takes",
            "running:RaceCommand",
            "race",
            resumes=True,
        ),
        "doctor": _entry(
            SCALE,
            "check this machine: versions, GPUs, disks, access to models and data",
            "running:DoctorCommand",
            "doctor",
        ),
        "prefetch": _entry(
            SCALE,
            "download data and model, so that a run needs no network",
            "running:PrefetchCommand",
            "prefetch",
            resumes=True,
        ),
        "export": _entry(
            SCALE,
            "write stored runs as tables or for other programs, or tasks for lm_eval",
            "exchange:ExportCommand",
            "export",
        ),
        "plot": _entry(SCALE, "write a figure for a paper", "showing:PlotCommand", "plot"),
        "score": _entry(
            ORDER,
            "score stored answers again, after a metric or extractor was corrected",
            "scoring:ScoreCommand",
            "score",
            resumes=True,
        ),
        "pack": _entry(
            ORDER, "move the sample files of finished runs into one file each, or back", "exchange:PackCommand", "pack"
        ),
        "check-runs": _entry(
            ORDER,
            "say what keeps runs from a public board; write copies without texts of data sets",
            "exchange:CheckRunsCommand",
            "check_runs",
        ),
        "check-data": _entry(ORDER, "look for defects in the data of tasks", "tasks:CheckDataCommand", "check_data"),
        "review": _entry(
            ORDER,
            "write or read sheets in which speakers review native prompts or rate answers",
            "tasks:ReviewCommand",
            "review",
        ),
        "completion": _entry(
            ORDER, "print a script that completes command lines in bash or zsh", "shell:CompletionCommand", "completion"
        ),
    },
    needs=("group", "summary", "kind", "main"),
)
