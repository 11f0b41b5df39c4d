"""`afrieval check-runs`: what keeps runs from a board that others can read."""

from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.terminal import note, one_line, say
from afrieval._util.whole_files import filled
from afrieval.cli.declarations.exchange import CheckRunsCommand
from afrieval.config.arguments import read_options
from afrieval.exchange.discovery import paths_below
from afrieval.tools.run_checks.run_checks import check_runs, copy_without_texts


def main(argv: list[str]) -> int:
    """Prints what is wrong with each run, and writes copies without texts; returns 2 if a run was refused."""
    options = read_options(CheckRunsCommand, argv, "check-runs")

    folder = user_path(options.folder).absolute()
    if not folder.is_dir():
        raise UserError(f"{options.folder} is not a folder", "name a run folder, or the folder that run folders are in")
    below = paths_below(folder)
    if not below.runs:
        raise UserError(f"{options.folder} has no run", "name a run folder, or the folder that run folders are in")
    if options.output is not None:
        with filled(user_path(options.output)):
            raters: dict[str, str] = {}
            for run in below.runs:
                name = _name(run, folder)
                if n := copy_without_texts(run, user_path(options.output) / name, raters):
                    note(f"{name}: answers or thinking of {n:,} samples repeat texts of the data set and are left out")
        folder = user_path(options.output).absolute()
        below = paths_below(folder)
    refused = 0
    for run, problems, remarks in check_runs(below.runs):
        refused += bool(problems)
        say(f"{one_line(_name(run, folder))}: {'refused' if problems else 'good'}")
        for kind, lines in (("refused", problems), ("note", remarks)):
            for line in lines:
                say(f"  {kind}: {one_line(line)}")
    n = len(below.runs)
    say(f"{n} run{'s' if n > 1 else ''}, {refused} refused" + (f"; wrote {options.output}" if options.output else ""))
    return 2 if refused else 0


def _name(run: Path, folder: Path) -> Path:
    return run.relative_to(folder) if run != folder else Path(run.name)
