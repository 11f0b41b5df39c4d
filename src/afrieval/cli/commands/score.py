"""`afrieval score`: extraction and metrics again from the stored answers of runs, or a metric that is added to them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.terminal import note
from afrieval.cli.commands.outputs import write_tables
from afrieval.cli.declarations.added import ScoreCommand, ScoredAgain
from afrieval.config.arguments import read_options
from afrieval.config.commands import NETWORKS, imported
from afrieval.report.run_summary import run_tables
from afrieval.report.score_change_tables import rescored_tables
from afrieval.report.table import Table
from afrieval.results.changes import moves
from afrieval.results.comparable_runs import check_run
from afrieval.results.run_files import locked
from afrieval.results.run_folder import RunFolder
from afrieval.run.finish import Summary
from afrieval.run.judge_model import judge_model
from afrieval.run.judging import Judge, judge_of
from afrieval.run.rescore import Rescored, is_new, rescored, write
from afrieval.run.scorer import Scorer, lacking_metric, score_stored

SEED = 42  # of resampling, as `afrieval compare` has it


def main(argv: list[str]) -> None:
    """Scores runs again, prints what moved, and writes the runs whose versions allow it."""
    options = read_options(ScoreCommand, argv, "score")

    folders = list(dict.fromkeys(map(user_path, options.runs)))
    for folder in folders:
        check_run(folder)
    sections = {**{name: getattr(options, name) for name in NETWORKS}, "judge": options.judge}
    changed = [name for name, section in sections.items() if section != type(section)()]
    if options.metric or changed:
        if name := next((name for name in changed if name != options.metric), ""):
            raise UserError(f"--{name} is for --metric {name}, which is not given", f"add --metric {name}")
        write_tables(_added(folders, options), options)
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


def _score(folder: Path, options: ScoredAgain, refused: list[UserError]) -> list[Table]:
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


def _added(folders: Sequence[Path], options: ScoredAgain) -> list[Table]:
    """Adds a metric to the stored answers of runs, and returns its scores, with the task's own next to them."""
    opened = _judge_of if options.metric == "judge" else imported(NETWORKS[str(options.metric)].opened)
    if not (scorer_of := opened(folders, options)):
        return []  # of a dry run
    tables = []
    for folder in folders:
        with locked(folder) as check:
            scorer = scorer_of(RunFolder(folder))
            summary = score_stored(scorer, check)
        of_run = _shown(scorer, summary)
        tables += [replace(t, title=f"{folder}, {t.title}") for t in of_run] if len(folders) > 1 else of_run
    return tables


def _judge_of(folders: Sequence[Path], options: ScoredAgain) -> Callable[[RunFolder], Scorer] | None:
    """Returns what makes the judge of a run; None for a dry run, of which it says what would be asked."""
    if not options.judge.model:
        raise UserError("no judge is given", "add --judge.model MODEL, named as MODEL of afrieval run")
    model = judge_model(options.judge.model, options.judge.max_cost, options.judge.max_tokens)
    against = options.judge.against and user_path(options.judge.against)
    if against:
        check_run(against)
        if against.resolve() in map(Path.resolve, folders):
            raise UserError(f"{against} would be compared with itself", "name another run as --judge.against")

    def judge(run: RunFolder) -> Judge:
        return judge_of(run, model, options.task.folder, RunFolder(against) if against else None)

    planned = [judge(RunFolder(folder)) for folder in folders]  # refused before a model is loaded
    if not options.dry_run:
        model.load()
        return judge
    for each in planned:
        changed = each.rubrics_changed
        for task in changed:
            note(f"{each.run.path}: {each.removes.format(task=task)}")
        todo = lacking_metric(each.run, each.cells, each.name, changed)
        questions = [question for address, line in todo for question in each.questions(address, line)]
        cost = model.most_cost(questions)
        note(f"{each.run.path}: {each.name} for {len(todo):,} answers{cost}; nothing is written")
    return None


def _shown(scorer: Scorer, summary: Summary) -> list[Table]:
    cells = [cell for cell in summary.cells if cell.n]
    main = {cell.main for cell in cells}
    remarks = {cell.task: scorer.notes_on(cell.task) for cell in cells}
    scored = [cell.with_metric(scorer.name) for cell in cells if scorer.name in cell.metrics]
    tables = []
    for table in run_tables(Summary(scored, [], {}), scorer.run.record, [], SEED):
        columns = [column._replace(minor=column.minor and column.name not in main) for column in table.columns]
        notes = remarks.pop(table.about["task"], []) if table.kind == "scores" else []
        tables.append(replace(table, columns=columns, notes=[*table.notes, *notes]))
    for task, notes in remarks.items():  # of which no answer has a score
        for line in notes:
            note(f"{scorer.run.path}: {task}: {line}")
    return tables
