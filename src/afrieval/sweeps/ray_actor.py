"""A job of a sweep as Ray runs it: in an actor, which holds the model."""

import os
import signal
import threading
import time
from pathlib import Path

from afrieval.stopping import stoppable
from afrieval.sweeps.elsewhere import GOES_ON, write_to_log
from afrieval.sweeps.jobs import JOB, job_folder

STOP = ".stop"  # a file in the sweep's folder; while it is there, jobs on Ray stop
EVERY = 1  # seconds between looks for it


class RayJob:
    """An actor. If its node is lost, Ray makes another one elsewhere, which continues."""

    def work(self, folder: str, job: str, here: str) -> str:
        """Runs a job.

        Args:
            folder: of the sweep.
            job: its name.
            here: the working directory of the command, for relative paths.

        Returns:
            why it was not started; empty if it was.
        """
        from afrieval.sweeps.work import main

        sweep = Path(folder)
        if not (job_folder(sweep, job) / JOB).exists():
            return f"{os.uname().nodename} does not see {sweep}: it must be on a file system that all nodes share"
        if Path(here).is_dir():
            os.chdir(here)
        write_to_log(sweep, job)
        threading.Thread(target=_watch, args=[sweep / STOP], daemon=True).start()
        stoppable(lambda: main([folder, job]), GOES_ON)
        return ""


def _watch(stop: Path) -> None:
    """Stops the job once a file appears: Ray can only kill an actor that is at work, and blocks SIGINT in it."""
    while not stop.exists():
        time.sleep(EVERY)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
