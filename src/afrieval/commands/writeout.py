"""Prints documents of cells as a model gets them: before it has run, or with what it answered."""

from pathlib import Path

from afrieval.results.reader import cell_lines
from afrieval.tasks.cell import Cell
from afrieval.tasks.shown import Shown
from afrieval.terminal import say

LINE = "-" * 80


def write_out(folder: Path, cell: Cell) -> None:
    """Prints the first scored document of a cell.

    Args:
        folder: the run folder.
        cell: one of its cells.
    """
    show(cell.recall(cell_lines(folder, cell.name)))


def show(shown: Shown, blanks: bool = False) -> None:
    """Prints a document; each prompt stands flush left between two marker lines, exactly as the model gets it.

    Args:
        shown: what to print.
        blanks: whether blanks, tabs and line ends in prompts are made visible.
    """
    say(shown.heading)
    for block in shown.blocks:
        say(prompt_block(with_blanks(block.prompt) if blanks else block.prompt))
        for line in block.lines:
            say(line)
    if shown.blocks:
        say()


def prompt_block(text: str) -> str:
    """Returns a prompt between two marker lines; nothing in it is changed."""
    return f"{LINE}\n{text}\n{LINE}"


def with_blanks(text: str) -> str:
    """Returns a text with its blanks, tabs and line ends made visible."""
    return text.replace(" ", "·").replace("\t", "→").replace("\n", "⏎\n").replace("\u00a0", "⍽")
