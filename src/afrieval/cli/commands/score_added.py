"""`afrieval score --metric`: adds a metric to the stored answers of runs, by COMET or by a judge."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.terminal import note
from afrieval.cli.declarations.scoring import CometModel, JudgeOptions, ScoreCommand
from afrieval.report.run_summary import run_tables
from afrieval.report.table import Table
from afrieval.results.comparable_runs import check_run
from afrieval.results.run_files import locked
from afrieval.results.run_folder import RunFolder
from afrieval.run.finish import Summary
from afrieval.run.judge_model import judge_model
from afrieval.run.judging import Judge, judge_of
from afrieval.run.scorer import Scorer, lacking_metric, score_stored
from afrieval.scoring.learned import COMET, learned_name

SEED = 42  # of resampling, as `afrieval compare` has it


def added(folders: Sequence[Path], options: ScoreCommand) -> list[Table]:
    """Adds a metric to runs, and returns its scores; a dry run loads and writes nothing."""
    _check(options)
    return (_by_comet if options.metric == "comet" else _by_judge)(folders, options)


def _check(options: ScoreCommand) -> None:
    for name, settings, usual in (("comet", options.comet, CometModel()), ("judge", options.judge, JudgeOptions())):
        if settings != usual and options.metric != name:
            raise UserError(f"--{name} is for --metric {name}, which is not given", f"add --metric {name}")
    if options.metric == "judge" and not options.judge.model:
        raise UserError("no judge is given", "add --judge.model MODEL, named as MODEL of afrieval run")


def _by_comet(folders: Sequence[Path], options: ScoreCommand) -> list[Table]:
    # the suite runs without its add-ons
    from afrieval.addons.comet.comet_model import read_comet
    from afrieval.addons.comet.comet_scorer import CometScorer, translations

    comet, name = options.comet, learned_name(COMET, options.comet.model)
    cells = {folder: translations(RunFolder(folder), options.task.folder) for folder in folders}
    if options.dry_run:
        for folder, names in cells.items():
            n = len(lacking_metric(RunFolder(folder), names, name))
            note(f"{folder}: {name} for {n:,} translations; nothing is written")
        return []
    model = read_comet(comet.model, comet.revision, comet.device)

    def scorer(run: RunFolder) -> CometScorer:
        return CometScorer(run, cells[run.path], name, {}, model, comet.batch_size)

    return _tables(folders, scorer)


def _by_judge(folders: Sequence[Path], options: ScoreCommand) -> list[Table]:
    model = judge_model(str(options.judge.model), options.judge.max_cost, options.judge.max_tokens)
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
        return _tables(folders, judge)
    for each in planned:
        changed = each.rubrics_changed
        for task in changed:
            note(f"{each.run.path}: {each.removes.format(task=task)}")
        todo = lacking_metric(each.run, each.cells, each.name, changed)
        questions = [question for address, line in todo for question in each.questions(address, line)]
        cost = model.most_cost(questions)
        note(f"{each.run.path}: {each.name} for {len(todo):,} answers{cost}; nothing is written")
    return []


def _tables(folders: Sequence[Path], scorer_of: Callable[[RunFolder], Scorer]) -> list[Table]:
    """Scores the answers of runs, and returns their tables: the added metric first, with the task's own next to it."""
    tables = []
    for folder in folders:
        with locked(folder) as check:
            scorer = scorer_of(RunFolder(folder))
            summary = score_stored(scorer, check)
        of_run = _shown(scorer, summary)
        tables += [replace(t, title=f"{folder}, {t.title}") for t in of_run] if len(folders) > 1 else of_run
    return tables


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
