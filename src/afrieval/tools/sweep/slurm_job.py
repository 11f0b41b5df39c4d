"""A job of a sweep as SLURM runs it: stopped before its time limit, requeued, and continued."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afrieval._util.signals import stoppable
from afrieval.results.run_files import ANSWERS
from afrieval.tools.sweep.jobs import GOES_ON, job_folder, read_job, write_to_log
from afrieval.tools.sweep.state import cells_of, read_state

IDLE = 3  # time limits in a row that a job may reach without storing an answer


@dataclass
class SlurmJob:
    """What submitit calls on a node, and stores when the job is requeued.

    Attributes:
        folder: of the sweep.
        job: the job's name.
        before: what was stored when SLURM started it last.
        idle: number of time limits in a row without a new answer.
    """

    folder: str
    job: str
    before: tuple[int, int] = (0, 0)
    idle: int = 0

    def __call__(self) -> None:
        """Runs the job; SIGTERM, as from scancel, stops it cleanly."""
        from afrieval.tools.sweep.worker import main

        folder = Path(self.folder)
        write_to_log(folder, self.job)
        self.before = stored(folder, self.job)
        if code := stoppable(lambda: main([self.folder, self.job]), GOES_ON):
            raise SystemExit(code)

    def checkpoint(self) -> Any:
        """Returns what is called after the requeue; submitit calls this shortly before the time limit.

        Raises:
            SystemExit: if the job does not get on, which would go on forever.
        """
        from submitit.helpers import DelayedSubmission

        self.idle = self.idle + 1 if stored(Path(self.folder), self.job) == self.before else 0
        if self.idle == IDLE:
            raise SystemExit(f"no answer was stored within the time limit, {IDLE} times in a row; raise slurm.time")
        return DelayedSubmission(self)


def stored(folder: Path, job: str) -> tuple[int, int]:
    """Returns how much a job has stored: its cells, and the bytes of its answers."""
    described = read_job(folder, job)
    state = read_state(folder, described)
    places = [run["folder"] for run in state["runs"] if run["folder"]]
    top = folder if described.shares == 1 else job_folder(folder, job)
    answers = [path.stat().st_size for place in places for path in (top / place).glob(ANSWERS)]
    return cells_of(state)[0], sum(answers)
