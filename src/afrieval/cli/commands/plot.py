"""`afrieval plot`: a figure for a paper. Loads no model."""

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.terminal import note, one_line, say
from afrieval._util.whole_files import write_output
from afrieval.cli.commands.selection import selected
from afrieval.cli.declarations.showing import PlotCommand
from afrieval.config.arguments import read_options
from afrieval.exchange.discovery import read_inputs
from afrieval.report.figures.drawing import figure
from afrieval.report.figures.style import notes

FORMS = (".pdf", ".svg", ".png")


def main(argv: list[str]) -> None:
    """Writes the figure."""
    options = read_options(PlotCommand, argv, "plot")
    path = user_path(options.output or f"{options.kind}.pdf")
    if path.suffix.lower() not in FORMS:
        raise UserError(
            f"a figure must be a file that ends in {', '.join(FORMS)}, not {str(path)!r}", "name such a file"
        )
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise UserError("afrieval plot needs the package matplotlib", "run `pip install 'afrieval[plot]'`") from None

    inputs = read_inputs([user_path(run) for run in options.runs])
    task_names = list(dict.fromkeys(cell.task for cell in inputs.cells))
    if not task_names:
        raise UserError(f"{options.runs[0]} has no scores of documents to plot", "give a run folder")
    tasks = selected(task_names, "task", options.tasks, str)
    own_cells, foreign = ([c for c in cells if c.task in tasks] for cells in (inputs.run_cells, inputs.foreign))
    content, missing = figure(
        options.kind, inputs._replace(run_cells=own_cells, foreign=foreign), options.width, path.suffix.lower()[1:]
    )
    write_output(path, content)
    for line in notes(missing):
        note(line)
    say(f"wrote {one_line(path)}")
