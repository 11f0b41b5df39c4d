"""`afrieval report`: stored runs as one page for a browser. Loads no model."""

from afrieval.commands.options import Report
from afrieval.config.arguments import read_options
from afrieval.errors import UserError
from afrieval.terminal import one_line, say


def main(argv: list[str]) -> None:
    """Writes the page.

    Raises:
        UserError: for a folder that is not a run, or a file that cannot be written.
    """
    asked = read_options(Report, argv, "report")
    from afrieval.api.report import write_report

    path = write_report(asked.runs, asked.output)
    try:
        size = path.stat().st_size / 1e6
    except FileNotFoundError:
        raise UserError(f"{path} was removed as soon as it was written", "run the same command again") from None
    say(f"wrote {one_line(path)} ({size:.1f} MB); open it in a browser")
