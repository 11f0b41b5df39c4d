"""Options of `afrieval sweep`, and that of `afrieval doctor`."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from afrieval.config.options import File, Options, Word


@dataclass(frozen=True)
class SweepCommand(Options):
    """Runs models, suites and settings in all combinations, as jobs on this machine, on SLURM or on a Ray cluster.

    FILE lists them. Each job loads one model, once. The same command continues a sweep that was stopped: it runs what
    is missing, except for jobs that failed. Exit code 1 means that some jobs have failed or were stopped.

    Examples:
        afrieval sweep configs/sweeps/demo.yaml
        afrieval sweep configs/sweeps/demo.yaml --status
    """

    file: Annotated[str, Word("FILE")]
    """YAML file with models, suites and settings, as in configs/sweeps/."""
    status: bool = False
    """Start nothing. Print how far each job is, and why it failed. Exit code 1 means that some have failed."""
    retry_failed: bool = False
    """Also run jobs again that have failed."""
    dry_run: bool = False
    """Start nothing. Print the runs of each job, and how many cells and requests they have."""
    executor: Literal["local", "slurm", "ray"] | None = None
    """What starts the jobs: local (this machine), slurm or ray. Default: what FILE says, or local."""


@dataclass(frozen=True)
class SweepToCheck(Options):
    """What `afrieval doctor` checks instead of a config."""

    sweep: File | None = None
    """Sweep file, whose models, suites and settings are checked. Default: none."""
    configs: ClassVar = "afrieval.addons.sweep.combinations:configs_of"
