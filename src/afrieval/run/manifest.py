"""The content of run.yaml: a run's identity, and the circumstances of each visit."""

import hashlib
import importlib.metadata
import json
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any

from afrieval.config.settings import RunConfig
from afrieval.models import identity as of_model
from afrieval.resources import CHECKOUT
from afrieval.results.files import ANSWERS
from afrieval.results.identity import merged
from afrieval.tasks.cell import Plan, RunPart

PACKAGES = ("afrieval", "lm-eval", "transformers", "torch", "accelerate", "datasets")


def identity(config: RunConfig, plan: Plan) -> dict[str, Any]:
    """Returns everything that affects prompts, data, shots or model, as nested maps.

    A folder may get more cells and a larger limit later; its identity must not change.
    """
    of_cells: RunPart = reduce(merged, (cell.identity for cell in plan.cells), {})
    return {"model": _storable(of_model.identity_of_model(config.model)), "variant": config.task.variant, **of_cells}


def record(stored: Mapping[str, Any], plan: Plan, described: dict[str, Any], visit: dict[str, Any]) -> dict[str, Any]:
    """Returns the new content of run.yaml.

    Args:
        stored: its current content.
        plan: the cells to run.
        described: the run's identity.
        visit: the circumstances.
    """
    facts: RunPart = reduce(merged, (cell.facts for cell in plan.cells), {})
    groups = stored.get("harness_groups", {}) | plan.groups
    return {
        "identity": merged(stored.get("identity", {}), described),
        "fewshot_ids": {**stored.get("fewshot_ids", {}), **facts.get("fewshot_ids", {})},
        **({"harness_groups": groups} if groups else {}),
        "declared": merged(stored.get("declared", {}), facts.get("declared", {})),
        "cells": sorted({*stored.get("cells", []), *(cell.name for cell in plan.cells)}),
        **({"suite": suite} if (suite := suite_of(visit["config"]["task"]) or stored.get("suite")) else {}),
        "visits": [*stored.get("visits", []), visit],
        **({"rescored": stored["rescored"]} if "rescored" in stored else {}),
    }


def answer_path(folder: Path, model: dict[str, Any]) -> Path:
    """Returns the file of a model's answers; each model and its settings have a separate one.

    Args:
        folder: the run folder.
        model: the identity of the model, with its fingerprint.
    """
    digest = hashlib.sha256(json.dumps(model, sort_keys=True).encode()).hexdigest()[:16]
    return folder / ANSWERS.replace("*", digest)


def suite_of(task: Mapping[str, Any]) -> RunPart:
    """Returns the name, groups and derived metrics of the suite that a config names; empty without one."""
    names = [task["task_name"]] if isinstance(task["task_name"], str) else task["task_name"] or []
    groups = task["groups"] or {name: [name] for name in names}
    derived = {"derived": task["derived"]} if task["derived"] else {}
    return {"name": task["suite"], "groups": groups, **derived} if task["suite"] else {}


def circumstances(config: RunConfig, plan: Plan, lm: Any, processes: int) -> dict[str, Any]:
    """Returns everything that may differ between two visits to a folder, as a map.

    Args:
        config: the merged config.
        plan: the cells to run.
        lm: the loaded model.
        processes: number of processes that share the work.
    """
    return {
        "date": now(),
        **of_model.facts(config.model, lm),
        "processes": processes,
        "data_commits": {hub: known for cell in plan.cells for hub, known in cell.commits.items()},
        "left_out": plan.left_out,
        **software(),
        "config": _storable({**asdict(config), "model": of_model.stored(config.model)}),
    }


def now() -> str:
    """Returns the time, as run.yaml has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def software() -> dict[str, Any]:
    """Returns the versions of packages and the commit of a checkout."""
    versions = {name: _version(name) for name in PACKAGES} | {"python": platform.python_version()}
    return {"versions": versions, "git_commit": _git_commit()}


def _storable(value: Any) -> Any:
    r"""Returns nested maps and lists with what is not UTF-8 in their texts, such as a byte of a path, as `\udcff`."""
    if isinstance(value, Mapping):
        return {name: _storable(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(member) for member in value]
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git_commit() -> str | None:
    if CHECKOUT is None:  # an environment may be inside another repository
        return None
    try:
        out = subprocess.run(["git", "rev-parse", "HEAD"], cwd=CHECKOUT, capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return out.stdout.strip() or None
