"""Runs of other programs, whichever it is: the folder or file says."""

from pathlib import Path

from afrieval.exchange import lm_eval_runs as lm_eval
from afrieval.exchange.inspect_ai import inspect_cells, is_inspect
from afrieval.exchange.lighteval import is_lighteval, lighteval_cells
from afrieval.results.cell_scores import CellScores

READERS = ((is_lighteval, lighteval_cells), (lm_eval.is_lm_eval, lm_eval.lm_eval_cells), (is_inspect, inspect_cells))


def is_known_run(path: Path) -> bool:
    """Returns whether lighteval, lm_eval or inspect_ai wrote a folder or file."""
    return any(wrote(path) for wrote, _ in READERS)


def cells_of_run(path: Path) -> list[CellScores]:
    """Returns the scores in a folder or file for which `is_known_run` holds, and prints a note for each task left out.

    Models are marked with the program, such as `(lm_eval)`, and so are tasks that are called as one of ours, since
    their prompts, and possibly their documents, differ.
    """
    return next(read(path) for wrote, read in READERS if wrote(path))
