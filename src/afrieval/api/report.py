"""Stored runs as one page for a browser, for Python code and the command."""

import os
from pathlib import Path

from afrieval.api.comparison import Runs, paths_of
from afrieval.errors import UserError
from afrieval.files.calls import checked_call
from afrieval.files.paths import user_path
from afrieval.files.whole import write_output
from afrieval.terminal import note

SUFFIXES = (".html", ".htm")


@checked_call
def write_report(runs: Runs, output: str | os.PathLike[str] = "report.html") -> Path:
    """Writes stored runs as one page and returns the file; no model is loaded.

    Args:
        runs: runs, folders of runs, results of lm_eval, lighteval or inspect_ai, and published tables (CSV), in the
            order to show.
        output: file to write, which ends in .html; it is replaced if it exists.

    Raises:
        UserError: for another file name, a folder that does not exist, or a run that is damaged, not finished or
            without scores.
    """
    path = user_path(output)
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"a report must be a file that ends in .html, not {os.fspath(output)!r}", "name such a file")
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist", "name a file in an existing folder")
    from afrieval.analysis.inputs import read_inputs
    from afrieval.pages.report import report

    paths = paths_of(runs)
    if not paths:
        raise UserError("there is no run to show", "give one run or several")
    given = read_inputs(paths)
    for line in given.notes:
        note(line)
    if not (given.own or given.foreign or given.published):
        raise UserError(f"{paths[0]} has nothing to show", "give a run with scores")
    write_output(path, report(given))
    return path
