"""Submits the jobs of a sweep to SLURM, through submitit, and asks what SLURM says about them."""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from typing_extensions import TypedDict

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes
from afrieval._util.schema import OPEN, validated_json
from afrieval._util.signals import stoppable
from afrieval._util.terminal import note, say
from afrieval._util.whole_files import write_whole
from afrieval.addons.sweep.remote import GOES_ON, passed_on, write_to_log
from afrieval.results.run_files import ANSWERS
from afrieval.tools.jobs.jobs import EndedJob, Job, job_folder, read_job
from afrieval.tools.jobs.state import State, Status, cells_of, read_state

ENDED = {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"}
ENDED |= {"REVOKED", "TIMEOUT"}
PATIENCE = 60  # seconds for SLURM to answer


class Queued(NamedTuple):
    """A job as SLURM has it.

    Attributes:
        state: SLURM's word, such as PENDING.
        reason: why it does not run yet, or why it ended; SLURM's word as well, empty if it has none.
    """

    state: str
    reason: str

    @property
    def ended(self) -> bool:
        """Whether it neither runs nor waits."""
        return self.state in ENDED

    def __str__(self) -> str:
        words = self.state.lower().replace("_", " ")
        return f"{words} ({self.reason})" if self.reason else words


def states(ids: Collection[str]) -> dict[str, Queued]:
    """Returns the jobs of these ids that SLURM knows.

    squeue knows those that wait or run, and those that ended some minutes ago; others are known only where SLURM keeps
    accounts, by sacct.

    Raises:
        UserError: if SLURM does not answer.
    """
    if not ids:
        return {}
    words = ("--noheader", "--array", "--states=all", f"--user={os.getuid()}", "--format=%i|%T|%r")
    queued = _parsed(_answer("squeue", *words), ids)
    if older := [each for each in ids if each not in queued]:
        arrays = ",".join(sorted({each.split("_")[0] for each in older}))
        with suppress(UserError):  # many small clusters keep no accounts
            words = ("-X", "--noheader", "--parsable2", "--format=JobID,State", f"--jobs={arrays}")
            queued |= _parsed(_answer("sacct", *words), older)
    return queued


def _answer(program: str, *words: str) -> str:
    if shutil.which(program) is None:
        raise UserError(f"SLURM's {program} is not installed here", "log in to a machine of the cluster, and try again")
    try:
        answer = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise UserError(f"SLURM does not answer within {PATIENCE} seconds", "try again later") from None
    if answer.returncode:
        raise UserError(f"SLURM does not answer: {last_line(answer.stderr)}", "try again later")
    return answer.stdout


def _parsed(lines: str, ids: Collection[str]) -> dict[str, Queued]:
    """Returns the jobs of `id|state|reason` lines; a state may be `CANCELLED by 1000`."""
    rows = [line.split("|") for line in lines.splitlines() if "|" in line]
    id_set = set(ids)
    return {
        name: Queued(state.split()[0].rstrip("+"), "".join(reason).replace("None", ""))
        for name, state, *reason in rows
        if name in id_set
    }


def last_line(text: str) -> str:
    """Returns the last line of what a program wrote, or `no reason given`."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


ID = "slurm.json"
LONGEST = 1000  # jobs of an array; SLURM's own default limit is 1001
MINUTES = 60  # of a job, unless the sweep file has another time
ENDLESS = 10**6  # times that submitit requeues a job; SlurmJob has a rule of its own
# Options of sbatch that the sweep decides; keys are compared with underscores.
DECIDED = {"array", "chdir", "error", "nodes", "ntasks", "ntasks_per_node", "open_mode", "output", "signal", "wrap"}


class _Id(TypedDict):
    """slurm.json."""

    __pydantic_config__ = OPEN  # type: ignore[misc]
    id: str


class SlurmQueue:
    """Submits jobs to SLURM, which runs them when it has room; the command does not wait.

    Raises:
        UserError: if an option is invalid.
    """

    waits = False

    def __init__(self, folder: Path, settings: Mapping[str, Any]):
        self._folder, self._options = folder, options(settings)

    def submit(self, jobs: Sequence[Job]) -> None:
        """Submits the jobs that are neither queued nor running; jobs with the same GPUs are one array.

        Raises:
            UserError: if SLURM does not answer, or refuses the jobs.
        """
        ids = _ids(self._folder, jobs)
        live = {number for number, queued in states(set(ids.values())).items() if not queued.ended}
        new = [job for job in jobs if ids.get(job.name) not in live]
        if len(new) < len(jobs):
            say(f"{len(jobs) - len(new)} of {len(jobs)} jobs wait in SLURM's queue already")
        for gpus, group in groupby(sorted(new, key=lambda job: job.gpus), lambda job: job.gpus):
            alike = list(group)
            for part in (alike[begin : begin + LONGEST] for begin in range(0, len(alike), LONGEST)):
                number = _submit(self._folder, part, with_gpus(self._options, gpus))
                say(f"submitted {len(part)} job{'s' * (len(part) > 1)} to SLURM: {number}")

    def poll(self) -> list[EndedJob]:
        """Returns no job: `with_queue` says how far they are."""
        return []

    def cancel(self) -> None:
        """Leaves the jobs in the queue; scancel ends them."""


@contextmanager
def opened(folder: Path, jobs: Sequence[Job], settings: Mapping[str, Any]) -> Iterator[SlurmQueue]:
    """Yields an executor of jobs on SLURM; raises UserError if SLURM is missing, or an option is invalid."""
    check_installed()
    yield SlurmQueue(folder, settings)


class JobProgress(NamedTuple):
    """A job and how far it is.

    Attributes:
        listed: whether the sweep file still has it.
        queue: its id in SLURM and what SLURM says of it; empty if it is not there.
    """

    job: Job
    state: State
    listed: bool = True
    queue: str = ""


def with_queue(folder: Path, progress: Sequence[JobProgress]) -> list[JobProgress]:
    """Returns how far jobs are, with what SLURM says of those that it has and that are left."""
    left = [each.job for each in progress if each.state["status"] not in ("done", "failed")]
    try:
        ids = _ids(folder, left)
        in_slurm = states(set(ids.values()))
    except UserError as e:
        note(e.message)
        return list(progress)
    queued = []
    for each in progress:
        if of_slurm := in_slurm.get(number := ids.get(each.job.name, "")):
            each = each._replace(queue=f"{number} {of_slurm}")
            if not of_slurm.ended:  # SLURM knows before the job itself that it runs, and when it waits again
                status: Status = "waiting" if of_slurm.state != "RUNNING" else "running"
                each = each._replace(state={**each.state, "status": status})
        queued.append(each)
    return queued


def options(sbatch: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the parameters of submitit for jobs with some options of sbatch, without GPUs.

    Raises:
        UserError: for an option that SLURM does not have, or that the sweep decides.
    """
    settings = {name.replace("-", "_"): value for name, value in sbatch.items()}
    for name in sorted(DECIDED & {*settings}):
        raise UserError(f"slurm.{name} is decided by the sweep", "leave it out; each job is one task on one node")
    minutes = _whole(settings.pop("time", MINUTES), "slurm.time", "minutes")
    parallel = _whole(settings.pop("parallel", LONGEST), "slurm.parallel", "jobs at a time")
    for name, value in settings.items():
        if not isinstance(value, str | int | float):
            raise UserError(f"slurm.{name} must be text, a number or true, not {value!r}", "see man sbatch")
    # Some clusters do not pass on the environment of this command, which these lines of shell restore.
    variables = [f"export {name}={shlex.quote(value)}" for name, value in passed_on().items()]
    setup = [f"cd {shlex.quote(str(Path.cwd()))}", "export SLURM_EXPORT_ENV=ALL", *variables]
    further = {"requeue": True} | {name: value for name, value in settings.items() if value is not False}
    return {
        "time": minutes,
        "signal_delay_s": min(90, 6 * minutes),  # a tenth of short limits; SLURM may be half a minute early
        "array_parallelism": parallel,
        "stderr_to_stdout": True,
        "setup": setup,
        "additional_parameters": further,
    }


def with_gpus(chosen: dict[str, Any], gpus: float) -> dict[str, Any]:
    """Returns parameters with a number of GPUs, unless the sweep file names them in SLURM's words.

    Raises:
        UserError: for a part of a GPU.
    """
    if gpus % 1:
        raise UserError(f"SLURM assigns whole GPUs, not {gpus:g}", "write gpus: 1, or use --executor ray")
    further = chosen["additional_parameters"]
    if not gpus or any(name.startswith(("gpus", "gres")) for name in further):
        return chosen
    return chosen | {"additional_parameters": further | {"gpus_per_node": int(gpus)}}


def _whole(value: object, key: str, unit: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UserError(f"{key} must be a whole number of {unit}, not {value!r}", f"write {key.split('.')[1]}: 60")
    return value


def check_installed() -> None:
    """Raises UserError, naming what is missing, if SLURM or submitit is not installed."""
    if find_spec("submitit") is None:
        raise UserError("sweeps on SLURM need submitit, which is not installed", "pip install 'afrieval[slurm]'")
    missing = [name for name in ("sbatch", "srun", "squeue") if shutil.which(name) is None]
    if missing:
        cure = "start the sweep on a machine of the cluster that has it, or with --executor local"
        raise UserError(f"SLURM's {missing[0]} is not installed here", cure)


def _submit(folder: Path, jobs: Sequence[Job], chosen: dict[str, Any]) -> str:
    from submitit import SlurmExecutor
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    executor = SlurmExecutor(folder / "slurm", max_num_timeout=ENDLESS)
    executor.update_parameters(job_name=f"afrieval-{folder.name}", **chosen)
    try:
        submitted = executor.submit_array([SlurmJob(str(folder.resolve()), job.name) for job in jobs])
    except (FailedJobError, FailedSubmissionError) as e:
        cure = "correct slurm: in the sweep file; sinfo shows partitions, man sbatch the options"
        raise UserError(f"SLURM refuses the jobs: {last_line(str(e))}", cure) from None
    for job, each in zip(jobs, submitted, strict=True):
        write_whole(job_folder(folder, job.name) / ID, json.dumps({"id": str(each.job_id)}).encode())
    return str(submitted[0].job_id).split("_")[0]


def _ids(folder: Path, jobs: Sequence[Job]) -> dict[str, str]:
    paths = {job.name: job_folder(folder, job.name) / ID for job in jobs}
    cure = "delete it, once squeue shows that the job is not queued"
    existing = {name: path for name, path in paths.items() if path.exists()}
    return {name: validated_json(_Id, read_bytes(path, cure), str(path), cure)["id"] for name, path in existing.items()}


IDLE = 3  # time limits in a row that a job may reach without storing an answer


@dataclass
class SlurmJob:
    """What submitit calls on a node, and stores when the job is requeued.

    Attributes:
        before: what was stored when SLURM started it last.
        idle: number of time limits in a row without a new answer.
    """

    folder: str
    job: str
    before: tuple[int, int] = (0, 0)
    idle: int = 0

    def __call__(self) -> None:
        """Runs the job; SIGTERM, as from scancel, stops it cleanly."""
        from afrieval.tools.jobs.job_worker import main

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
    folders = [run["folder"] for run in state["runs"] if run["folder"]]
    top = folder if described.shares == 1 else job_folder(folder, job)
    answers = [path.stat().st_size for place in folders for path in (top / place).glob(ANSWERS)]
    return cells_of(state)[0], sum(answers)
