"""Evaluates a model, and prints scores per language and prompt; what `afrieval run` does, and commands like it."""

from afrieval._util.errors import UserError
from afrieval._util.terminal import note, one_line, say
from afrieval.config.settings import DEMO, RunConfig
from afrieval.exchange.loggers import check_loggers, log_run
from afrieval.models.processes import Processes
from afrieval.report.columns import with_all_columns
from afrieval.report.formats import show_tables
from afrieval.report.previews import write_out
from afrieval.report.run_summary import run_tables
from afrieval.report.table import added_tables
from afrieval.run.finish import Summary, finish, read_summary
from afrieval.run.session import Session, open_run, plan_run
from afrieval.tasks.cells.cell import Cell
from afrieval.tools.jobs.shares import run_share, share_of
from afrieval.tools.race.until import evaluate_until


def run(config: RunConfig, processes: Processes, all_metrics: bool = False) -> None:
    """Evaluates a config, and prints and logs its scores."""
    with processes.barrier():
        check_loggers(config.loggers, config.task)
    with open_run(config, processes) as session:

        def show_cell(cell: Cell) -> None:
            if config.eval.write_out:
                write_out(session.stored.path, cell)

        try:
            evaluate_until(session, on_cell=show_cell)
        except KeyboardInterrupt:
            if processes.is_first and session.stored.names:
                _show(session, read_summary(session.stored), all_metrics)
            raise
        if processes.is_first:
            _show(session, finish(session), all_metrics)
            log_run(config, session.stored)


def run_part(config: RunConfig, processes: Processes, words: str, all_metrics: bool) -> None:
    """Evaluates a share of a config's cells, and prints the scores if it was the last one."""
    if processes.count > 1:
        raise UserError("--share is given, but several processes run together", "start each share by itself")
    check_loggers(config.loggers, config.task)
    session = plan_run(config)
    for line in session.plan.lines:
        note(line)
    share = share_of(session, words)
    if run_share(share, on_cell=lambda cell: write_out(share.folder.path, cell) if config.eval.write_out else None):
        _show(session, read_summary(session.stored), all_metrics)


def _show(session: Session, summary: Summary, all_metrics: bool) -> None:
    model, cells = session.config.model, session.plan.cells
    seed = session.config.eval.numpy_random_seed
    say()
    shown = summary.of([cell.name for cell in cells])
    tables = run_tables(shown, session.stored.record, model.languages_supported, seed)
    tables += added_tables(shown.cells)
    show_tables(with_all_columns(tables) if all_metrics else tables)
    if model.model_name == DEMO:
        generated = {cell.key.answer_form == "generate" for cell in cells}
        kinds = {False: "scores at chance level", True: "unparsed or wrong answers"}
        expected = " and ".join(words for kind, words in kinds.items() if kind in generated)
        say(f"The demo model is random: {expected} are expected.")
    say(f"Run folder: {one_line(session.stored.path)}")
