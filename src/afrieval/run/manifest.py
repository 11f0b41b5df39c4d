"""The content of run.yaml, and the default folder of a run."""

import importlib.metadata
import json
import platform
import re
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import Any

from afrieval._util.files import user_path
from afrieval._util.resources import CHECKOUT
from afrieval._util.stamps import digest, now
from afrieval.config.settings import EvalConfig, ModelConfig, RunConfig
from afrieval.models import model_identity as of_model
from afrieval.models.base import LanguageModel
from afrieval.models.credentials import without_secrets
from afrieval.models.model_identity import telling_api, telling_args
from afrieval.results.identity import merged
from afrieval.results.run_files import ANSWERS
from afrieval.tasks.cells.cell import Plan, RunPart
from afrieval.tasks.declaration.meta import END, llama

PACKAGES = ("afrieval", "lm-eval", "transformers", "torch", "accelerate", "datasets")


def identity(config: RunConfig, plan: Plan) -> dict[str, Any]:
    """Returns everything that affects prompts, data, shots or model, as nested maps.

    A folder may get more cells and a larger limit later; its identity must not change.
    """
    of_cells: RunPart = reduce(merged, (cell.identity for cell in plan.cells), {})
    return {"model": _storable(of_model.identity_of_model(config.model)), "variant": config.task.variant, **of_cells}


def record(stored: Mapping[str, Any], plan: Plan, described: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """Returns the new content of run.yaml."""
    facts: RunPart = reduce(merged, (cell.facts for cell in plan.cells), {})
    groups = stored.get("harness_groups", {}) | plan.groups
    return {
        "identity": merged(stored.get("identity", {}), described),
        "fewshot_ids": {**stored.get("fewshot_ids", {}), **facts.get("fewshot_ids", {})},
        **({"harness_groups": groups} if groups else {}),
        "declared": merged(stored.get("declared", {}), facts.get("declared", {})),
        "cells": sorted({*stored.get("cells", []), *(cell.name for cell in plan.cells)}),
        **({"suite": suite} if (suite := suite_of(entry["config"]["task"]) or stored.get("suite")) else {}),
        "visits": [*stored.get("visits", []), entry],
        **({"rescored": stored["rescored"]} if "rescored" in stored else {}),
    }


def answer_path(folder: Path, model: dict[str, Any]) -> Path:
    """Returns the file of a model's answers; each model and its settings have a separate one."""
    return folder / ANSWERS.replace("*", digest(json.dumps(model, sort_keys=True)))


def suite_of(task: Mapping[str, Any]) -> RunPart:
    """Returns the name, groups and derived metrics of the suite that a config names; empty without one."""
    names = [task["task_name"]] if isinstance(task["task_name"], str) else task["task_name"] or []
    groups = task["groups"] or {name: [name] for name in names}
    derived = {"derived": task["derived"]} if task["derived"] else {}
    return {"name": task["suite"], "groups": groups, **derived} if task["suite"] else {}


def circumstances(config: RunConfig, plan: Plan, lm: LanguageModel, processes: int) -> dict[str, Any]:
    """Returns everything that may differ between two sessions of a run, as a map."""
    return {
        "date": now(),
        **of_model.facts(config.model, lm),
        "processes": processes,
        "data_commits": {hub: known for cell in plan.cells for hub, known in cell.commits.items()},
        "left_out": plan.left_out,
        **software(),
        "config": _storable({**asdict(config), "model": of_model.stored(config.model)}),
    }


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


def default_folder(config: RunConfig, planned: Plan) -> Path:
    """Returns runs/<task>/<model>/<settings>, with the settings that need separate folders."""
    places = [cell.coordinates for cell in planned.cells]
    forms = [place.answer_form for place in places if place.answer_form]
    return folder_of_form(config, forms[0] if forms else "", any(place.shots for place in places))


def folder_of_form(config: RunConfig, form: str, shots: bool) -> Path:
    """Returns the folder of a run of which not all is known.

    Args:
        config: its settings.
        form: the answer form of its first task; empty for harness tasks alone.
        shots: whether a task has examples that no setting asks for.
    """
    model, evaluation = config.model, config.eval
    settings = [form] if form else []
    if config.task.suite:  # whose tasks have different ones, and which may be run task by task
        settings = [config.task.answer_form or "own-forms"]
    given = evaluation.num_fewshot is not None or settings
    selection = [evaluation.fewshot_selection.replace("_", "-")] if evaluation.shots and settings else []
    settings += [f"{evaluation.shots}shot" if given else "own-shots", *selection]
    if evaluation.shots or shots:
        settings += [f"seed{evaluation.fewshot_random_seed}"]
    other_seed = [f"of-seed{seed}"] if (seed := evaluation.random_seed) != EvalConfig.random_seed else []
    settings += [] if evaluation.sample is None else ["sample", *other_seed]  # its size may grow
    settings += ["paper"] if config.task.prompt_set == "paper" else []
    settings += ["uncleaned"] if config.task.uncleaned else []
    settings += [name if on else f"no-{name}" for name, on in sorted(config.task.extract.items())]
    settings += [re.sub(r"[^\w.-]+", "-", value) for _, value in sorted(config.task.options.items())]
    settings += [f"unseen{_short_hash(config.task.unseen)}"] if config.task.unseen else []
    settings += ["translate"] if config.task.variant == "translate" else []
    settings += [f"max{evaluation.max_gen_toks}"] if evaluation.max_gen_toks else []
    settings += ["clean"] if config.task.clean_prompts and config.wants_harness else []
    settings += [model.model_type] if model.model_type != ModelConfig.model_type else []
    settings += ["chat"] if model.chat_template else []
    settings += ["tags" + _short_hash(json.dumps(asdict(model.chat_tags)))] if model.has_chat_tags else []
    settings += ["system" + _short_hash(model.chat_system)] if model.chat_system else []
    settings += [model.chat_date.replace(" ", "-")] if model.chat_date else []
    settings += ["thinks"] if model.thinks else []
    settings += [model.dtype] if model.dtype != "auto" else []
    if (args := telling_args(model)) != "{}":
        settings.append("args" + _short_hash(args))
    if (api := telling_api(model)) != telling_api(ModelConfig(model_type=model.model_type)):
        settings.append("api" + _short_hash(json.dumps(without_secrets(api), sort_keys=True)))
    settings += [name] if (name := _other_evals(config)) else []
    settings += ["samples"] if config.data.source == "samples" else []
    name = str(model.model_name)
    name = folder.resolve().name if (folder := user_path(name)).is_dir() else name.replace("/", "__")
    revision = "" if model.revision == "main" else f"@{model.revision.replace('/', '__')}"
    return Path("runs") / _task_folder(config) / f"{name}{revision}" / "-".join(settings)


def _other_evals(config: RunConfig) -> str:
    """Returns the model whose evaluation data set is used, if it is not the evaluated one."""
    evals = llama(str(config.task.evals_dataset).removesuffix(END))
    return evals.name if evals and evals != llama(config.model.model_name) else ""


def _task_folder(config: RunConfig) -> str:
    """Returns the suite's name, or the tasks' names, shortened if long; templates are without languages."""
    if config.task.suite:
        return re.sub(r"[^\w.()-]+", "-", config.task.suite)
    template = re.sub(r"{{.*?}}", "LANG", config.task.task_template or "")
    names = [
        *config.task_names,
        *(config.task.of or []),
        *(n.strip() for n in template.split(",") if n.strip()),
        *config.harness_names,
    ]
    joined = "+".join(re.sub(r"[^\w.()-]+", "-", name) for name in names)
    return joined if len(joined) <= 100 else f"{joined[:80]}-{_short_hash(joined)}"


def _short_hash(text: str) -> str:
    return digest(text, 6)
