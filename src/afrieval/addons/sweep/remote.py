"""What jobs need that run elsewhere, on SLURM or Ray: variables of this process, and their log."""

import os
from pathlib import Path

from afrieval.tools.jobs.jobs import LOG, job_folder

GOES_ON = "; the same sweep continues where this job stopped"  # said of a job that a signal stops
# Not HF_TOKEN: schedulers show and store what they pass on. A token in HF_HOME is found there.
PASSED = (
    "PYTHONPATH",
    "AFRIEVAL_DATA",
    "AFRIEVAL_MODELS",
    "HF_HOME",
    "HF_HUB_OFFLINE",
    "XDG_CACHE_HOME",
    "OMP_NUM_THREADS",
)


def passed_on() -> dict[str, str]:
    """Returns the variables of this process' environment that jobs need, as far as they are set."""
    return {name: os.environ[name] for name in PASSED if name in os.environ}


def write_to_log(folder: Path, job: str) -> None:
    """Appends all output of this process to the log of a job, including libraries and child processes."""
    with (job_folder(folder, job) / LOG).open("ab") as log:
        for number in (1, 2):
            os.dup2(log.fileno(), number)
