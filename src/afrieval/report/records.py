"""What runs were made with, as tables: settings, versions, and hashes of prompts and data."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from afrieval.report.table import Column, Table
from afrieval.results.runs import SETTINGS
from afrieval.results.schema import RunRecord

Records = Sequence[tuple[str, RunRecord]]  # each with its place


def record_tables(records: Records) -> list[Table]:
    """Returns the settings and versions of all runs, and the hashes of what was asked; none without a run."""
    return [_settings(records), _hashes(records)] if records else []


def _settings(records: Records) -> Table:
    rows = [[place, name, str(value)] for place, record in records for name, value in _settings_of(record)]
    columns = [Column("run"), Column("setting", "name"), Column("value")]
    return Table("settings", "Settings and versions", columns, rows, ["As of the last visit of each run."])


def _settings_of(record: RunRecord) -> list[tuple[str, Any]]:
    identity, visits = record["identity"], record.get("visits", [])
    model: Mapping[str, Any] = identity["model"]
    visit: Mapping[str, Any] = visits[-1] if visits else {}
    versions: Any = visit.get("versions") or {}
    name = str(model["model_name"])
    short = Path(name).name if name.startswith(("/", ".", "~")) else name  # pages are published; home folders are not
    found = [*model.items(), ("model_name", short), ("variant", identity.get("variant")), *_of(identity.get("fewshot"))]
    found += [("date", visit.get("date")), *((name, visit.get(name)) for name in SETTINGS if name != "versions")]
    found += [(f"version of {name}", version) for name, version in versions.items()]
    return [(name, value) for name, value in dict(found).items() if value not in (None, "", {}, "{}")]


def _of(settings: Any) -> list[tuple[str, Any]]:
    return list(settings.items()) if isinstance(settings, Mapping) else []


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
