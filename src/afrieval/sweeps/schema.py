"""What a sweep file holds: models, suites and settings, whose combinations are run, and where."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge

from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.files.schema import AT_LEAST_ONE, CLOSED, Positive
from afrieval.files.yaml import YamlFile, read_map_file

Executor = Literal["local", "slurm", "ray"]
Gpus = Annotated[float, Ge(0)]
Entries = Annotated[list[Annotated[str, AT_LEAST_ONE] | dict[str, Any]], AT_LEAST_ONE]


@dataclass(frozen=True)
class Sweep:
    """The keys of a sweep file.

    Attributes:
        models: paths of model files, or maps of their keys and of those of `entries.ModelEntry`.
        suites: paths of task or suite files, or maps of their keys.
        settings: further options of runs, by dotted name; each model is run with each of them.
        common: options for all runs.
        shares: jobs that share each run of a model.
        gpus: GPUs of each job; none are assigned if it is 0.
        executor: what starts the jobs.
        parallel: jobs at a time on this machine.
        slurm: options of sbatch.
        ray: options of the Ray cluster.
        folder: where runs and jobs are; by default, sweeps/NAME of the file.
    """

    __pydantic_config__ = CLOSED

    models: Entries
    suites: Entries
    settings: Annotated[list[dict[str, Any]], AT_LEAST_ONE] = field(default_factory=lambda: [{}])
    common: dict[str, Any] = field(default_factory=dict)
    shares: Positive = 1
    gpus: Gpus = 0
    executor: Executor = "local"
    parallel: Positive = 1
    slurm: dict[str, Any] = field(default_factory=dict)
    ray: dict[str, Any] = field(default_factory=dict)
    folder: Annotated[str, AT_LEAST_ONE] | None = None


def read_sweep(path: Path) -> tuple[Sweep, YamlFile]:
    """Returns a sweep file, with its folder filled in, and its lines.

    Raises:
        UserError: if it does not exist or is invalid; file, line and key are named.
    """
    found = read_map_file(path)
    sweep = found.checked(Sweep)
    check_gpus(sweep.gpus, f"{path}: gpus")
    if sweep.folder is None:
        sweep = Sweep(**{**vars(sweep), "folder": f"sweeps/{path.stem}"})
    return sweep, found


def folder_of(sweep: Sweep) -> Path:
    """Returns the folder of a sweep; errors are those of `user_path`."""
    return user_path(str(sweep.folder))


def check_gpus(gpus: float, where: str) -> None:
    """Rejects a number of GPUs that is neither whole nor a part of one.

    Raises:
        UserError: naming the key.
    """
    if gpus > 1 and gpus % 1:
        raise UserError(f"{where} must be a whole number, or less than 1, not {gpus:g}", "write 0.5, 1 or 2")
