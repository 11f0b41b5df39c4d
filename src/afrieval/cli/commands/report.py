"""`afrieval report`: stored runs as one page for a browser. Loads no model."""

from afrieval._util.errors import UserError
from afrieval._util.terminal import one_line, say
from afrieval.api import write_report
from afrieval.cli.declarations.showing import ReportCommand
from afrieval.config.arguments import read_options


def main(argv: list[str]) -> None:
    """Writes the page."""
    options = read_options(ReportCommand, argv, "report")

    path = write_report(options.runs, options.output)
    try:
        size = path.stat().st_size / 1e6
    except FileNotFoundError:
        raise UserError(f"{path} was removed as soon as it was written", "run the same command again") from None
    say(f"wrote {one_line(path)} ({size:.1f} MB); open it in a browser")
