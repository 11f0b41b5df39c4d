"""From a sweep file to its jobs: every model with every suite under every settings, checked before any is started."""

import difflib
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from afrieval.config.arguments import OPEN_MAPS
from afrieval.config.merge import Given, ModelFile, TaskFile, flat, read_file, run_config
from afrieval.config.options import options_of
from afrieval.config.settings import ModelConfig, RunConfig
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.files.schema import AT_LEAST_ONE, CLOSED, Place, Positive, validated
from afrieval.files.yaml import YamlFile
from afrieval.grouping import grouped
from afrieval.models.backend_args import check_backend_args
from afrieval.resources import here_or_shipped
from afrieval.run.folder_name import default_folder
from afrieval.sweeps.jobs import Job
from afrieval.sweeps.schema import Gpus, Sweep, check_gpus
from afrieval.tasks.cell import Plan
from afrieval.tasks.select import chosen_tasks, named_languages

LONGEST = 40  # characters of a setting in the name of a job
SERVED = "http://localhost/v1"  # stands for the address of a server that a job starts, whose port is any


@dataclass(frozen=True)
class ModelEntry(ModelFile):
    """What a map in `models` holds: the keys of a model file, and how its jobs are run."""

    __pydantic_config__ = CLOSED

    file: Annotated[str, AT_LEAST_ONE] | None = None
    shares: Positive | None = None
    gpus: Gpus | None = None
    server: Annotated[str, AT_LEAST_ONE] | None = None


OWN = ("file", "shares", "gpus", "server")


class Model(NamedTuple):
    """An entry of `models`.

    Attributes:
        at: its place in the list.
        name: that of its file, or of the model.
        base: the settings that the name stands for.
        given: all its settings.
        entry: what else its map has.
    """

    at: int
    name: str
    base: ModelConfig
    given: Given
    entry: dict[str, Any]


class Run(NamedTuple):
    """A run: one model, one suite, one map of settings.

    Attributes:
        where: what it is a combination of, for messages.
    """

    where: str
    model: Model
    given: Given
    config: RunConfig

    @property
    def job(self) -> str:
        """The name of its model and of all settings of the model that the model's file does not have."""
        before, now = asdict(self.model.base), asdict(self.config.model)
        return "-".join([self.model.name, *(_word(name, now[name]) for name in now if now[name] != before[name])])


def jobs_of(sweep: Sweep, found: YamlFile) -> list[Job]:
    """Returns the jobs of a sweep, in the order of its file.

    Args:
        sweep: the content of the file.
        found: the file, for messages.

    Raises:
        UserError: naming file and key of the first value that is not allowed.
    """
    for key, options in [("common", sweep.common), *((f"settings.{n}", of) for n, of in enumerate(sweep.settings))]:
        _check_options(options, found, key)
    runs = list(_runs(sweep, found))
    _check_folders(runs, found.path)
    return [job for of_job in grouped(runs, lambda run: run.job).values() for job in _shares(sweep, of_job)]


def _runs(sweep: Sweep, found: YamlFile) -> Iterator[Run]:
    models = [_model(entry, at, found) for at, entry in enumerate(sweep.models)]
    suites = [_suite(entry, at, found) for at, entry in enumerate(sweep.suites)]
    for model in models:
        for at, suite in enumerate(suites):
            for number, settings in enumerate(sweep.settings):
                given = dict([*model.given, *suite, *sweep.common.items(), *settings.items()])
                where = f"{model.name} with suites.{at} and settings.{number}"
                yield Run(where, model, list(given.items()), _config(list(given.items()), f"{found.path}: {where}"))


def _config(given: Given, where: str) -> RunConfig:
    """Returns the checked config of a run; data and weights are not looked for."""
    try:
        config = run_config(given, needs_model=True)
        check_backend_args(config.model)
        for spec in chosen_tasks(config):
            named_languages(spec, config.task)
    except UserError as e:
        raise UserError(f"{where}: {e.message}", e.hint) from None
    return config


def _shares(sweep: Sweep, runs: list[Run]) -> Iterator[Job]:
    entry = runs[0].model.entry
    shares, gpus = entry.get("shares") or sweep.shares, entry.get("gpus")
    for share in range(1, shares + 1):
        given = [dict(run.given) for run in runs]
        yield Job(runs[0].job, given, share, shares, sweep.gpus if gpus is None else gpus, entry.get("server"))


def _model(entry: str | dict[str, Any], at: int, found: YamlFile) -> Model:
    place = f"{found.path}, line {found.line(('models', at))}: models.{at}"
    if isinstance(entry, str):
        entry = {"file": entry}
    else:
        _check_entry(ModelEntry, entry, ("models", at), found)
    own = {name: entry[name] for name in OWN if name in entry}
    given = {name: value for name, value in entry.items() if name not in OWN}
    check_gpus(own.get("gpus") or 0, f"{place}.gpus")
    settings = read_file(here_or_shipped(user_path(own["file"])), "model") if "file" in own else Given()
    base = settings or [("model.model_name", given.get("model_name"))]
    if own.get("server"):
        base = [*base, ("model.api.base_url", SERVED)]
        settings = [*settings, ("model.api.base_url", SERVED)]
    settings = [*settings, *flat(given, "model")]
    if not dict(settings).get("model.model_name"):
        raise UserError(f"{place} has no model_name", "add it, or file: and the path of a model file")
    config = run_config(base, needs_model=True, needs_task=False)
    return Model(at, _slug(Path(own.get("file") or str(config.model.model_name)).stem), config.model, settings, own)


def _suite(entry: str | dict[str, Any], at: int, found: YamlFile) -> Given:
    if isinstance(entry, str):
        return read_file(here_or_shipped(user_path(entry)), "task")
    _check_entry(TaskFile, entry, ("suites", at), found)
    return flat(entry, "task")


def _check_entry(kind: type, entry: dict[str, Any], at: Place, found: YamlFile) -> None:
    validated(kind, entry, str(found.path), line=lambda place: found.line((*at, *place)))


def _check_options(options: dict[str, Any], found: YamlFile, key: str) -> None:
    """Rejects options that a run does not have, and `run_dir`: the sweep chooses it."""
    known = [option.name for option in options_of(RunConfig)]
    place: Place = tuple(int(step) if step.isdigit() else step for step in key.split("."))
    for name in options:
        where = f"{found.path}, line {found.line((*place, name))}: {key}"
        if name == "run_dir":
            raise UserError(f"{where}: run_dir is not supported in a sweep", "remove it; folder: is for all runs")
        if name not in known and not name.startswith(tuple(OPEN_MAPS)):
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            near = near or [each for each in known if each.rpartition(".")[2] == name]
            hint = f"did you mean {near[0]}?" if near else "see afrieval run --help"
            raise UserError(f"{where}: unknown option {name!r}", hint)


def _check_folders(runs: list[Run], path: Path) -> None:
    """Rejects two runs that would have the same folder."""
    seen: dict[tuple[Path, str | None], Run] = {}
    for run in runs:
        folder = default_folder(run.config, Plan([])), run.config.task.answer_form
        other = seen.setdefault(folder, run)
        if other is run:
            continue
        if other.config.model == run.config.model and other.model.at != run.model.at:
            message = f"models.{run.model.at} is the same model as models.{other.model.at}"
            raise UserError(f"{path}: {message}", "remove one of them")
        message = f"{other.where}, and {run.where}, would have the same run folder"
        raise UserError(f"{path}: {message}", "change more of their settings, or run them in different sweeps")


def _word(name: str, value: Any) -> str:
    """Returns a setting as a part of a name."""
    if isinstance(value, str) and len(value) <= LONGEST:
        return _slug(value)
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return name if value is True else f"{name}{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def _slug(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "model"
