"""`afrieval plan`: how much a run has to compute, how long it takes, what it costs, and whether it fits."""

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.terminal import note, one_line, say
from afrieval.cli.commands.outputs import write_tables
from afrieval.cli.declarations.running import PlanCommand
from afrieval.config.arguments import read_given
from afrieval.config.files import run_config
from afrieval.config.options import TableFiles
from afrieval.config.settings import RunConfig
from afrieval.exchange.discovery import read_inputs
from afrieval.models.registry import backend_of
from afrieval.results.cell_scores import CellScores
from afrieval.run.evaluate import missing_cells
from afrieval.run.session import Session, plan_run
from afrieval.tools.plan.plan import estimate
from afrieval.tools.plan.precision import Precision, precision_tables
from afrieval.tools.plan.tables import estimate_tables, prices_of
from afrieval.tools.race.until import planned_looks


def main(argv: list[str]) -> None:
    """Prints the tables of a plan, and writes them to the requested files."""
    options, settings = read_given(PlanCommand, argv, "plan")
    config = run_config(settings, needs_model=True)
    decides = options.precision or options.difference
    if options.like and not decides:
        raise UserError(
            "--like says how scores are expected to be, for --precision or --difference", "give one of them"
        )
    if decides and (name := next((n for n in ("limit", "sample") if getattr(config.eval, n) is not None), None)):
        hint = f"leave --{name} out: the table shows several samples, and all rows"
        raise UserError(f"--{name} is given together with --precision or --difference", hint)
    if decides:
        stored = read_inputs([user_path(folder) for folder in options.like]).run_cells if options.like else []
        _show_precision(planned(config, options.calibrate), options, stored)
    else:
        show(planned(config, options.calibrate), options, options.calibrate)


def planned(config: RunConfig, calibrate: bool = False) -> Session:
    """Returns the planned run, and prints what is left out; refuses to measure what may cost money."""
    session = plan_run(config, dry=True)
    for line in session.plan.lines:
        note(line)
    if calibrate and not backend_of(config.model.model_type).local:
        hint = "leave it out: rates of earlier runs are used"
        raise UserError("--calibrate would send requests to a server, which may cost money", hint)
    return session


def _show_precision(session: Session, options: PlanCommand, stored: list[CellScores]) -> None:
    """Prints how many questions a decision takes, of whole test sets."""
    config, cells = session.config, session.plan.cells
    estimated = estimate(session, cells, options.calibrate)
    widths = [None if value is None else value / 100 for value in (options.precision, options.difference)]
    looks = planned_looks(config.eval, cells)
    expected = Precision(cells, estimated.sizes, stored, looks, config.task.groups)
    write_tables(precision_tables(expected, (widths[0], widths[1]), estimated.rates, prices_of(config.model)), options)


def show(session: Session, options: TableFiles, calibrate: bool = False) -> None:
    """Prints what is left to run of a planned run."""
    cells = missing_cells(session)
    if not cells:
        say(f"Nothing is left to run: all cells are stored in {one_line(session.stored.path)}")
        return

    write_tables(estimate_tables(estimate(session, cells, calibrate), prices_of(session.config.model)), options)
