"""What runs were made with, as tables: settings, versions, and hashes of prompts and data."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from afrieval.report.table import Column, Table
from afrieval.results.runs import SETTINGS
from afrieval.results.schema import RunRecord

Records = Sequence[tuple[str, RunRecord]]  # each with its place
Settings = Sequence[tuple[str, Mapping[str, object]]]


def record_tables(records: Records, others: Settings) -> list[Table]:
    """Returns the settings and versions of all runs, and the hashes of what was asked; none without a run.

    Args:
        records: of our runs.
        others: what is known of other programs' runs.
    """
    settings = [(place, dict(_settings_of(record))) for place, record in records]
    settings += [(place, dict(_named(known))) for place, known in others]
    found = [_settings(settings)] if settings else []
    return [*found, _hashes(records)] if records else found


def _settings(settings: Settings) -> Table:
    rows = [[place, name, str(value)] for place, known in settings for name, value in known.items()]
    columns = [Column("run"), Column("setting", "name"), Column("value")]
    return Table("settings", "Settings and versions", columns, rows, ["As of the last visit of each run."])


def _settings_of(record: RunRecord) -> list[tuple[str, Any]]:
    identity, visits = record["identity"], record.get("visits", [])
    model: Mapping[str, Any] = identity["model"]
    visit: Mapping[str, Any] = visits[-1] if visits else {}
    name = str(model["model_name"])
    short = Path(name).name if name.startswith(("/", ".", "~")) else name  # pages are published; home folders are not
    found = {**model, "model_name": short, "variant": identity.get("variant"), **_of(identity.get("fewshot"))}
    return _named({**found, **{name: visit.get(name) for name in ("date", *SETTINGS)}})


def _named(settings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Returns settings that are given, and each version as one."""
    versions = [(f"version of {name}", value) for name, value in _of(settings.get("versions")).items()]
    found = [(name, value) for name, value in settings.items() if name != "versions"]
    return [(name, value) for name, value in [*found, *versions] if value not in (None, "", {}, "{}")]


def _of(settings: Any) -> Mapping[str, Any]:
    return settings if isinstance(settings, Mapping) else {}


def _hashes(records: Records) -> Table:
    columns = [Column("run"), Column("task"), Column("version", "count"), Column("what"), Column("of"), Column("hash")]
    rows = []
    for place, record in records:
        for task, known in record["identity"].get("tasks", {}).items():
            start = [place, task, known["version"]]
            for code, prompts in known["prompts"].items():
                rows += [[*start, "prompt", f"{code} {number}", value] for number, value in prompts.items()]
            for code, splits in known["data"].items():
                rows += [[*start, "data", f"{code} {split}", value] for split, value in splits.items()]
    return Table("hashes", "Prompts and data", columns, rows)
