"""What run.yaml says of a run: its identity, and the circumstances in which it was made."""

import importlib.metadata
import platform
import subprocess
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from afrieval.config.settings import RunConfig
from afrieval.harness.plan import HarnessCell
from afrieval.models.identity import facts, identity_of_model, stored
from afrieval.resources import CHECKOUT
from afrieval.run.plan import Plan
from afrieval.tasks.cell import Cell

PACKAGES = ("afrieval", "lm-eval", "transformers", "torch", "accelerate", "datasets")


def identity(config: RunConfig, plan: Plan) -> dict[str, Any]:
    """Returns everything that touches prompt, data, shots or model, as nested maps.

    A folder may hold more cells later, and a larger limit; what is named here must stay.
    """
    described: dict[str, Any] = {"model": identity_of_model(config.model), "variant": config.task.variant}
    if plan.cells:
        described |= {"fewshot": _fewshot(config), "tasks": _tasks(plan.cells)}
        if any(cell.answer_form == "generate" for cell in plan.cells):
            described["max_gen_toks"] = config.eval.max_gen_toks
    if plan.harness.cells:
        described["harness_tasks"] = {cell.name: _harness_task(config, cell) for cell in plan.harness.cells}
    return described


def _fewshot(config: RunConfig) -> dict[str, Any]:
    evaluation = config.eval
    return {
        "num_fewshot": evaluation.shots,
        "selection": evaluation.fewshot_selection,
        "seed": evaluation.fewshot_random_seed,
    }


def _harness_task(config: RunConfig, cell: HarnessCell) -> dict[str, Any]:
    """Returns what a harness task's scores depend on; its code may draw from any of the generators."""
    seeds = ("fewshot_random_seed", "random_seed", "numpy_random_seed", "torch_random_seed")
    return {
        "version": cell.version,
        "num_fewshot": cell.shots,
        "config": cell.config,
        "data": cell.data,
        "clean_prompts": config.task.clean_prompts,
        **{name: getattr(config.eval, name) for name in seeds},
    }


def _tasks(cells: list[Cell]) -> dict[str, Any]:
    tasks: dict[str, Any] = {}
    for cell in cells:
        task = tasks.setdefault(
            cell.task.name,
            {
                "version": cell.task.version,
                "declaration": cell.task.declaration,
                "answer_form": cell.answer_form,
                **_shots(cell),
                **({"evals": cell.task.data.hub} if cell.task.evals else {}),
                "prompts": {},
                "data": {},
            },
        )
        prompts = task["prompts"].setdefault(cell.prompt.language, {})
        prompts[cell.prompt.number] = cell.prompt.hash
        task["data"][cell.language] = _data(cell)
    return tasks


def _shots(cell: Cell) -> dict[str, str]:
    return {"evaluate": cell.task.data.evaluate, "fewshot": str(cell.task.data.fewshot)} if cell.shots else {}


def _data(cell: Cell) -> dict[str, str]:
    data = {cell.task.data.evaluate: cell.data.sha256}
    if cell.pool is not None:
        data[str(cell.task.data.fewshot)] = cell.pool.sha256
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
        **facts(config.model, lm),
        "processes": processes,
        "data_commits": {hub: known for c in plan.cells for hub, known in c.data.commits.items()},
        "left_out": plan.left_out,
        "versions": {name: _version(name) for name in PACKAGES} | {"python": platform.python_version()},
        "git_commit": _git_commit(),
        "config": {**asdict(config), "model": stored(config.model)},
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
