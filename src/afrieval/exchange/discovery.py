"""Finds and reads results of all programs: what compare is given, and everything below a folder."""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from afrieval._util.errors import UserError, reason
from afrieval._util.files import broken_links, walked
from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval._util.whole_files import is_written
from afrieval.analysis.inputs import Inputs, LeftOut
from afrieval.analysis.published_files import PublishedRow
from afrieval.analysis.verdicts import OWN, preference
from afrieval.exchange.readers import READERS, cells_of_run, is_published, published_at, reader_of_run, run_readers
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import check_finished, read_runs, readable_runs
from afrieval.results.run_files import RUN
from afrieval.results.run_folder import RunFolder
from afrieval.results.schema import RunRecord

S = TypeVar("S")
SITE = ".afrieval-leaderboard"  # the file that lists the pages which `afrieval leaderboard` has written
is_site = partial(is_written, marker=SITE)


def _below_each(paths: Iterable[Path]) -> "dict[Path, ResultPaths]":
    """Returns what is below each folder that is not a result itself, if anything is."""
    folders = [path for path in paths if path.is_dir() and not os.path.lexists(path / RUN)]
    below = {path: paths_below(path) for path in folders if not (reader_of_run(path) or is_published(path))}
    return {path: found for path, found in below.items() if found.runs or found.foreign or found.published}


def own_runs(paths: Sequence[Path]) -> list[Path]:
    """Returns run folders, with the finished ones below each folder of runs; prints a line for each of the others.

    Raises:
        UserError: if none is finished.
    """
    below, folders = _below_each(paths), list[Path]()
    for path in paths:
        for run in below[path].runs if path in below else []:
            try:
                check_finished(RunFolder(run))
                folders.append(run)
            except UserError as e:
                left = _left_out(run, reason(e), path)
                note(f"left out: {left.path}: {left.reason}")
        folders += [] if path in below else [path]
    if not folders:
        raise UserError(f"{paths[0]} has no finished run", "the same `afrieval run` command goes on with a run")
    return list(dict.fromkeys(folders))


def read_inputs(paths: list[Path]) -> Inputs:
    """Returns what is in the given folders and files.

    Of a folder of runs, it is what can be used below it, each cell once.

    Raises:
        UserError: for one that is none of the three, or is damaged; and if two have the same published score.
    """
    below = _below_each(paths)
    results = [path for path in paths if path not in below]
    tables = [p for p in results if is_published(p)]
    foreign = [p for p in results if p not in tables and reader_of_run(p)]
    runs = [p for p in results if p not in tables and p not in foreign]
    if not below:
        return _inputs(read_runs(runs, sent=bool(foreign)), foreign, tables, [])
    for contents in below.values():
        tables, foreign, runs = [*tables, *contents.published], [*foreign, *contents.foreign], [*runs, *contents.runs]
    whole = readable_runs([RunFolder(path, sent=bool(foreign)) for path in dict.fromkeys(runs)])
    folder = next(iter(below))
    cells, twice = _once(whole.cells, _dates(whole.records), folder)
    lost = {path: why for contents in below.values() for path, why in contents.unreadable.items()} | whole.left_out
    left_out = [*(_left_out(path, why, folder) for path, why in lost.items()), *twice]
    return _inputs(cells, foreign, tables, left_out)


def _inputs(cells: list[CellScores], foreign: list[Path], tables: list[Path], left_out: Sequence[LeftOut]) -> Inputs:
    of_tables = {path: published_at(path) for path in tables}
    published = [(row, path) for path, table in of_tables.items() for row in table.rows]
    for row, path, repeats in _with_repeats(published):
        for code, before in repeats.items():
            if before != path:
                what = f"{row.model}, {row.task}, {code}, prompt {row.prompt}"
                raise UserError(f"{path} and {before} both have a score of {what}", "give one of the two")
    unused = [LeftOut(str(path), why) for path, table in of_tables.items() for why in table.left_out]
    return Inputs(cells, _foreign(foreign), [row for row, _ in published], [*left_out, *unused])


def _with_repeats(rows: Iterable[tuple[PublishedRow, S]]) -> Iterator[tuple[PublishedRow, S, dict[str, S]]]:
    """Yields published rows and their sources, with the languages whose score an earlier row has, and its source."""
    first: dict[tuple[object, ...], S] = {}
    for row, source in rows:
        scored = row.task, row.model, row.prompt, row.prompt_language, row.shots
        repeats = {code: first[*scored, code] for code in row.scores if (*scored, code) in first}
        first |= {(*scored, code): source for code in row.scores if code not in repeats}
        yield row, source, repeats


def _foreign(paths: list[Path]) -> list[CellScores]:
    """Returns the cells of all paths; one model in several folders is distinguished by the folder's name.

    Files of one folder belong together, unless they have the same cell.
    """
    pairs = [(path, cell) for path in paths for cell in cells_of_run(path)]
    folders = {path: path if path.is_dir() else path.parent for path in paths}
    names: dict[tuple[str, Path], str] = {}
    for model, of_model in grouped(pairs, lambda pair: pair[1].model).items():
        times = Counter((folders[path], cell.without()) for path, cell in of_model)
        several = len({folders[path] for path, _ in of_model}) > 1
        for path, _ in of_model:
            if max(times.values()) > 1:
                names[model, path] = path.stem if path.is_file() else path.name
            elif several:
                names[model, path] = folders[path].name
    labels = {pair: f"{pair[0]} {name}" for pair, name in names.items() if name}
    return [replace(cell, model=labels.get((cell.model, path), cell.model)) for path, cell in pairs]


class ResultPaths(NamedTuple):
    """Paths that hold results, and those that could not be looked at, with the reason."""

    runs: list[Path]
    foreign: list[Path]
    published: list[Path]
    unreadable: dict[Path, str]


def paths_below(folder: Path, skipped: Callable[[Path], bool] = is_site) -> ResultPaths:
    """Returns all that holds results in a folder and below it, at any depth; pages of a leaderboard are not entered."""
    contents = ResultPaths([], [], [], {})
    for inner, folders, files in walked(folder, skipped, contents.unreadable):
        if RUN in files or RUN in folders:
            contents.runs.append(inner)
            continue
        try:
            _look(inner, folders, files, contents)
        except (UserError, OSError) as e:
            contents.unreadable[inner] = reason(e)
    return contents


def _look(inner: Path, folders: list[str], files: list[str], contents: ResultPaths) -> None:
    """Adds the results in a folder that is not a run; subfolders that are part of these are removed from `folders`."""
    contents.unreadable.update((path, "it is a link to nothing") for path in broken_links(inner, files))
    in_run = any(run in inner.parents for run in contents.runs)
    for name, reader in run_readers():
        if in_run and reader.of_files:
            continue
        with READERS.calling(name, f"for {inner}"):
            if paths := reader.paths_in(inner, folders):
                contents.foreign.extend(paths)
                folders[:] = [each for each in folders if each not in reader.parts]
    if not in_run:
        contents.published.extend(inner / name for name in sorted(files) if is_published(inner / name))


def gathered(folder: Path, contents: ResultPaths, runs: dict[Path, RunFolder] | None = None) -> Inputs:
    """Returns the scores and settings that a folder has, each cell once.

    Args:
        folder: where it was found.
        contents: the paths that hold results.
        runs: run folders that were read before, of which only changed files are read again; new ones are added.
    """
    folders = {} if runs is None else runs
    readable = readable_runs([folders.setdefault(path, RunFolder(path)) for path in contents.runs])
    left_out = [_left_out(path, why, folder) for path, why in (contents.unreadable | readable.left_out).items()]
    cells, rows = readable.cells, list[PublishedRow]()
    for path in [*contents.foreign, *contents.published]:
        try:
            inputs = read_inputs([path])
        except (UserError, OSError) as e:
            left_out.append(_left_out(path, reason(e), folder))
            continue
        left_out += [_left_out(Path(place), why, folder) for place, why in inputs.left_out]
        if not inputs.foreign and not inputs.published:
            left_out.append(_left_out(path, "it has no score that can be used", folder))
        cells = [*cells, *inputs.foreign]
        rows += [replace(row, source=_below(path, folder)) for row in inputs.published]
    once, twice = _once(cells, _dates(readable.records), folder)
    once_each, again = _rows_once(rows)
    others = readable.records.keys() - {cell.folder for cell in cells}
    left_out += [*twice, *again, *(LeftOut(_below(run, folder), "it has tasks of the harness only") for run in others)]
    labels = {cell.folder: cell.model for cell in readable.cells}
    of_models = grouped((path for path in readable.records if path in labels), lambda path: labels[path])
    records = {
        model: [(_below(path, folder), readable.records[path]) for path in of] for model, of in of_models.items()
    }
    ours, foreign = ([cell for cell in once if (cell.folder in labels) == is_ours] for is_ours in (True, False))
    settings: dict[str, list[tuple[str, Mapping[str, object]]]] = {}
    for (model, run), (first, *_) in grouped(foreign, lambda cell: (cell.model, cell.folder)).items():
        settings.setdefault(model, []).append((_below(run or folder, folder), first.recorded_settings))
    return Inputs(ours, foreign, once_each, sorted(left_out), records, settings)


def _dates(records: Mapping[Path, RunRecord]) -> dict[Path, str]:
    """Returns when each run had its last session."""
    latest = {path: record["visits"][-1] for path, record in records.items() if record.get("visits")}
    return {path: str(latest.get(path, {}).get("date", "")) for path in records}


def _once(
    cells: Collection[CellScores], dates: Mapping[Path, str], folder: Path
) -> tuple[list[CellScores], list[LeftOut]]:
    """Returns each cell once, by `rows.preference`, then the later one; and notes on the others."""
    chosen, lost = [], []
    for same in grouped(cells, lambda c: (c.model, c.without())).values():
        best = max(same, key=lambda cell: (*preference(cell), _when(cell, dates)))
        chosen.append(best)
        lost += [(cell, best) for cell in same if cell is not best]
    notes = []
    for (source, other, why), pairs in grouped(lost, lambda pair: _why(*pair, folder)).items():
        what = "1 cell" if len(pairs) == 1 else f"{len(pairs)} cells"
        notes.append(LeftOut(source, f"{what} of it: {other} has the same, {why}"))
    return chosen, notes


def _rows_once(rows: Collection[PublishedRow]) -> tuple[list[PublishedRow], list[LeftOut]]:
    """Returns published rows with each score once, from its first source, and notes on the others."""
    unique, lost = [], Counter[tuple[str, str]]()
    for row, source, repeats in _with_repeats((row, row.source) for row in rows):
        lost.update((source, before) for before in repeats.values())
        if scores := {code: score for code, score in row.scores.items() if code not in repeats}:
            unique.append(replace(row, scores=scores))
    notes = {pair: f"{n} score{'s' * (n > 1)} of it: {pair[1]} has the same" for pair, n in lost.items()}
    return unique, [LeftOut(source, why) for (source, _), why in notes.items()]


def _why(cell: CellScores, best: CellScores, folder: Path) -> tuple[str, str, str]:
    source, other = (_below(c.folder or folder, folder) for c in (cell, best))
    if best.own_rows != cell.own_rows or best.selection.kind != cell.selection.kind:
        these_rows, other_rows = ((of.own_rows and OWN) or of.selection.words or "all rows" for of in (cell, best))
        if these_rows != other_rows:
            return source, other, f"on {other_rows} instead of {these_rows}"
    return source, other, "of more documents" if best.n > cell.n else "not older"


def _when(cell: CellScores, dates: Mapping[Path, str]) -> str:
    if cell.folder and cell.folder in dates:
        return dates[cell.folder]
    try:
        return datetime.fromtimestamp(cell.path.stat().st_mtime, UTC).isoformat() if cell.path else ""
    except OSError:  # it was removed just now
        return ""


def _below(path: Path, folder: Path) -> str:
    inside = path.is_relative_to(folder) and path != folder
    return path.relative_to(folder).as_posix() if inside else path.name


def _left_out(path: Path, why: str, folder: Path) -> LeftOut:
    """Returns a reason with paths relative to the folder, and without the one that it is about."""
    source, reason = _below(path, folder), why.removeprefix(str(path)).replace(f"{folder}{os.sep}", "")
    return LeftOut(source, re.sub("^(is|has) ", r"it \1 ", reason.removeprefix(source).lstrip("/:, ")))
