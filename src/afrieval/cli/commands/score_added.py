"""`afrieval score --metric`: adds a metric to the stored answers of runs, by COMET or by a judge."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.terminal import note
from afrieval.cli.commands.score_options import CometModel, JudgeOptions, ScoreCommand

if TYPE_CHECKING:
    from afrieval.report.table import Table
    from afrieval.results.run_folder import RunFolder
    from afrieval.run.add_learned import Scorer
    from afrieval.run.finish import Summary
    from afrieval.run.judging import Judging

SEED = 42  # of resampling, as `afrieval compare` has it


def added(folders: Sequence[Path], options: ScoreCommand) -> "list[Table]":
    """Adds a metric to runs, and returns its scores; a dry run loads and writes nothing."""
    _check(options)
    return (_by_comet if options.metric == "comet" else _by_judge)(folders, options)


def _check(options: ScoreCommand) -> None:
    for name, settings, usual in (("comet", options.comet, CometModel()), ("judge", options.judge, JudgeOptions())):
        if settings != usual and options.metric != name:
            raise UserError(f"--{name} is for --metric {name}, which is not given", f"add --metric {name}")
    if options.metric == "judge" and not options.judge.model:
        raise UserError("no judge is given", "add --judge.model MODEL, named as MODEL of afrieval run")


def _by_comet(folders: Sequence[Path], options: ScoreCommand) -> "list[Table]":
    from afrieval.results.run_folder import RunFolder
    from afrieval.run.add_comet import CometScorer, translations
    from afrieval.run.add_learned import lacking
    from afrieval.scoring.comet import read_comet
    from afrieval.scoring.learned import COMET, learned_name

    comet, name = options.comet, learned_name(COMET, options.comet.model)
    cells = {folder: translations(RunFolder(folder), options.task.folder) for folder in folders}
    if options.dry_run:
        for folder, names in cells.items():
            n = len(lacking(RunFolder(folder), names, name))
            note(f"{folder}: {name} for {n:,} translations; nothing is written")
        return []
    model = read_comet(comet.model, comet.revision, comet.device)

    def scorer(run: "RunFolder", check: Callable[[], None]) -> "AbstractContextManager[Scorer]":
        return nullcontext(CometScorer(run, cells[run.path], name, {}, model, comet.batch_size))

    return [table for folder in folders for table in _tables(folder, scorer, len(folders) > 1)]


def _by_judge(folders: Sequence[Path], options: ScoreCommand) -> "list[Table]":
    from afrieval.results.comparable_runs import check_run
    from afrieval.results.run_folder import RunFolder
    from afrieval.run.add_learned import REMOVED, lacking
    from afrieval.run.judge_model import judge_settings, load_judge, most_cost
    from afrieval.run.judging import judging

    with _named_here(options):
        settings = judge_settings(str(options.judge.model), options.judge.max_cost)
    model = str(settings[0].model_name)
    against = options.judge.against and user_path(options.judge.against)
    if against:
        check_run(against)
        if against.resolve() in map(Path.resolve, folders):
            raise UserError(f"{against} would be compared with itself", "name another run as --judge.against")

    def of(run: "RunFolder") -> "Judging":
        return judging(run, model, options.task.folder, RunFolder(against) if against else None)

    planned = [of(RunFolder(folder)) for folder in folders]
    if options.dry_run:
        for judge in planned:
            for task in judge.changed:
                note(f"{judge.run.path}: {REMOVED.format(task=task)}")
            todo = lacking(judge.run, judge.cells, judge.name, judge.changed)
            cost = most_cost(
                settings[0], options.judge.max_tokens, [asked for of in todo for asked in judge.read(*of).questions]
            )
            note(f"{judge.run.path}: {judge.name} for {len(todo):,} answers{cost}; nothing is written")
        return []
    loaded = load_judge(settings, options.judge.max_tokens)

    @contextmanager
    def scorer(run: "RunFolder", check: Callable[[], None]) -> "Iterator[Scorer]":
        with loaded.asking(run, check) as ask:
            yield replace(of(run), ask=ask, signature=loaded.signature)

    with _named_here(options):
        return [table for folder in folders for table in _tables(folder, scorer, len(folders) > 1)]


@contextmanager
def _named_here(options: ScoreCommand) -> "Iterator[None]":
    """Makes errors about the budget name the option that was given."""
    try:
        yield
    except UserError as e:
        if options.judge.max_cost is None:
            raise
        raise UserError(e.message.replace("model.api.max_cost", "--judge.max_cost"), e.hint) from None


def _tables(
    folder: Path,
    scorer_of: "Callable[[RunFolder, Callable[[], None]], AbstractContextManager[Scorer]]",
    named: bool,
) -> "list[Table]":
    """Scores the answers of a run, and returns its tables: the added metric first, with the task's own next to it."""
    from afrieval.results.run_files import locked
    from afrieval.results.run_folder import RunFolder
    from afrieval.run.add_learned import add

    with locked(folder) as check:
        run = RunFolder(folder)
        with scorer_of(run, check) as scorer:
            summary = add(run, scorer, check)
    tables = _shown(run, scorer, summary)
    return [replace(t, title=f"{folder}, {t.title}") for t in tables] if named else tables


def _shown(run: "RunFolder", scorer: "Scorer", summary: "Summary") -> "list[Table]":
    from afrieval.report.run_summary import run_tables
    from afrieval.run.finish import Summary

    cells = [cell for cell in summary.cells if cell.n]
    main = {cell.main for cell in cells}
    remarks = {cell.task: scorer.counts(cell.task) for cell in cells}
    scored = [cell.with_metric(scorer.name) for cell in cells if scorer.name in cell.metrics]
    tables = []
    for table in run_tables(Summary(scored, [], {}), run.record, [], SEED):
        columns = [column._replace(minor=column.minor and column.name not in main) for column in table.columns]
        notes = remarks.pop(table.about["task"], []) if table.kind == "scores" else []
        tables.append(replace(table, columns=columns, notes=[*table.notes, *notes]))
    for task, notes in remarks.items():  # of which no answer has a score
        for line in notes:
            note(f"{run.path}: {task}: {line}")
    return tables
