"""`afrieval plan`: how much a run has to compute, how long it takes, what it costs, and whether it fits."""

from afrieval._util.errors import UserError
from afrieval._util.terminal import note, one_line, say
from afrieval.cli.commands.options import PlanCommand, TableFiles
from afrieval.cli.commands.outputs import write_tables
from afrieval.config.arguments import read_given, run_config
from afrieval.config.settings import RunConfig


def main(argv: list[str]) -> None:
    """Prints the tables of a plan, and writes them to the requested files."""
    options, settings = read_given(PlanCommand, argv, "plan")
    show(run_config(settings, needs_model=True), options, options.calibrate)


def show(config: RunConfig, options: TableFiles, calibrate: bool = False) -> None:
    """Prints what is left to run of a config."""
    from afrieval.models.registry import backend_of
    from afrieval.run.evaluate import missing_cells
    from afrieval.run.session import plan_run
    from afrieval.tools.cell_makers import MAKERS
    from afrieval.tools.plan.tables import TokenPrices, estimate_tables

    session = plan_run(config, dry=True, makers=MAKERS)
    for line in session.plan.lines:
        note(line)
    if calibrate and not backend_of(config.model.model_type).local:
        hint = "leave it out: rates of earlier runs are used"
        raise UserError("--calibrate would send requests to a server, which may cost money", hint)
    cells = missing_cells(session)
    if not cells:
        say(f"Nothing is left to run: all cells are stored in {one_line(session.stored.path)}")
        return
    from afrieval.tools.plan.plan import estimate

    paid = config.model.api.prices
    prices = None if paid.input is None or paid.output is None else TokenPrices(paid.input, paid.output)
    write_tables(estimate_tables(estimate(session, cells, calibrate), prices), options)
