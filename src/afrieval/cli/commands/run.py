"""`afrieval run`: evaluates a model and prints scores per language and prompt."""

from collections.abc import Callable

from afrieval._util.errors import UserError
from afrieval._util.terminal import one_line, say
from afrieval.cli.commands.options import RunCommand, TableFiles
from afrieval.cli.commands.plan import show as show_plan
from afrieval.cli.commands.writeout import write_out
from afrieval.config.arguments import read_config, read_given
from afrieval.config.settings import DEMO, RunConfig
from afrieval.models.processes import joined
from afrieval.run import session
from afrieval.run.session import Session
from afrieval.tasks.cells.cell import Cell


def main(argv: list[str]) -> None:
    """Runs the missing cells of the run folder, writes its tables and prints them.

    With --dry-run, it prints the tables of `afrieval plan`.
    """
    try:
        dry = read_given(RunCommand, argv, "run")[0].dry_run
    except UserError:  # which `run` reports, once for all processes
        dry = False

    def read() -> RunConfig:
        return read_config(argv, command="run", kind=RunCommand, needs_model=True)

    show_plan(read, TableFiles()) if dry else run(read)


def run(read: Callable[[], RunConfig]) -> None:
    """Runs a config, as `main` does; arguments and errors are those of `session.run`."""
    from afrieval.exchange.loggers import checked

    with joined() as processes:
        session.run(lambda: checked(read()), _finish, _after_cell, processes)


def _after_cell(run: Session, cell: Cell) -> None:
    if run.config.eval.write_out:
        write_out(run.stored.path, cell)


def _finish(run: Session) -> None:
    from afrieval.report.formats import show
    from afrieval.report.suites import derived_tables
    from afrieval.report.summary import Summary, run_tables, summarise
    from afrieval.run.suites.reference import published_for
    from afrieval.run.suites.run import finish
    from afrieval.tools.contamination.analysis import remembered
    from afrieval.tools.contamination.tables import memorisation_tables

    every = summarise(run.stored)
    if run.stopped:
        return
    config, planned, record = run.config, run.plan, run.stored.record
    cells, harness = {cell.name: cell for cell in every.cells}, {task.record["task"]: task for task in every.harness}
    names = [cell.name for cell in planned.cells]
    found = Summary(
        [cells[name] for name in names if name in cells],
        [harness[name] for name in names if name in harness],
        every.groups,
    )
    say()
    show(run_tables(found, record, config.model.languages_supported, config.eval.numpy_random_seed))
    show(memorisation_tables(remembered(found.cells)))
    if derived := finish(run.stored.path, record, every.cells, config.reference):
        suite = record["suite"]["name"]
        show(derived_tables(suite, derived, published_for(suite, derived)))
    if config.model.model_name == DEMO:
        generated = {cell.coordinates.answer_form == "generate" for cell in planned.cells}
        kinds = {False: "scores at chance level", True: "unparsed or wrong answers"}
        expected = " and ".join(words for kind, words in kinds.items() if kind in generated)
        say(f"The demo model is random: {expected} are expected.")
    say(f"Run folder: {one_line(run.stored.path)}")
    if config.loggers:
        from afrieval.exchange.loggers import log_run

        log_run(config, run.stored)
