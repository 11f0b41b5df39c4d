"""What SLURM says about jobs: queued and why, running, or how they ended."""

import os
import shutil
import subprocess
from collections.abc import Collection
from typing import NamedTuple

from afrieval.errors import UserError

ENDED = {
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REVOKED",
    "TIMEOUT",
}
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
    found = _parsed(_squeue(), ids)
    if older := [each for each in ids if each not in found]:
        found |= _parsed(_sacct(older), older)
    return found


def _squeue() -> str:
    if shutil.which("squeue") is None:
        raise UserError("SLURM's squeue is not installed here", "log in to a machine of the cluster, and try again")
    asked = ["squeue", "--noheader", "--array", "--states=all", f"--user={os.getuid()}", "--format=%i|%T|%r"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise UserError(f"SLURM does not answer within {PATIENCE} seconds", "try again later") from None
    if answer.returncode:
        raise UserError(f"SLURM does not answer: {last_line(answer.stderr)}", "try again later")
    return answer.stdout


def _sacct(ids: Collection[str]) -> str:
    """Returns what SLURM's accounts have; nothing where it keeps none, as on many small clusters."""
    if shutil.which("sacct") is None:
        return ""
    arrays = ",".join(sorted({each.split("_")[0] for each in ids}))
    asked = ["sacct", "-X", "--noheader", "--parsable2", "--format=JobID,State", f"--jobs={arrays}"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=False, timeout=PATIENCE).stdout
    except subprocess.TimeoutExpired:
        return ""


def _parsed(lines: str, ids: Collection[str]) -> dict[str, Queued]:
    """Returns the jobs of `id|state|reason` lines; a state may be `CANCELLED by 1000`."""
    rows = [line.split("|") for line in lines.splitlines() if "|" in line]
    known = set(ids)
    return {
        name: Queued(state.split()[0].rstrip("+"), "".join(reason).replace("None", ""))
        for name, state, *reason in rows
        if name in known
    }


def last_line(text: str) -> str:
    """Returns the last line of what a program wrote, or `no reason given`."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
