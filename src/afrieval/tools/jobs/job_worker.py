"""The worker of a job: loads a model once and runs its cells in this process."""

import gc
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TypeVar

from afrieval._util.errors import UserError
from afrieval._util.signals import check, leave, listen, stoppable
from afrieval._util.terminal import complain, note, prepare
from afrieval.config.files import run_config
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.exchange.loggers import check_loggers
from afrieval.models.base import LanguageModel
from afrieval.models.loading import seed_libraries
from afrieval.models.registry import backend_of, load_model
from afrieval.results.run_files import RUN
from afrieval.results.run_folder import RunFolder
from afrieval.run.evaluate import missing_cells
from afrieval.run.session import Session, plan_run
from afrieval.tools.jobs.jobs import JOBS, LOG, Job, held, job_folder, read_job
from afrieval.tools.jobs.shares import RunShare, dealt, run_share
from afrieval.tools.jobs.state import STATE, Tracker, read_state

T = TypeVar("T")
OF_LOADING = ("batch_size", "max_batch_size", "torch_random_seed")  # settings of the evaluation


class Models:
    """Keeps the model that was loaded last; a model that could not be loaded is not tried again."""

    def __init__(self, log: Path):
        self._log, self._stack = log, ExitStack()
        self._key = ""
        self._kept: LanguageModel | UserError | None = None
        self._served: ModelConfig | UserError | None = None

    def load(self, config: ModelConfig, evaluation: EvalConfig) -> LanguageModel:
        """Returns the loaded model; raises UserError if it cannot be loaded."""
        if config.api.server:
            config = self._reachable(config)
        if backend_of(config.model_type).per_run:  # they count the answers of one run
            return load_model(config, evaluation)
        of_evaluation = [getattr(evaluation, name) for name in OF_LOADING]
        key = json.dumps([asdict(config), of_evaluation], sort_keys=True)
        if key != self._key:
            self._key, self._kept = key, None
            gc.collect()  # weights of the model before may be in circles
            self._kept = _tried(lambda: load_model(config, evaluation))
        seed_libraries(evaluation)
        return _loaded(self._kept)

    def forget(self) -> None:
        """Lets go of the model, after an error that may have left it broken."""
        self._key, self._kept = "", None

    def close(self) -> None:
        """Ends the server, if one was started."""
        self.forget()
        self._stack.close()

    def _reachable(self, config: ModelConfig) -> ModelConfig:
        """Returns the settings of a model with the address of its server, which is started when it is first needed."""
        from afrieval.tools.jobs.server import answers, served

        if isinstance(self._served, ModelConfig) and not answers(self._served):
            self._stack.close()
            self._served = None
        if not self._served:
            self._served = _tried(lambda: self._stack.enter_context(served(config, self._log)))
        return _loaded(self._served)


def _tried(load: Callable[[], T]) -> T | UserError:
    """Returns a loaded object, or the error of loading it."""
    try:
        return load()
    except UserError as e:
        return e


def _loaded(tried: T | UserError | None) -> T:
    if isinstance(tried, UserError):
        raise tried
    assert tried is not None
    return tried


def work(folder: Path, job: str) -> None:
    """Runs what is left of a job, with its model loaded once; a run that fails does not stop the others.

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
        tracker, models = Tracker(folder, described), Models(job_folder(folder, job) / LOG)
        try:
            tracker.change("running")
            for number in tracker.left:
                with _failures(tracker, number, models):
                    share = _share(folder, described, number)
                    tracker.expect(number, share.session.stored.path, len(share.cells), share.left)
                    del share  # all plans of a job may need more memory than there is
            for number in tracker.left:
                with _failures(tracker, number, models):
                    _run(_share(folder, described, number), tracker, number, models)
                    tracker.end(number)
        except BaseException as e:
            tracker.change("stopped", _reason(e))
            raise
        finally:
            models.close()
        tracker.change("failed" if tracker.failed else "done")


@contextmanager
def _failures(tracker: Tracker, number: int, models: Models) -> Iterator[None]:
    """Stores why a run fails, and ends the block without an error."""
    try:
        yield
    except Exception as e:
        check()  # a signal may be the cause
        if not isinstance(e, UserError):
            sys.excepthook(type(e), e, e.__traceback__)
            models.forget()  # it may be broken
        note(f"failed: {_reason(e)}")
        tracker.end(number, _reason(e))


def _share(folder: Path, job: Job, number: int) -> RunShare:
    config = run_config(job.runs[number], needs_model=True)
    check_loggers(config.loggers, config.task)
    return share_of_job(folder, job, plan_run(config))


def share_of_job(folder: Path, job: Job, session: Session) -> RunShare:
    """Returns a job's share of a planned run, which has its default folder, within the folder of all jobs."""
    run_path = session.stored.path
    names = [path.name for path in sorted((folder / JOBS).glob("*")) if path.name not in job.siblings]
    others = [path for name in names if ((path := job_folder(folder, name) / run_path) / RUN).exists()]
    target = RunFolder(folder / run_path)
    if job.shares == 1:
        return RunShare(session, target, target, session.plan.cells, others)
    cells = dealt(session.plan.cells, job.shares)[job.share - 1]
    share_folder = RunFolder(job_folder(folder, job.name) / run_path)
    return RunShare(session, target, share_folder, cells, others, f"{job.share} of {job.shares}")


def _run(share: RunShare, tracker: Tracker, number: int, models: Models) -> None:
    for line in share.session.plan.lines:
        note(line)
    tracker.begin(number)

    def load(session: Session) -> LanguageModel | None:
        lm = models.load(session.config.model, session.config.eval) if missing_cells(session) else None
        tracker.loaded()
        return lm

    run_share(share, load, partial(tracker.cell, number))


def _reason(error: BaseException) -> str:
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
