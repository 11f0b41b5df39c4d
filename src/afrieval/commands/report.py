"""`afrieval report`: stored runs as one page for a browser. Loads no model."""

from afrieval.commands.options import Report
from afrieval.config.arguments import read_options
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.files.whole import write_whole
from afrieval.terminal import say

SUFFIXES = (".html", ".htm")


def main(argv: list[str]) -> None:
    """Writes the page.

    Raises:
        UserError: for a folder that is not a run, or a file that cannot be written.
    """
    asked = read_options(Report, argv, "report")
    path = user_path(asked.output)
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"--output must be a file that ends in .html, not {asked.output!r}", "name such a file")
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist", "name a file in an existing folder")
    from afrieval.analysis.inputs import read_inputs
    from afrieval.pages.report import report

    write_whole(path, content := report(read_inputs([user_path(run) for run in asked.runs])))
    say(f"wrote {path} ({len(content) / 1e6:.1f} MB); open it in a browser")
