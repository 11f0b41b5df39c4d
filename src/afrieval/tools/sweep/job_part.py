"""Runs a job's part of one run, moves it to the run's folder, and does what follows its last cell."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.terminal import note
from afrieval.config.settings import RunConfig
from afrieval.exchange.loggers import log_run
from afrieval.report.summary import summarise
from afrieval.results.run_files import RUN, locked
from afrieval.results.run_folder import RunFolder
from afrieval.run.evaluate import AfterCell, CellShare, Load, evaluate
from afrieval.run.session import Session
from afrieval.run.suites.run import finish
from afrieval.tasks.cells.cell import Cell
from afrieval.tools.sweep.jobs import JOBS, Job, dealt, job_folder
from afrieval.tools.sweep.merge import begin_share, merge, remove_share


def finish_run(config: RunConfig, run: RunFolder) -> None:
    """Writes the tables of a run to its folder, and logs them to the programs that its config names.

    Args:
        config: its settings.
        run: its folder, which must be locked.

    Raises:
        UserError: if a sample file is damaged, a reference is not comparable, or a program fails.
    """
    found = summarise(run)
    finish(run.path, run.record, found.cells, config.reference)
    log_run(config, run)


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

    def done(self, cell: Cell) -> bool:
        """Returns whether all documents of a cell are stored; errors are those of `RunFolder.n_done`."""
        return any(folder.n_done(cell.name) >= cell.n for folder in (self.target, self.own))


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


def run_part(part: JobPart, load: Load, after_cell: AfterCell) -> None:
    """Runs the missing cells of a job's part; whoever runs the last cells of a run finishes it.

    Args:
        part: what to run.
        load: loads the model.
        after_cell: called with each cell of the part once it is stored.

    Raises:
        UserError: as for `evaluate`, or if a program that the run is logged to fails.
    """
    with ExitStack() as stack:
        check = stack.enter_context(locked(part.own.path))
        todo = _begin(part)
        share = CellShare(part.share, {cell.name for cell in todo}) if part.share else None
        try:
            if todo:
                config, plan = part.session.config, part.session.plan
                evaluate(config, plan, part.own, after_cell, check=check, load=load, share=share)
        except Exception:
            check()  # a missing folder is the likely cause of any error
            raise
        _end(part)


def _begin(part: JobPart) -> list[Cell]:
    """Returns the cells to run, after moving finished ones of former shares to the run folder."""
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
            return part.cells
        begin_share(part.own, part.target)
        return [cell for cell in part.cells if part.target.n_done(cell.name) < cell.n]


def _end(part: JobPart) -> None:
    """Moves the share to the run folder, and finishes the run if all of its cells are there."""
    with _target(part):
        if part.share:
            _merge(part, part.own)
        cells = part.session.plan.cells
        left = [cell for cell in cells if part.target.n_done(cell.name) < cell.n]
        if not left:
            finish_run(part.session.config, part.target)
        done = f"{len(cells) - len(left)} of {len(cells)}" if left else f"all {len(cells)}"
        note(f"{part.target.path}: {done} cells are stored")
    if part.share:
        remove_share(part.own.path)


def _merge(part: JobPart, share: RunFolder) -> None:
    cells = part.session.plan.cells
    merge(part.target, share, [c.name for c in cells if part.target.n_done(c.name) < c.n <= share.n_done(c.name)])


@contextmanager
def _target(part: JobPart) -> Iterator[None]:
    """Locks the run folder, which a job that runs all of it has locked already."""
    if not part.share:
        yield
        return
    with locked(part.target.path, PATIENCE):
        yield
