"""A SLURM cluster of one node, this machine, for tests: started as root in a temporary folder, and ended again.

`python tests/addons/sweep/slurm_node.py COMMAND ...` runs a command on such a cluster.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol")
PATIENCE = 30  # seconds for a daemon to answer
CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=1,sched_min_interval=500000,sched_interval=5
JobRequeue=1
KillWait=5
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=2000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str:
    """Returns why no SLURM node can be started here; empty if one can."""
    missing = [name for name in NEEDED if not _program(name)]
    if missing:
        return f"needs SLURM (apt install slurm-wlm munge); {', '.join(missing)} is not here"
    return "" if os.geteuid() == 0 else "starting a SLURM node needs root"


@contextmanager
def slurm_node() -> Iterator[Path]:
    """Starts SLURM, with its own munged, and sets SLURM_CONF; cancels all jobs and ends it at the end.

    Yields:
        its folder, with the logs.
    """
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))  # a short path: names of sockets are limited
    folder.chmod(0o755)  # munge demands it
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.enter_context(patch.dict(os.environ, {"SLURM_CONF": str(_configured(folder))}))
        munged = [_program("munged"), "--foreground", "--force", f"--socket={folder}/munge.socket"]
        munged += [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "seed")]
        stack.enter_context(_daemon(folder, *munged, f"--log-file={folder}/munged.log"))
        _wait("munged", folder, (folder / "munge.socket").exists)
        stack.enter_context(_daemon(folder, _program("slurmctld"), "-D"))
        _wait("slurmctld", folder, lambda: "UP" in _output("scontrol", "ping"))
        stack.enter_context(_daemon(folder, _program("slurmd"), "-D"))
        _wait("slurmd", folder, lambda: "idle" in _output("sinfo", "--noheader", "--format=%T"))
        stack.callback(_cancel_all)
        yield folder


def _configured(folder: Path) -> Path:
    """Writes slurm.conf and the key of munge."""
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o600)
    config = folder / "slurm.conf"
    config.write_text(CONFIG.format(host=socket.gethostname().split(".")[0], folder=folder, ports=_free_ports(2)))
    return config


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def _daemon(folder: Path, *command: str) -> Iterator[None]:
    """Runs a daemon in a process group of its own, so that Ctrl-C does not end it before the jobs."""
    log = folder / f"{Path(command[0]).name}.out"
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, process_group=0)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(name: str, folder: Path, ready: Callable[[], bool]) -> None:
    """Waits for a daemon.

    Raises:
        RuntimeError: with its log, if it does not answer.
    """
    end = time.monotonic() + PATIENCE
    while not ready():
        if time.monotonic() > end:
            logs = "\n".join(p.read_text(errors="replace")[-3000:] for p in sorted(folder.glob(f"{name}.*")))
            raise RuntimeError(f"{name} does not answer:\n{logs}")
        time.sleep(0.2)


def _cancel_all() -> None:
    """Cancels all jobs and waits until the node has none."""
    subprocess.run(["scancel", "--state=PENDING", "--user=root"], check=False)
    subprocess.run(["scancel", "--full", "--signal=KILL", "--user=root"], check=False)
    subprocess.run(["scancel", "--user=root"], check=False)
    end = time.monotonic() + PATIENCE
    while _output("squeue", "--noheader") and time.monotonic() < end:
        time.sleep(0.5)


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _program(name: str) -> str:
    """Returns the path of a program; daemons are in folders that users other than root lack in PATH."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") or ""


if __name__ == "__main__":
    if reason := why_not():
        sys.exit(reason)
    with slurm_node():
        sys.exit(subprocess.run(sys.argv[1:], check=False).returncode)
