"""Programs that some commands use if they are there: SLURM, Ray, a browser."""

import shutil
import subprocess
from importlib.util import find_spec

from afrieval.doctor.finding import Finding

PATIENCE = 5  # seconds for SLURM's controller
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def slurm_finding() -> Finding:
    """Returns whether jobs can be submitted to SLURM from here."""
    if not shutil.which("sinfo") or not shutil.which("sbatch"):
        return Finding("SLURM", "note", "not on this machine")
    try:
        words = ["sinfo", "--noheader", "--format=%R %a %D"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return Finding("SLURM", "note", f"does not answer within {PATIENCE} seconds", "start it, or ask its operators")
    if done.returncode:
        said = done.stderr.strip().partition("\n")[0].removeprefix("sinfo: error: ")
        return Finding("SLURM", "note", f"sinfo finds no cluster: {said[:60]}", "start it, or ask its operators")
    parts = [line.split() for line in done.stdout.splitlines() if line.strip()]
    named = ", ".join(f"{name} ({nodes} nodes, {state})" for name, state, nodes in parts if name)
    if find_spec("submitit") is None:
        cure = "pip install 'afrieval[slurm]', for afrieval sweep"
        return Finding("SLURM", "note", f"partitions {named}, but submitit is not installed", cure)
    return Finding("SLURM", "ok", f"partitions {named}")


def ray_finding() -> Finding:
    """Returns whether Ray is installed."""
    if find_spec("ray") is None:
        return Finding("Ray", "note", "not installed", "pip install 'afrieval[ray]', for afrieval sweep on Ray")
    return Finding("Ray", "ok", "installed")


def browser_finding() -> Finding:
    """Returns the browser that tests of pages use."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        return Finding("browser", "note", "no Chromium; only tests of pages need it")
    return Finding("browser", "ok", path)
