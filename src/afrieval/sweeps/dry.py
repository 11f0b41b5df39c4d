"""What the jobs of a sweep would run, found by planning each run; nothing is loaded or written."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from afrieval.config.merge import run_config
from afrieval.grouping import grouped
from afrieval.run.session import prepared
from afrieval.sweeps.jobs import Job
from afrieval.sweeps.run import part_of


class Asked(NamedTuple):
    """A job's part of a run.

    Attributes:
        job: its name.
        run: the run's folder in that of the sweep.
        cells: how many it runs.
        stored: how many of them are stored already.
        requests: about how many requests the others have.
    """

    job: str
    run: str
    cells: int
    stored: int
    requests: int


def asked(folder: Path, jobs: Sequence[Job]) -> Iterator[Asked]:
    """Yields the parts of all jobs, those of a run next to each other.

    Args:
        folder: of the sweep.
        jobs: those of its file.

    Raises:
        UserError: for data that is missing, or prompts that cannot be filled in.
    """
    for sharing in grouped(jobs, lambda job: job.model).values():
        for options in sharing[0].runs:
            config = run_config(list(options.items()), needs_model=True)
            session = prepared(lambda config=config: config, dry=True)  # type: ignore[misc]
            for job in sharing:
                part = part_of(folder, job, session)
                left = [cell for cell in part.cells if not part.done(cell)]
                done, requests = len(part.cells) - len(left), sum(cell.n_requests for cell in left)
                yield Asked(job.name, str(part.session.stored.path), len(part.cells), done, requests)
