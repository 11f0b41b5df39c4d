"""Shares of a run, by jobs or machines: where their cells go, and how they become one run folder.

A share has a folder of its own, which looks like a run folder. What is finished in it is moved to the run folder, whose
lock is held for that only; whoever moves the last cell finishes the run.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.files import opened, read_bytes
from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval._util.whole_files import write_whole, written_whole
from afrieval.exchange.loggers import log_run
from afrieval.models.base import LanguageModel
from afrieval.results.identity import check_same_run, merged
from afrieval.results.run_files import ANSWERS, RUN, harness_path, locked, sample_path, write_run
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import REDO
from afrieval.run.finish import finish_stored
from afrieval.run.session import Session
from afrieval.run.suites.reference import open_references
from afrieval.tasks.cells.cell import Cell
from afrieval.tools.race.until import evaluate_until

SHARES = "shares"  # a folder in a run folder
PATIENCE = 3600.0  # seconds to wait for others that move their shares to the same run folder


class RunShare(NamedTuple):
    """A share of a run.

    Attributes:
        target: the run folder.
        folder: where the share's cells are stored first; the run folder if the share is the whole run.
        others: folders of shares that nobody runs any more, since the run is divided in another way.
        name: such as 1 of 2; empty for the whole run.
    """

    session: Session
    target: RunFolder
    folder: RunFolder
    cells: Sequence[Cell]
    others: Sequence[Path] = ()
    name: str = ""

    @property
    def missing(self) -> list[Cell]:
        """The run's cells some of whose documents are not stored in the run folder."""
        return [cell for cell in self.session.plan.cells if not self.target.has(cell.name, cell.n)]

    @property
    def left(self) -> list[Cell]:
        """The share's cells some of whose documents are not stored; raises UserError if a sample file is damaged."""
        folders = (self.target, self.folder)
        return [cell for cell in self.cells if not any(folder.has(cell.name, cell.n) for folder in folders)]


def share_of(session: Session, words: str) -> RunShare:
    """Returns a share of a planned run, whose folder is in the run folder.

    Args:
        session: the run.
        words: such as 2/4, for the second of four.

    Raises:
        UserError: if there is no such share, or the run cannot be divided.
    """
    match = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", words)
    if not match or int(match[1]) > int(match[2]):
        raise UserError(f"--share is {words!r}", "write the number of the share and how many there are, such as 1/4")
    if session.config.eval.until is not None:
        raise UserError("--share is given with eval.until, which looks at all scores", "leave one of them out")
    number, shares = int(match[1]), int(match[2])
    target, top = session.stored, session.stored.path / SHARES
    siblings = {f"{i}of{shares}" for i in range(1, shares + 1)}
    others = [path.parent for path in sorted(top.glob(f"*/{RUN}")) if path.parent.name not in siblings]
    folder = RunFolder(top / f"{number}of{shares}")
    return RunShare(
        session, target, folder, dealt(session.plan.cells, shares)[number - 1], others, f"{number} of {shares}"
    )


def dealt(cells: Sequence[Cell], shares: int) -> list[list[Cell]]:
    """Returns the cells of each share, in the order of the plan.

    The largest cells come first, each to the share with the fewest requests so far, so that all jobs that plan the
    same run deal in the same way. Cells that ask the same requests stay together: a second answer may differ from the
    first in its last digits, since other requests are in its batch.
    """
    loads, share_of = [0] * shares, dict[str, int]()
    groups = grouped(cells, lambda cell: cell.shares or f"\0{cell.name}").values()
    sizes = [(sum(cell.n_requests for cell in group), group) for group in groups]
    for size, group in sorted(sizes, key=lambda each: (-each[0], min(cell.name for cell in each[1]))):
        share = loads.index(min(loads))
        share_of |= {cell.name: share for cell in group}
        loads[share] += size
    return [[cell for cell in cells if share_of[cell.name] == share] for share in range(shares)]


def run_share(
    share: RunShare,
    load: Callable[[Session], LanguageModel | None] = lambda session: None,
    on_cell: Callable[[Cell], None] = lambda cell: None,
) -> bool:
    """Runs the cells of a share that are missing, and moves them to the run folder, which the last share finishes.

    Args:
        share: what is run.
        load: returns the loaded model, if one is there already.
        on_cell: as for `evaluate`.

    Returns:
        whether all cells of the run are in the run folder.

    Raises:
        UserError: if a file is damaged or of another run, or a program that the run is logged to fails.
    """
    with locked(share.folder.path) as check:
        session = replace(share.session, stored=share.folder, check=check)
        try:
            names = _begin(share)
            if names or not share.name:
                session = replace(session, share=share.name, of_share=names)
                evaluate_until(session, load(session), on_cell)
            return _end(share)
        except Exception:
            check()  # a missing folder is the likely cause of any error
            raise


def _begin(share: RunShare) -> Collection[str]:
    """Moves finished cells of former shares to the run folder, and returns the names of the share's cells to run."""
    with _target(share):
        for folder in share.others:
            with ExitStack() as stack:
                try:
                    stack.enter_context(locked(folder))
                except UserError:  # its worker is still running
                    continue
                _move(share, RunFolder(folder))
                remove_share(folder)
        if share.name:
            begin_share(share.folder, share.target)
        return {cell.name for cell in share.cells if not share.target.has(cell.name, cell.n)}


def _end(share: RunShare) -> bool:
    """Moves the share to the run folder, finishes and logs the run if it has all cells, and returns whether it has."""
    with _target(share):
        if share.name:
            _move(share, share.folder)
        n, left = len(share.session.plan.cells), len(share.missing)
        if share.session.config.eval.until is not None:
            left = 0  # its scores are precise enough
        if not left:
            config = share.session.config
            finish_stored(share.target, open_references(config.reference))
            log_run(config, share.target)
        done = f"{n - left} of {n}" if left else f"all {n}"
        note(f"{share.target.path}: {done} cells are stored")
    if share.name:
        remove_share(share.folder.path)
    return not left


def _move(share: RunShare, source: RunFolder) -> None:
    merge(share.target, source, [cell.name for cell in share.missing if source.has(cell.name, cell.n)])


def _target(share: RunShare) -> AbstractContextManager[object]:
    """Locks the run folder, which a share that is the whole run has locked already."""
    return locked(share.target.path, PATIENCE) if share.name else nullcontext()


def merge(target: RunFolder, share: RunFolder, cells: Iterable[str]) -> None:
    """Copies finished cells and all answers of a share into a run folder; both must be locked.

    A merge that was stopped is finished by the next one, and a second one changes nothing.

    Raises:
        UserError: if they are not of the same run, or a file is damaged.
    """
    if not (of_share := share.record):
        return
    check_same_run(target.record.get("identity", {}), of_share["identity"], target.path)
    old, visits = target.record, [*target.record.get("visits", [])]
    visits += [visit for visit in of_share.get("visits", []) if visit not in visits]
    record: dict[str, Any] = merged(old, {key: of for key, of in of_share.items() if key not in ("cells", "visits")})
    record |= {"suite": of_share["suite"]} if "suite" in of_share else {}
    record["cells"] = sorted({*old.get("cells", []), *of_share.get("cells", [])})
    record["visits"] = sorted(visits, key=lambda visit: str(visit.get("date", "")))
    record |= {"looks": looks} if (looks := max(of.get("looks", 1) for of in (old, of_share))) > 1 else {}
    write_run(target.path, {key: record[key] for key in [*of_share, *(key for key in record if key not in of_share)]})
    for path in sorted(share.path.glob(ANSWERS)):
        _add_answers(target.path / path.name, path)
    for name in cells:
        for path_of in (harness_path, sample_path):  # samples last, since they mark the cell as done
            if (path := path_of(share.path, name)).exists():
                write_whole(path_of(target.path, name), read_bytes(path, REDO))


def begin_share(share: RunFolder, target: RunFolder) -> None:
    """Copies what a run folder knows of its run, and all answers, to the folder of a share that has nothing yet."""
    if share.record or not target.record:
        return
    for path in sorted(target.path.glob(ANSWERS)):
        _add_answers(share.path / path.name, path)
    write_run(share.path, target.record)


def _add_answers(target: Path, source: Path) -> None:
    """Adds the answers in a file to another one; of several to a request, the last is kept, as `AnswerFile` does."""
    paths = [path for path in (target, source) if path.exists()]
    last = {key: (path, at) for path in paths for at, (key, _) in enumerate(_answers(path))}
    with written_whole(target) as file:
        for path in paths:
            for number, (key, line) in enumerate(_answers(path)):
                if last[key] == (path, number):
                    file.write(line.rstrip(b"\n") + b"\n")


def _answers(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yields the key and the line of each answer in a file; a line that is not whole is left out."""
    with opened(path, "delete it; answers that only it has are asked for again") as lines:
        for line in lines:
            key = line.split(b'"', 2)[1] if line.count(b'"') > 1 else b""
            if key and line.rstrip().endswith(b"]"):
                yield key, line


def remove_share(folder: Path) -> None:
    """Removes a share that is merged, and folders that are then empty.

    run.yaml is the last file: without it, samples would be nobody's.
    """
    for path in sorted(folder.iterdir(), key=lambda path: path.name == RUN):
        with suppress(OSError):  # a lock may be kept by the file system until it is released
            path.unlink()
    with suppress(OSError):  # the first one that is not empty
        for parent in (folder, *folder.parents):
            parent.rmdir()
