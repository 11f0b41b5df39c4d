"""`afrieval preview`: prompts as a model would see them. Loads no model."""

from afrieval._util.terminal import note
from afrieval.cli.declarations.running import PreviewCommand
from afrieval.config.arguments import read_given
from afrieval.config.files import run_config
from afrieval.report.previews import show
from afrieval.run.session import plan


def main(argv: list[str]) -> None:
    """Prints one document under each prompt of each cell."""
    options, settings = read_given(PreviewCommand, argv, "preview")
    planned = plan(run_config(settings, needs_model=False))
    for line in planned.lines:
        note(line)
    for cell in planned.cells:
        show(cell.preview(options.document), options.show_blanks)
