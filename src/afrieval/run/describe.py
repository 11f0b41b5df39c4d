"""What run.yaml says of a run: its identity, and the circumstances in which it was made."""

import hashlib
import importlib.metadata
import json
import platform
import subprocess
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from afrieval.config import DEMO, RunConfig
from afrieval.run.plan import Cell, Plan

PACKAGES = ("afrieval", "lm-eval", "transformers", "torch", "accelerate", "datasets")
# Settings of the model that change how it is run and not what it is.
FREE = ("device", "parallelize", "engine", "languages_supported", "trust_remote_code")


def identity(config: RunConfig, cells: list[Cell]) -> dict[str, Any]:
    """Returns everything that touches prompt, data, shots or model, as nested maps.

    A folder may hold more cells later, and a larger limit; what is named here must stay.
    """
    model = {k: v for k, v in asdict(config.model).items() if k not in FREE}
    model["backend_args"] = json.dumps(config.model.backend_args, sort_keys=True)
    model |= _local(str(config.model.model_name))
    evaluation = config.eval
    fewshot = {
        "num_fewshot": evaluation.num_fewshot,
        "selection": evaluation.fewshot_selection,
        "seed": evaluation.fewshot_random_seed,
    }
    tasks: dict[str, Any] = {}
    for cell in cells:
        task = tasks.setdefault(
            cell.task.name,
            {
                "version": cell.task.version,
                "declaration": cell.task.declaration,
                "answer_form": cell.answer_form,
                "prompts": {},
                "data": {},
            },
        )
        prompts = task["prompts"].setdefault(cell.prompt.language, {})
        prompts[cell.prompt.number] = cell.prompt.hash
        task["data"][cell.language] = _data(cell)
    return {"model": model, "variant": config.task.variant, "fewshot": fewshot, "tasks": tasks}


def _local(name: str) -> dict[str, str]:
    """Returns what tells a local model folder from the same folder with other weights, without loading them."""
    folder = Path(name).expanduser()
    if name == DEMO or not folder.is_dir():
        return {}
    files = sorted(p for p in folder.iterdir() if p.suffix in (".json", ".safetensors", ".bin", ".model"))
    stamp = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in files]
    digest = hashlib.sha256(json.dumps(stamp).encode()).hexdigest()[:16]
    return {"model_name": str(folder.resolve()), "size_and_time_of_files": digest}


def _data(cell: Cell) -> dict[str, str]:
    data = {cell.task.data.evaluate: cell.data.sha256}
    if cell.pool is not None and cell.task.data.fewshot is not None:
        data[cell.task.data.fewshot] = cell.pool.sha256
    return data


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
        "device": str(lm.device),
        "dtype": str(lm.model.dtype),
        "processes": processes,
        "batch_size": lm.batch_size,
        "max_length": lm.max_length,
        "model_commit": getattr(lm.config, "_commit_hash", None),
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
    try:
        out = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return out.stdout.strip() or None
