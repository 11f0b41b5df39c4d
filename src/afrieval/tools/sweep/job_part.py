"""A job's part of one run: where its cells go, and what follows the last one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.terminal import note
from afrieval.exchange.loggers import log_run
from afrieval.results.run_files import RUN, locked
from afrieval.results.run_folder import RunFolder
from afrieval.run.evaluate import CellShare
from afrieval.run.finish import finish_stored
from afrieval.run.session import Session
from afrieval.run.suites.reference import open_references
from afrieval.tasks.cells.cell import Cell
from afrieval.tools.sweep.jobs import JOBS, Job, dealt, job_folder
from afrieval.tools.sweep.merge import begin_share, merge, remove_share

PATIENCE = 3600.0  # seconds to wait for others that move their shares to the same run folder


class JobPart(NamedTuple):
    """A job's part of a run.

    Attributes:
        session: the planned run.
        target: the run folder.
        own: the folder of the job's share; the run folder if the job runs all of it.
        cells: the job's.
        others: folders of shares that jobs have left which the sweep file does not have any more.
        share: such as 1 of 2; empty for all.
    """

    session: Session
    target: RunFolder
    own: RunFolder
    cells: list[Cell]
    others: list[Path]
    share: str = ""

    @property
    def left(self) -> list[Cell]:
        """The job's cells some of whose documents are not stored; raises UserError if a sample file is damaged."""
        places = (self.target, self.own)
        return [cell for cell in self.cells if not any(folder.has(cell.name, cell.n) for folder in places)]


def part_of(folder: Path, job: Job, session: Session) -> JobPart:
    """Returns a job's part of a planned run.

    Args:
        folder: of the sweep.
        job: the job.
        session: the run, which has its default folder.
    """
    place = session.stored.path
    names = [path.name for path in sorted((folder / JOBS).glob("*")) if path.name not in job.siblings]
    others = [there for name in names if ((there := job_folder(folder, name) / place) / RUN).exists()]
    target = RunFolder(folder / place)
    if job.shares == 1:
        return JobPart(session, target, target, session.plan.cells, others)
    own = RunFolder(job_folder(folder, job.name) / place)
    mine = dealt(session.plan.cells, job.shares)[job.share - 1]
    return JobPart(session, target, own, mine, others, f"{job.share} of {job.shares}")


@contextmanager
def open_part(part: JobPart) -> Iterator[Session]:
    """Locks the folder of a job's part, in which the job runs its cells."""
    with locked(part.own.path) as check:
        try:
            yield replace(part.session, stored=part.own, check=check)
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
        begin_share(part.own, part.target)
        return CellShare(part.share, {c.name for c in part.cells if not part.target.has(c.name, c.n)})


def end_part(part: JobPart) -> None:
    """Moves the share to the run folder; finishes and logs the run if all of its cells are there.

    Raises:
        UserError: as for `finish_stored`, or if a program that the run is logged to fails.
    """
    with _target(part):
        if part.share:
            _merge(part, part.own)
        cells = part.session.plan.cells
        left = [cell for cell in cells if not part.target.has(cell.name, cell.n)]
        if not left:
            config = part.session.config
            finish_stored(part.target, open_references(config.reference))
            log_run(config, part.target)
        done = f"{len(cells) - len(left)} of {len(cells)}" if left else f"all {len(cells)}"
        note(f"{part.target.path}: {done} cells are stored")
    if part.share:
        remove_share(part.own.path)


def _merge(part: JobPart, share: RunFolder) -> None:
    left = [cell for cell in part.session.plan.cells if not part.target.has(cell.name, cell.n)]
    merge(part.target, share, [cell.name for cell in left if share.has(cell.name, cell.n)])


@contextmanager
def _target(part: JobPart) -> Iterator[None]:
    """Locks the run folder, which a job that runs all of it has locked already."""
    if not part.share:
        yield
        return
    with locked(part.target.path, PATIENCE):
        yield
