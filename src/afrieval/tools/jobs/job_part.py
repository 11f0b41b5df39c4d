"""A job's part of one run: where its cells go, how shares become one run folder, and what follows the last one."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.files import opened, read_bytes
from afrieval._util.terminal import note
from afrieval._util.whole_files import write_whole, written_whole
from afrieval.exchange.loggers import log_run
from afrieval.results.identity import check_same_run, merged
from afrieval.results.run_files import ANSWERS, RUN, harness_path, locked, sample_path, write_run
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import REDO
from afrieval.run.evaluate import CellShare
from afrieval.run.finish import finish_stored
from afrieval.run.session import Session
from afrieval.run.suites.reference import open_references
from afrieval.tasks.cells.cell import Cell
from afrieval.tools.jobs.jobs import JOBS, Job, dealt, job_folder

PATIENCE = 3600.0  # seconds to wait for others that move their shares to the same run folder


class JobPart(NamedTuple):
    """A job's part of a run.

    Attributes:
        folder: the folder of the job's share; the run folder if the job runs all of it.
        others: folders of shares that jobs have left which the sweep file does not have any more.
        share: such as 1 of 2; empty for all.
    """

    session: Session
    target: RunFolder
    folder: RunFolder
    cells: list[Cell]
    others: list[Path]
    share: str = ""

    @property
    def missing(self) -> list[Cell]:
        """The run's cells some of whose documents are not stored in the run folder."""
        return [cell for cell in self.session.plan.cells if not self.target.has(cell.name, cell.n)]

    @property
    def left(self) -> list[Cell]:
        """The job's cells some of whose documents are not stored; raises UserError if a sample file is damaged."""
        folders = (self.target, self.folder)
        return [cell for cell in self.cells if not any(folder.has(cell.name, cell.n) for folder in folders)]


def part_of(folder: Path, job: Job, session: Session) -> JobPart:
    """Returns a job's part of a planned run.

    The session has its default folder.
    """
    run_path = session.stored.path
    names = [path.name for path in sorted((folder / JOBS).glob("*")) if path.name not in job.siblings]
    others = [share_path for name in names if ((share_path := job_folder(folder, name) / run_path) / RUN).exists()]
    target = RunFolder(folder / run_path)
    if job.shares == 1:
        return JobPart(session, target, target, session.plan.cells, others)
    share_folder = RunFolder(job_folder(folder, job.name) / run_path)
    mine = dealt(session.plan.cells, job.shares)[job.share - 1]
    return JobPart(session, target, share_folder, mine, others, f"{job.share} of {job.shares}")


@contextmanager
def open_part(part: JobPart) -> Iterator[Session]:
    """Locks the folder of a job's part, in which the job runs its cells."""
    with locked(part.folder.path) as check:
        try:
            yield replace(part.session, stored=part.folder, check=check)
        except Exception:
            check()  # a missing folder is the likely cause of any error
            raise


def begin_part(part: JobPart) -> CellShare | None:
    """Moves finished cells of former shares to the run folder, and returns the cells to run; None for all.

    Raises:
        UserError: if a file is damaged, or of another run.
    """
    with _target(part):
        for folder in part.others:
            with ExitStack() as stack:
                try:
                    stack.enter_context(locked(folder))
                except UserError:  # its worker is still running
                    continue
                _merge(part, RunFolder(folder))
                remove_share(folder)
        if not part.share:
            return None
        begin_share(part.folder, part.target)
        return CellShare(part.share, {c.name for c in part.cells if not part.target.has(c.name, c.n)})


def end_part(part: JobPart) -> None:
    """Moves the share to the run folder; finishes and logs the run if all of its cells are there.

    Raises:
        UserError: as for `finish_stored`, or if a program that the run is logged to fails.
    """
    with _target(part):
        if part.share:
            _merge(part, part.folder)
        n, left = len(part.session.plan.cells), len(part.missing)
        if part.session.config.eval.until is not None:
            left = 0  # its scores are precise enough
        if not left:
            config = part.session.config
            finish_stored(part.target, open_references(config.reference))
            log_run(config, part.target)
        done = f"{n - left} of {n}" if left else f"all {n}"
        note(f"{part.target.path}: {done} cells are stored")
    if part.share:
        remove_share(part.folder.path)


def _merge(part: JobPart, share: RunFolder) -> None:
    merge(part.target, share, [cell.name for cell in part.missing if share.has(cell.name, cell.n)])


def _target(part: JobPart) -> AbstractContextManager[object]:
    """Locks the run folder, which a job that runs all cells has locked already."""
    return locked(part.target.path, PATIENCE) if part.share else nullcontext()


def merge(target: RunFolder, share: RunFolder, cells: Iterable[str]) -> None:
    """Copies finished cells and all answers of a share into a run folder; both must be locked.

    A merge that was stopped is finished by the next one, and a second one changes nothing.

    Raises:
        UserError: if they are not of the same run, or a file is damaged.
    """
    if not (of_share := share.record):
        return
    check_same_run(target.record.get("identity", {}), of_share["identity"], target.path)
    write_run(target.path, _record(target.record, of_share))
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


def _record(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the content of run.yaml with the cells and visits of both, visits in the order of their dates."""
    visits = [*old.get("visits", [])]
    visits += [visit for visit in new.get("visits", []) if visit not in visits]
    both = merged(old, {key: value for key, value in new.items() if key not in ("cells", "visits")})
    both |= {"suite": new["suite"]} if "suite" in new else {}
    both["cells"] = sorted({*old.get("cells", []), *new.get("cells", [])})
    both["visits"] = sorted(visits, key=lambda visit: str(visit.get("date", "")))
    both |= {"looks": looks} if (looks := max(of.get("looks", 1) for of in (old, new))) > 1 else {}
    return {key: both[key] for key in [*new, *(key for key in both if key not in new)]}


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
