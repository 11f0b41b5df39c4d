"""`afrieval leaderboard`: all results below a folder as pages. Loads no model."""

import contextlib
import time
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path, walked
from afrieval._util.terminal import complain, note, one_line, say
from afrieval._util.whole_files import check_replaceable, replace_folder
from afrieval.analysis.leaderboard import leaderboard
from afrieval.cli.declarations.showing import LeaderboardCommand
from afrieval.config.arguments import read_options
from afrieval.exchange.discovery import SITE, gathered, is_site, paths_below
from afrieval.report.html.board_pages import site
from afrieval.results.run_folder import RunFolder

SHOWN = 20  # lines about what is left out
SECONDS = 3.0  # between two looks at the folder


def main(argv: list[str]) -> None:
    """Writes the pages; with --watch, again whenever results change."""
    options = read_options(LeaderboardCommand, argv, "leaderboard")

    folder, output = user_path(options.folder).absolute(), user_path(options.output).absolute()
    if not folder.is_dir():
        problem = f"{options.folder} is a file" if folder.exists() else f"the folder {options.folder} does not exist"
        raise UserError(problem, "name the folder that the run folders are in")
    if folder.is_relative_to(output.resolve()) or folder.resolve().is_relative_to(output.resolve()):
        raise UserError(
            f"{options.output} would be replaced, and has the results in it", "name another folder to write"
        )
    check_replaceable(output.resolve(), SITE)
    runs: dict[Path, RunFolder] = {}
    before = _state(folder) if options.watch else {}
    _build(folder, output.resolve(), runs)
    while options.watch:
        time.sleep(SECONDS)
        after = _state(folder)
        if after == before:
            continue
        before = after
        try:  # if it fails, the old pages stay
            _build(folder, output.resolve(), runs)
        except UserError as e:
            complain(f"the pages stay as they are: {e.message}", e.hint)
        except OSError as e:  # a file is gone before it is read
            why = f"the pages stay as they are: {e.filename}: {e.strerror}"
            complain(why, "they are written after the next change")


def _build(folder: Path, output: Path, runs: dict[Path, RunFolder]) -> None:
    inputs = gathered(folder, paths_below(folder), runs)
    for path, reason in inputs.left_out[:SHOWN]:
        note(f"left out: {path}: {reason}")
    if more := len(inputs.left_out[SHOWN:]):
        note(f"left out: {more:,} more, which the pages list")
    if not inputs.cells and not inputs.published:
        raise UserError(f"{folder} has no results", "name the folder that run folders or published tables are in")
    board = leaderboard(inputs)
    files = site(board)
    replace_folder(output, files, SITE)
    size = sum(map(len, files.values())) / 1e6
    start = one_line(output / "index.html")
    say(f"wrote {one_line(output)} ({len(files)} files, {size:.1f} MB); open {start} in a browser")


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    """Returns time and size of each file below a folder, except of pages that this command writes."""
    stamps = {}
    for parent, _, files in walked(folder, is_site, {}):
        for path in (parent / name for name in files):
            with contextlib.suppress(OSError):  # it is gone, which the next look shows
                stamps[path] = path.stat().st_mtime_ns, path.stat().st_size
    return stamps
