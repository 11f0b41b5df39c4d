"""Collects settings, versions and hashes of runs, and finds what differs between runs."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util.grouping import grouped
from afrieval.config.settings import DataConfig, RunConfig
from afrieval.config.short_form import DAILY
from afrieval.models.model_identity import is_path
from afrieval.report.columns import Column
from afrieval.report.table import Table
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import SETTINGS
from afrieval.results.run_files import read_run
from afrieval.results.schema import RunRecord, Visit
from afrieval.tasks.data.files import SAMPLES

# Of a session, and not a setting.
OFTEN_DIFFERENT = ("date", "config", "first_tokens", "left_out", "data_commits", "work")
COMPARED = ("What the run is", "Last visit", "Settings")  # parts that differences are of


SettingPath = tuple[str, ...]


class RunSettings(NamedTuple):
    """What run.yaml says of a run, in parts; for other programs' runs, what their files say.

    Attributes:
        parts: heading to nested maps; a page folds all but the first.
    """

    name: str
    model: str
    parts: dict[str, Mapping[str, Any]]


def run_settings(cells: Iterable[CellScores]) -> list[RunSettings]:
    """Returns the settings of the runs that cells are of, in their order.

    Raises:
        UserError: if a run.yaml cannot be read.
    """
    runs = []
    for folder, (first, *_) in grouped((c for c in cells if c.path), lambda c: Path(str(c.path)).parent).items():
        is_ours = (folder / "run.yaml").exists()
        parts = _parts(dict(read_run(folder))) if is_ours else {"Settings": dict(first.recorded_settings)}
        runs.append(RunSettings(str(folder), first.model, {name: part for name, part in parts.items() if part}))
    return runs


def _parts(record: dict[str, Any]) -> dict[str, Any]:
    """Returns the parts of run.yaml; of the visits, all settings of the last one, and each one's circumstances."""
    visits = [dict(visit) for visit in record.get("visits", [])]
    last = visits[-1] if visits else {}
    return {
        "What the run is": record.get("identity", {}),
        "Last visit": {name: value for name, value in last.items() if name != "config"},
        "Options of the last visit": last.get("config", {}),
        "Answers scored again": {str(at): again for at, again in enumerate(record.get("rescored", []), 1)},
        "Earlier visits": {str(at): visit for at, visit in enumerate(visits[:-1], 1)},
        "What its tasks declare": record.get("declared", {}),
        "Few-shot rows": record.get("fewshot_ids", {}),
        "Suite": record.get("suite") or {},
        "Groups of the harness": record.get("harness_groups", {}),
        "Cells": {"cells": record.get("cells", [])},
    }


def start_of(part: str) -> SettingPath:
    """Returns where the paths of a part begin; settings of other programs compare with what our runs are."""
    return () if part in COMPARED else (part,)


def differing(runs: Sequence[RunSettings]) -> set[SettingPath]:
    """Returns the paths of settings in which runs differ, and all paths above them."""
    values: dict[SettingPath, set[str]] = {}
    for run in runs:
        for name, part in run.parts.items():
            for path, value in _leaves(part, start_of(name)):
                if value != {}:
                    values.setdefault(path, set()).add(shown(value))
    ends = [path for path, different in values.items() if len(different) > 1]
    return {path[:n] for path in ends for n in range(1, len(path) + 1)}


def differences(runs: Sequence[RunSettings]) -> list[Table]:
    """Returns a table of what differs between runs, a column for each; empty for a single run or equal ones."""
    paths, by_run = differing(runs), dict[str, dict[str, str]]()
    for run in runs:
        leaves = [leaf for name in COMPARED for leaf in _leaves(run.parts.get(name, {}), ())]
        by_run[run.name] = {
            ".".join(path): "none" if value == {} else shown(value)
            for path, value in leaves
            if path in paths and path[0] not in OFTEN_DIFFERENT
        }
    names = list(dict.fromkeys(name for settings in by_run.values() for name in settings))
    if not names:
        return []
    columns = [Column("setting"), *(Column(Path(run).name, "text", run) for run in by_run)]
    rows = [[name, *(settings.get(name, "") for settings in by_run.values())] for name in names]
    notes = ["Columns are named after run folders. Settings that a run does not have are blank."]
    return [Table("settings", "What differs between runs", columns, rows, notes)]


def _leaves(value: Any, path: SettingPath) -> Iterator[tuple[SettingPath, Any]]:
    """Yields the settings in nested maps with their paths; an empty map is one, too."""
    if isinstance(value, Mapping) and value:
        for name, part in value.items():
            yield from _leaves(part, (*path, str(name)))
    else:
        yield path, value


def shown(value: Any) -> str:
    """Returns a setting as people read it."""
    if isinstance(value, list):
        return ", ".join(map(shown, value)) or "none"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {shown(part)}" for name, part in value.items())
    if value is None or isinstance(value, bool):
        return "not given" if value is None else str(value).lower()
    return str(value)


Records = Sequence[tuple[str, RunRecord]]  # each with its place
Settings = Sequence[tuple[str, Mapping[str, object]]]


def record_tables(records: Records, others: Settings) -> list[Table]:
    """Returns the settings and versions of all runs, and the hashes of what was asked; none without a run."""
    settings = []
    for name, record in records:
        identity, visit = record["identity"], dict((record.get("visits") or [Visit()])[-1])
        model: Mapping[str, Any] = identity["model"]
        recorded = {**model, "model_name": _published_name(model["model_name"]), "variant": identity.get("variant")}
        of_visit = {setting: visit.get(setting) for setting in ("date", *SETTINGS)}
        settings.append((name, _named({**recorded, **_of(identity.get("fewshot")), **of_visit})))
    settings += [(place, _named(known)) for place, known in others]
    rows = [[place, name, str(value)] for place, known in settings for name, value in known.items()]
    columns = [Column("run"), Column("setting", "name"), Column("value")]
    notes = ["As of the last visit of each run."]
    tables = [Table("settings", "Settings and versions", columns, rows, notes)] if settings else []
    if not records:
        return tables
    commands = [[name, command_of(record)] for name, record in records if _config_of(record)]
    notes = ["A run also needs the version of afrieval, the model and the data whose versions and hashes are below."]
    again = [Table("commands", "Run it again", [Column("run"), Column("command")], commands, notes)]
    columns = [Column("run"), Column("task"), Column("version", "count"), Column("what"), Column("of"), Column("hash")]
    hashes: list[list[Any]] = []
    for run, record in records:
        for task, described in record["identity"].get("tasks", {}).items():
            start = [run, task, described["version"]]
            for code, prompts in described["prompts"].items():
                hashes += [[*start, "prompt", f"{code} {number}", value] for number, value in prompts.items()]
            for code, splits in described["data"].items():
                hashes += [[*start, "data", f"{code} {split}", value] for split, value in splits.items()]
    return [*(again if commands else []), *tables, Table("hashes", "Prompts and data", columns, hashes)]


# Settings that change neither scores nor what is compared.
_NOT_ASKED = (
    *("run_dir", "log", "reference", "model.device", "model.parallelize", "model.languages_supported", "model.engine"),
    *("eval.batch_size", "eval.max_batch_size", "eval.use_cache", "eval.log_samples", "eval.write_out"),
    *("eval.split_tasks", "task.wandb_project", "task.wandb_job_type", "task.groups", "task.derived"),
    *("task.suite", "task.task_name"),  # named without an option
    *(f"model.api.{name}" for name in ("server", "max_cost", "max_requests", "max_concurrency", "timeout")),
    *("model.api.max_retries", "model.api.prices"),
)

_SHORT = {of: name for name, of in DAILY.items()}


def command_of(record: RunRecord) -> str:
    """Returns the command that makes a run anew, for a shell; model and data in folders have the folder's name."""
    config = _config_of(record)
    usual, set_ = (
        {".".join(path): value for path, value in _leaves(settings, ()) if value != {}}
        for settings in (asdict(RunConfig(data=DataConfig("hub"))), config)
    )
    changed = {name: value for name, value in set_.items() if value != usual.get(name)}
    task = _of(config.get("task"))
    names = task.get("suite") or task.get("task_name") or []
    words = ["afrieval", "run", _published_name(changed.pop("model.model_name", "MODEL"))]
    words += [",".join([names] if isinstance(names, str) else names)] if names else []
    for name, value in changed.items():
        skipped = any(name == part or name.startswith(f"{part}.") for part in _NOT_ASKED)
        if not skipped and (name != "data.source" or value == SAMPLES):  # a folder is a mirror of the hub
            single = _published_name(value) if isinstance(value, str) else json.dumps(value)
            word = ",".join(map(_published_name, value)) if isinstance(value, list) else single
            words += [f"--{_SHORT.get(name, name)}", word]
    return shlex.join(words)


def _config_of(record: RunRecord) -> Mapping[str, Any]:
    visits = record.get("visits") or [Visit()]
    return _of(visits[-1].get("config"))


def _published_name(name: Any) -> str:
    """Returns a name, or the last part of a path: pages are published, and home folders are not."""
    return Path(name).name if is_path(str(name)) else str(name)


def _named(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings that are given, and each version as one."""
    versions = {f"version of {name}": value for name, value in _of(settings.get("versions")).items()}
    single = {name: value for name, value in settings.items() if name != "versions"}
    return {name: value for name, value in (single | versions).items() if value not in (None, "", {}, "{}")}


def _of(settings: Any) -> Mapping[str, Any]:
    return settings if isinstance(settings, Mapping) else {}
