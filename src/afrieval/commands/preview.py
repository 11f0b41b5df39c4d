"""`afrieval preview`: the prompts that a model would get. Loads no model."""

from dataclasses import dataclass

from afrieval.commands.writeout import show
from afrieval.config.arguments import read_given, run_config
from afrieval.config.options import Options
from afrieval.config.settings import NotNegative
from afrieval.run.plan import plan
from afrieval.terminal import note


@dataclass(frozen=True)
class Preview(Options):
    """Prints one document under each prompt, exactly as a model would see it. Loads no model.

    Examples:
        afrieval preview --task.task_name afrixnli --task.languages yor --data.source samples
        afrieval preview --task.task_name afrimmlu --task.prompts 1,2 --document 3 --show-blanks
    """

    document: NotNegative = 0
    """Row of the evaluated split to show, counted from 0."""
    show_blanks: bool = False
    """Make spaces, tabs and line ends visible."""


def main(argv: list[str]) -> None:
    """Prints one document under each prompt of each cell."""
    asked, given = read_given(Preview, argv, "preview")
    planned = plan(run_config(given, needs_model=False))
    for line in planned.lines:
        note(line)
    for cell in planned.cells:
        show(cell.preview(asked.document), asked.show_blanks)
