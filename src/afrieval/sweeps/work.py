"""The worker of a sweep: runs one job in this process. `python -m afrieval.sweeps.work FOLDER JOB` is the same."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from afrieval.config.merge import run_config
from afrieval.errors import UserError
from afrieval.exports.checks import checked
from afrieval.run.session import Session, prepared
from afrieval.stopping import check, leave, listen, stoppable
from afrieval.sweeps.jobs import LOG, Job, job_folder, read_job
from afrieval.sweeps.load import Models
from afrieval.sweeps.locks import held
from afrieval.sweeps.run import part_of, run_part
from afrieval.sweeps.state import STATE, read_state
from afrieval.sweeps.tracking import Tracker
from afrieval.terminal import complain, note, prepare


def work(folder: Path, job: str) -> None:
    """Runs what is left of a job, with its model loaded once; a run that fails does not stop the others.

    Args:
        folder: of the sweep.
        job: its name.

    Raises:
        UserError: if the job's own files are missing or damaged.
    """
    described = read_job(folder, job)
    with held(job_folder(folder, job)) as free:
        if not free:
            note(f"the job {job} is running already, in another process")
            return
        for unfinished in job_folder(folder, job).glob(f".{STATE}.*"):  # of workers that were killed
            unfinished.unlink(missing_ok=True)
        _work(folder, described)


def _work(folder: Path, job: Job) -> None:
    tracker, models = Tracker(folder, job), Models(job_folder(folder, job.name) / LOG)
    try:
        tracker.change("running")
        for at in tracker.left:
            _tried(tracker, at, partial(_expect, folder, job, tracker, at), models)
        for at in tracker.left:
            if _tried(tracker, at, partial(_run, folder, job, tracker, at, models), models):
                tracker.end(at)
    except BaseException as e:
        tracker.change("stopped", _reason(e))
        raise
    finally:
        models.close()
    tracker.change("failed" if tracker.failed else "done")


def _tried(tracker: Tracker, at: int, step: Callable[[], None], models: Models) -> bool:
    """Returns whether a step of a run succeeded; the reason of a failure is stored."""
    try:
        step()
        return True
    except Exception as e:
        check()  # a signal may be the cause
        if not isinstance(e, UserError):
            sys.excepthook(type(e), e, e.__traceback__)
            models.forget()  # it may be broken
        note(f"failed: {_reason(e)}")
        tracker.end(at, _reason(e))
        return False


def _planned(job: Job, at: int) -> Session:
    return prepared(lambda: checked(run_config(list(job.runs[at].items()), needs_model=True)))


def _expect(folder: Path, job: Job, tracker: Tracker, at: int) -> None:
    """Plans a run only to count its cells: all plans of a job may need more memory than there is."""
    tracker.expect(at, part_of(folder, job, _planned(job, at)))


def _run(folder: Path, job: Job, tracker: Tracker, at: int, models: Models) -> None:
    part = part_of(folder, job, _planned(job, at))
    for line in part.session.plan.lines:
        note(line)
    tracker.begin(at)

    def load(*of: Any) -> Any:
        try:
            return models.load(*of)
        finally:
            tracker.loaded()

    run_part(part, load, partial(tracker.cell, at))


def _reason(error: BaseException) -> str:
    """Returns why a run or a job ended; nothing if somebody stopped it."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return error.code if isinstance(error, SystemExit) and isinstance(error.code, str) else ""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename} cannot be read or written: {error.strerror}"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def main(words: list[str]) -> int:
    """Runs a job, and returns 0 if it is done, 1 if it failed, and 2 if it could not be started."""
    prepare()
    try:
        folder, job = Path(words[0]), words[1]
        work(folder, job)
        return 0 if read_state(folder, read_job(folder, job))["status"] == "done" else 1
    except UserError as e:
        check()
        complain(e.message, e.hint)
        return 2


if __name__ == "__main__":
    listen()
    leave(stoppable(lambda: main(sys.argv[1:]), "; the same sweep continues where this job stopped"))
