"""`afrieval preview`: prompts as a model would see them. Loads no model."""

from afrieval.commands.options import Preview
from afrieval.commands.writeout import show
from afrieval.config.arguments import read_given, run_config
from afrieval.run.plan import plan
from afrieval.terminal import note


def main(argv: list[str]) -> None:
    """Prints one document under each prompt of each cell."""
    asked, given = read_given(Preview, argv, "preview")
    planned = plan(run_config(given, needs_model=False))
    for line in planned.lines:
        note(line)
    for cell in planned.cells:
        show(cell.preview(asked.document), asked.show_blanks)
