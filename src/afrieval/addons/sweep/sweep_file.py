"""What a sweep file holds: models, suites and settings, whose combinations are run, and where."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from annotated_types import Gt

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped
from afrieval._util.schema import AT_LEAST_ONE, CLOSED, Positive, validated
from afrieval._util.yaml_files import YamlFile, read_map_file
from afrieval.config.api_settings import OPENAI
from afrieval.config.files import ModelFile, Settings, TaskConfigFile, flat, model_settings, run_config, task_settings
from afrieval.config.settings import ModelConfig
from afrieval.tools.jobs.jobs import Gpus, slug
from afrieval.tools.jobs.server import command

ExecutorName = Literal["local", "slurm", "ray"]
Entries = Annotated[list[Annotated[str, AT_LEAST_ONE] | dict[str, Any]], AT_LEAST_ONE]


@dataclass(frozen=True)
class RayOptions:
    """The key `ray` of a sweep file.

    Attributes:
        address: of the cluster, auto or HOST:PORT; None for a cluster of this machine alone.
        cpus: of each job.
    """

    __pydantic_config__ = CLOSED

    address: str | None = None
    cpus: Annotated[float, Gt(0)] = 1.0


@dataclass(frozen=True)
class SweepFile:
    """The keys of a sweep file.

    Attributes:
        models: what `afrieval run` takes as MODEL, or maps of the keys of `ModelEntry`.
        suites: what it takes as TASKS, or maps of the keys of task and suite files.
        settings: further options of runs, by dotted name; each model is run with each of them.
        common: options for all runs.
        shares: jobs that share each run of a model.
        gpus: GPUs of each job; none are assigned if it is 0.
        executor: what starts the jobs.
        parallel: jobs at a time on this machine.
        slurm: options of sbatch.
        folder: where runs and jobs are; by default, sweeps/NAME of the file.
    """

    __pydantic_config__ = CLOSED

    models: Entries
    suites: Entries
    settings: Annotated[list[dict[str, Any]], AT_LEAST_ONE] = field(default_factory=lambda: [{}])
    common: dict[str, Any] = field(default_factory=dict)
    shares: Positive = 1
    gpus: Gpus = 0
    executor: ExecutorName = "local"
    parallel: Positive = 1
    slurm: dict[str, Any] = field(default_factory=dict)
    ray: RayOptions = field(default_factory=RayOptions)
    folder: Annotated[str, AT_LEAST_ONE] | None = None

    def settings_of(self, executor: ExecutorName) -> object:
        """Returns what an executor is given: the jobs at a time on this machine, else the key of its name."""
        return self.parallel if executor == "local" else getattr(self, executor)


def read_sweep(path: Path) -> tuple[SweepFile, YamlFile]:
    """Returns a sweep file, with its folder filled in, and its lines.

    Raises:
        UserError: if it does not exist or is invalid; file, line and key are named.
    """
    file = read_map_file(path)
    sweep = file.checked(SweepFile)
    check_gpus(sweep.gpus, f"{path}: gpus")
    if sweep.folder is None:
        sweep = SweepFile(**{**vars(sweep), "folder": f"sweeps/{path.stem}"})
    return sweep, file


def folder_of(sweep: SweepFile) -> Path:
    """Returns the folder of a sweep."""
    return user_path(str(sweep.folder))


def check_gpus(gpus: float, where: str) -> None:
    """Raises UserError, naming the key, for a number of GPUs that is neither whole nor a part of one."""
    if gpus > 1 and gpus % 1:
        raise UserError(f"{where} must be a whole number, or less than 1, not {gpus:g}", "write 0.5, 1 or 2")


@dataclass(frozen=True)
class ModelEntry(ModelFile):
    """What a map in `models` holds: the keys of a model file, and how its jobs are run."""

    __pydantic_config__ = CLOSED

    file: Annotated[str, AT_LEAST_ONE] | None = None
    shares: Positive | None = None
    gpus: Gpus | None = None
    server: Annotated[str, AT_LEAST_ONE] | None = None


OWN = ("file", "shares", "gpus", "server")


class SweptModel(NamedTuple):
    """An entry of `models`.

    Attributes:
        name: of its file, or of the model.
        base: the settings of its file, which the name says.
        entry: its map.
    """

    position: int
    name: str
    base: ModelConfig
    options: Settings
    entry: ModelEntry


def model_entry(entry: str | dict[str, Any], index: int, file: YamlFile) -> SweptModel:
    """Returns an entry of `models`; raises UserError, naming file, line and key."""
    where = f"{file.path}, line {file.line(('models', index))}: models.{index}"
    if isinstance(entry, str):
        entry = {"file": entry}
    keys = validated(ModelEntry, entry, str(file.path), line=lambda within: file.line(("models", index, *within)))
    options = {name: value for name, value in entry.items() if name not in OWN}
    of_file = _of_file(keys.file, "model", where) if keys.file else {}
    server = {"model.api.server": keys.server} if keys.server else {}
    settings = of_file | flat(options, "model") | server
    name = settings.get("model.model_name")
    if not name:
        raise UserError(f"{where} has no model_name", "add it, or file: and the path of a model file")
    check_gpus(keys.gpus or 0, f"{where}.gpus")
    if keys.server:
        if (kind := settings.get("model.model_type", "hf")) != OPENAI:
            message = f"{where}.server is {keys.server!r}, but model_type is {kind}"
            raise UserError(message, f"add model_type: {OPENAI} and what the server takes, or remove server")
        command(keys.server, str(name), port=1)
    base = (of_file or {"model.model_name": name}) | server | ({"model.model_type": OPENAI} if server else {})
    short = re.sub(r"\.ya?ml$", "", Path(keys.file or name).name)
    return SweptModel(index, slug(short), run_config(base, needs_model=True, needs_task=False).model, settings, keys)


def suite_entry(entry: str | dict[str, Any], index: int, file: YamlFile) -> Settings:
    """Returns the settings of an entry of `suites`; raises UserError as `model_entry` does."""
    if isinstance(entry, str):
        return _of_file(entry, "task", f"{file.path}, line {file.line(('suites', index))}: suites.{index}")
    validated(TaskConfigFile, entry, str(file.path), line=lambda within: file.line(("suites", index, *within)))
    return flat(entry, "task")


def _of_file(name: str, section: str, where: str) -> Settings:
    path = here_or_shipped(user_path(name))
    try:
        return model_settings(name) if section == "model" else task_settings([name])
    except UserError as e:
        if path.is_file():
            raise  # an error in the file, which it names
        raise UserError(f"{where}: {e.message}", e.hint) from None
