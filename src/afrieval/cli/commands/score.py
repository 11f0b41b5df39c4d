"""`afrieval score`: extraction and metrics again from the stored answers of runs. Loads no model."""

from dataclasses import replace
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.terminal import note
from afrieval.cli.commands.outputs import write_tables
from afrieval.cli.commands.score_added import added
from afrieval.cli.declarations.scoring import CometModel, JudgeOptions, ScoreCommand
from afrieval.config.arguments import read_options
from afrieval.report.score_change_tables import rescored_tables
from afrieval.report.table import Table
from afrieval.results.changes import moves
from afrieval.results.comparable_runs import check_run
from afrieval.results.run_files import locked
from afrieval.results.run_folder import RunFolder
from afrieval.run.rescore import Rescored, is_new, rescored, write


def main(argv: list[str]) -> None:
    """Scores runs again, prints what moved, and writes the runs whose versions allow it."""
    options = read_options(ScoreCommand, argv, "score")

    folders = list(dict.fromkeys(map(user_path, options.runs)))
    for folder in folders:
        check_run(folder)
    if options.metric or options.comet != CometModel() or options.judge != JudgeOptions():
        write_tables(added(folders, options), options)
        return
    tables: list[Table] = []
    refused: list[UserError] = []
    for folder in folders:
        try:
            run_tables = _score(folder, options, refused)
            tables += (
                run_tables if len(folders) == 1 else [replace(t, title=f"{folder}, {t.title}") for t in run_tables]
            )
        except UserError:
            if tables:
                write_tables(tables, options)
            raise
    if tables or not refused:
        write_tables(tables, options)
    if refused:
        for other in refused[1:]:
            note(other.message)
        raise refused[0]


def _score(folder: Path, options: ScoreCommand, refused: list[UserError]) -> list[Table]:
    """Scores a run again, and returns what moved; adds the reason if it must not be written."""
    with locked(folder) as check:
        rescored_run = rescored(
            RunFolder(folder, halfway=True),
            options.data.source,
            options.task.folder,
            extract=options.task.extract,
        )
        for line in rescored_run.left_out:
            note(f"{folder}: left out: {line}")
        pairs = [(again.before, again.after) for again in rescored_run.cells if again.after.n]
        tables = rescored_tables(moves(pairs), rescored_run.cells, options.n, {"run": str(folder)})
        try:
            rescored_run.check_versions()
        except UserError as e:
            refused.append(e)
            return tables
        new = is_new(rescored_run)
        if new and not options.dry_run:
            check()
            write(rescored_run)
        note(f"{folder}: {_outcome(rescored_run, new, options.dry_run)}")
    return tables


def _outcome(rescored_run: Rescored, new: bool, dry: bool) -> str:
    """Returns what happened to a run, in one line."""
    answers, cells = sum(again.after.n for again in rescored_run.cells), len(rescored_run.cells)
    what = f"scores of {', '.join(rescored_run.moved)} moved" if rescored_run.moved else "no score moved"
    counted = f"{what} ({answers:,} answer{'s' * (answers != 1)}, {cells:,} cell{'s' * (cells != 1)})"
    if not new:
        return counted
    raised = [f"{task} {old} to {to}" for task, (old, to) in rescored_run.versions.items() if old != to]
    versions = f"; new versions: {', '.join(raised)}" if raised else ""
    return f"{counted}; {'dry run, nothing is written' if dry else 'new scores are written'}{versions}"
