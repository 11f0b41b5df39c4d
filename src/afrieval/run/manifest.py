"""What run.yaml says of a run: its identity, and the circumstances in which it was made."""

import hashlib
import importlib.metadata
import json
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import reduce
from typing import Any

from afrieval.config.settings import DEMO, RunConfig
from afrieval.files.paths import user_path
from afrieval.models.load import model_settings
from afrieval.resources import CHECKOUT
from afrieval.results.identity import merged
from afrieval.tasks.cell import Plan, RunPart

PACKAGES = ("afrieval", "lm-eval", "transformers", "torch", "accelerate", "datasets")
# Settings of the model that change how it is run and not what it is.
FREE = ("device", "parallelize", "engine", "languages_supported", "trust_remote_code")


def identity(config: RunConfig, plan: Plan) -> dict[str, Any]:
    """Returns everything that touches prompt, data, shots or model, as nested maps.

    A folder may hold more cells later, and a larger limit; what is named here must stay.
    """
    model = {k: v for k, v in asdict(config.model).items() if k not in FREE}
    model["backend_args"] = json.dumps(config.model.backend_args, sort_keys=True)
    model |= _local(str(config.model.model_name))
    of_cells: RunPart = reduce(merged, (cell.identity for cell in plan.cells), {})
    return {"model": model, "variant": config.task.variant, **of_cells}


def record(stored: Mapping[str, Any], plan: Plan, described: dict[str, Any], visit: dict[str, Any]) -> dict[str, Any]:
    """Returns what run.yaml says from now on.

    Args:
        stored: what it says now.
        plan: what is run.
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
        "visits": [*stored.get("visits", []), visit],
    }


def _local(name: str) -> dict[str, str]:
    """Returns what tells a local model folder from the same folder with other weights, without loading them."""
    folder = user_path(name)
    if name == DEMO or not folder.is_dir():
        return {}
    files = sorted(p for p in folder.iterdir() if p.suffix in (".json", ".safetensors", ".bin", ".model"))
    stamp = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in files]
    digest = hashlib.sha256(json.dumps(stamp).encode()).hexdigest()[:16]
    return {"model_name": str(folder.resolve()), "size_and_time_of_files": digest}


def circumstances(config: RunConfig, plan: Plan, lm: Any, processes: int) -> dict[str, Any]:
    """Returns what may differ between two visits to a folder, as a map.

    Args:
        config: the merged config.
        plan: what was planned.
        lm: the loaded model.
        processes: how many shared the work.
    """
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": str(getattr(lm, "device", "")),
        "dtype": str(getattr(lm.model, "dtype", config.model.dtype)),
        "processes": processes,
        "engine": getattr(lm, "engine", None),
        "batch_size": lm.batch_size,
        "max_length": lm.max_length,
        "model_commit": getattr(model_settings(lm), "_commit_hash", None),
        "data_commits": {hub: known for cell in plan.cells for hub, known in cell.commits.items()},
        "left_out": plan.left_out,
        "versions": {name: _version(name) for name in PACKAGES} | {"python": platform.python_version()},
        "git_commit": _git_commit(),
        "config": asdict(config),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git_commit() -> str | None:
    if CHECKOUT is None:  # an environment may lie in the checkout of something else
        return None
    try:
        out = subprocess.run(["git", "rev-parse", "HEAD"], cwd=CHECKOUT, capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return out.stdout.strip() or None
