"""Prints documents of cells as a model sees them, before a run or with the model's answers."""

from pathlib import Path

from afrieval._util.terminal import say
from afrieval.results.run_folder import cell_lines
from afrieval.tasks.cells.cell import Cell, Preview

LINE = "-" * 80


def write_out(folder: Path, cell: Cell) -> None:
    """Prints the first scored document of a cell."""
    show(cell.preview_stored(cell_lines(folder, cell.name)))


def show(shown: Preview, blanks: bool = False) -> None:
    """Prints a document; each prompt is verbatim and flush left between two marker lines."""
    say(shown.heading)
    for prompt, lines in shown.prompts.items():
        say(prompt_block(with_blanks(prompt) if blanks else prompt))
        for line in lines:
            say(line)
    if shown.prompts:
        say()


def prompt_block(text: str) -> str:
    """Returns a verbatim prompt between two marker lines."""
    return f"{LINE}\n{text}\n{LINE}"


def with_blanks(text: str) -> str:
    """Returns a text with visible spaces, tabs and line ends."""
    return text.replace(" ", "·").replace("\t", "→").replace("\n", "⏎\n").replace("\u00a0", "⍽")
