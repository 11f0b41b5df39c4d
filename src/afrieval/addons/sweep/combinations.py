"""From a sweep file to its jobs: every model with every suite under every settings, checked before any is started."""

import difflib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval._util.schema import KeyPath
from afrieval._util.stamps import digest
from afrieval._util.yaml_files import YamlFile
from afrieval.addons.sweep.sweep_file import SweepFile, SweptModel, folder_of, model_entry, read_sweep, suite_entry
from afrieval.config.files import parse, run_config
from afrieval.config.options import map_of, options_of
from afrieval.config.settings import RunConfig
from afrieval.run.manifest import default_folder
from afrieval.tools.jobs.jobs import Job, slug
from afrieval.tools.jobs.start import checked_config

LONGEST = 40  # characters of a setting in the name of a job


class SweepRun(NamedTuple):
    """A run: one model, one suite, one map of settings.

    Attributes:
        where: what it is a combination of, for messages.
    """

    where: str
    model: SweptModel
    options: dict[str, Any]
    config: RunConfig

    @property
    def job(self) -> str:
        """The name of its model and of all settings of the model that the model's file does not have."""
        before, words = asdict(self.model.base), [self.model.name]
        for name, value in asdict(self.config.model).items():
            if value == before[name]:
                continue
            if isinstance(value, str) and len(value) <= LONGEST:
                words.append(slug(value))
            else:
                words.append(name if value is True else f"{name}{digest(json.dumps(value, sort_keys=True), 6)}")
        return "-".join(words)


def jobs_of(sweep: SweepFile, file: YamlFile) -> list[Job]:
    """Returns the jobs of a sweep, in the order of its file.

    Raises:
        UserError: naming file and key of the first value that is not allowed.
    """
    for key, options in [("common", sweep.common), *((f"settings.{n}", of) for n, of in enumerate(sweep.settings))]:
        _check_options(options, file, key)
    models = [model_entry(entry, at, file) for at, entry in enumerate(sweep.models)]
    suites = [suite_entry(entry, at, file) for at, entry in enumerate(sweep.suites)]
    checked, runs = list[RunConfig](), list[SweepRun]()
    for model in models:
        for suite_index, suite in enumerate(suites):
            for number, settings in enumerate(sweep.settings):
                options = model.options | suite | sweep.common | settings
                where = f"{model.name} with suites.{suite_index} and settings.{number}"
                config = checked_config(options, f"{file.path}: {where}", checked)
                runs.append(SweepRun(where, model, options, config))
    _check_folders(runs, file.path)
    of_jobs = grouped(runs, lambda run: run.job)
    return [job for of_job in of_jobs.values() for job in _shares(sweep, file.path, of_job)]


def _shares(sweep: SweepFile, path: Path, runs: list[SweepRun]) -> Iterator[Job]:
    first, *others = runs
    if other := next((run for run in others if run.config.model != first.config.model), None):
        both = f"models.{first.model.position} and models.{other.model.position}"
        message = f"{both} are different models with the name {first.job}"
        raise UserError(f"{path}: {message}", "give one of them a model file with another name")
    entry, options = first.model.entry, [run.options for run in runs]
    shares, gpus = entry.shares or sweep.shares, sweep.gpus if entry.gpus is None else entry.gpus
    if shares > 1 and any(run.config.eval.until is not None for run in runs):
        raise UserError(f"{path}: eval.until is given, but {shares} jobs share each run", "leave shares out")
    for share in range(1, shares + 1):
        yield Job(first.job, options, share, shares, gpus)


def _check_options(options: dict[str, Any], file: YamlFile, key: str) -> None:
    """Rejects options that a run does not have, values of other types, and `run_dir`: the sweep chooses it."""
    known_options = {option.name: option for option in options_of(RunConfig)}
    keys: KeyPath = tuple(int(step) if step.isdigit() else step for step in key.split("."))
    for name, value in options.items():
        where = f"{file.path}, line {file.line((*keys, name))}: {key}"
        if name == "run_dir":
            raise UserError(f"{where}: run_dir is not supported in a sweep", "remove it; folder: is for all runs")
        if name in known_options:
            try:
                parse(RunConfig, {name: value})
            except UserError as e:
                raise UserError(f"{where}: {e.message.removeprefix('--')}", e.hint) from None
        elif not map_of(name, known_options):
            near = difflib.get_close_matches(name, known_options, n=1, cutoff=0.5)
            near = near or [each for each in known_options if each.rpartition(".")[2] == name]
            hint = f"did you mean {near[0]}?" if near else "see afrieval run --help"
            raise UserError(f"{where}: unknown option {name!r}", hint)


def _check_folders(runs: list[SweepRun], path: Path) -> None:
    seen: dict[Path, SweepRun] = {}
    for run in runs:
        form = run.config.task.answer_form or ("own" if run.config.task.names else "")  # the same for all of them
        folder = default_folder(run.config, form=form)
        other = seen.setdefault(folder, run)
        if other is run:
            continue
        if other.config.model == run.config.model and other.model.position != run.model.position:
            message = f"models.{run.model.position} is the same model as models.{other.model.position}"
            raise UserError(f"{path}: {message}", "remove one of them")
        message = f"{other.where}, and {run.where}, would have the same run folder"
        raise UserError(f"{path}: {message}", "change more of their settings, or run them in different sweeps")


def configs_of(path: Path) -> tuple[list[RunConfig], str]:
    """Returns the configs of all runs of a sweep file, and the name of its executor."""
    sweep, file = read_sweep(path)
    runs = [run for job in jobs_of(sweep, file) if job.share == 1 for run in job.runs]
    folder = {"run_dir": str(folder_of(sweep))}
    return [run_config(run | folder, needs_model=True) for run in runs], sweep.executor
