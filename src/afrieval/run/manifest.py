"""The content of run.yaml, and the default folder of a run."""

import importlib.metadata
import json
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from afrieval._util.files import user_path
from afrieval._util.resources import CHECKOUT
from afrieval._util.stamps import digest, now
from afrieval._util.version import __version__
from afrieval.config.settings import EvalConfig, ModelConfig, RunConfig
from afrieval.models import model_identity as of_model
from afrieval.models.base import LanguageModel
from afrieval.models.credentials import without_secrets
from afrieval.models.folder import local_path
from afrieval.models.model_identity import called, telling_api, telling_args
from afrieval.results.identity import merged
from afrieval.results.run_files import ANSWERS
from afrieval.tasks.cells.cell import Cell, Plan, RunPart
from afrieval.tasks.declaration.schema import PUBLISHERS

PACKAGES = ("lm-eval", "transformers", "torch", "accelerate", "datasets")


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
        **({"looks": looks} if (looks := max(stored.get("looks", 1), entry["config"]["eval"]["looks"])) > 1 else {}),
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


def circumstances(
    settings: Mapping[str, Any], model: ModelConfig, plan: Plan, lm: LanguageModel, processes: int
) -> dict[str, Any]:
    """Returns everything that may differ between two sessions of a run, as a map."""
    return {
        "date": now(),
        **of_model.facts(model, lm),
        "processes": processes,
        "data_commits": {hub: known for cell in plan.cells for hub, known in cell.commits.items()},
        "left_out": plan.left_out,
        **software(),
        "config": storable({**settings, "model": of_model.stored(model)}),
    }


def software() -> dict[str, Any]:
    """Returns the versions of packages and the commit of a checkout."""
    versions: dict[str, str | None] = {"afrieval": __version__}
    for package in PACKAGES:
        versions[package] = None
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {"versions": versions | {"python": platform.python_version()}, "git_commit": _git_commit()}


def storable(value: Any) -> Any:
    r"""Returns nested maps and lists with what is not UTF-8 in their texts, such as a byte of a path, as `\udcff`."""
    if isinstance(value, Mapping):
        return {name: storable(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [storable(member) for member in value]
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def _git_commit() -> str | None:
    if CHECKOUT is None:  # an environment may be inside another repository
        return None
    try:
        out = subprocess.run(["git", "rev-parse", "HEAD"], cwd=CHECKOUT, capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return out.stdout.strip() or None


def default_folder(config: RunConfig, cells: Sequence[Cell] = (), form: str = "") -> Path:
    """Returns runs/<task>/<model>/<settings>, with the settings that need separate folders.

    Args:
        config: the settings.
        cells: the cells of the run, as far as they are planned.
        form: the answer form of its first task; by default that of the cells, which harness tasks lack.
    """
    form = form or next((cell.key.answer_form for cell in cells if cell.key.answer_form), "")
    shots = any(cell.key.shots for cell in cells)  # of tasks with examples that no setting asks for
    model, evaluation, task = config.model, config.eval, config.task
    if task.suite:  # whose tasks have different ones, and which may be run task by task
        form = task.answer_form or "own-forms"
    sampled = evaluation.sample is not None or evaluation.until is not None
    usual, api = telling_api(ModelConfig(model_type=model.model_type)), without_secrets(telling_api(model))
    others = [of.other_model(model.model_name, task.evals_dataset) for _, of in PUBLISHERS.items()]
    # Each word of the name, and when the name has it. Folders of earlier runs are found by these words and their order.
    words: list[tuple[str, object]] = [
        (form, form),
        (f"{evaluation.shots}shot" if evaluation.num_fewshot is not None or form else "own-shots", True),
        (evaluation.fewshot_selection.replace("_", "-"), evaluation.shots and form),
        (f"seed{evaluation.fewshot_random_seed}", evaluation.shots or shots),
        ("sample", sampled),  # without its size, which may grow
        (f"of-seed{evaluation.random_seed}", sampled and evaluation.random_seed != EvalConfig.random_seed),
        ("paper", task.prompt_set == "paper"),
        ("uncleaned", task.uncleaned),
        *((name if on else f"no-{name}", True) for name, on in sorted(task.extract.items())),
        *((re.sub(NOT_PLAIN, "-", value), True) for _, value in sorted(task.options.items())),
        *_words({"unseen": task.unseen}),
        ("translate", task.variant == "translate"),
        (f"max{evaluation.max_gen_toks}", evaluation.max_gen_toks),
        ("clean", task.clean_prompts and config.task.wants_harness),
        (model.model_type, model.model_type != ModelConfig.model_type),
        ("chat", model.chat_template),
        *_words({"tags": asdict(model.chat_tags) if model.has_chat_tags else None, "system": model.chat_system}),
        ((model.chat_date or "").replace(" ", "-"), model.chat_date),
        ("thinks", model.thinks),
        (model.dtype, model.dtype != "auto"),
        *_words(json.loads(telling_args(model))),
        *_words({name: value for name, value in api.items() if value != usual.get(name)}),
        *((other, other) for other in others),
        ("samples", config.data.source == "samples"),
    ]
    of_template = [name.strip() for name in re.sub(r"{{.*?}}", "LANG", task.task_template or "").split(",")]
    names = [*config.task.names, *(task.of or []), *filter(None, of_template), *config.task.harness_names]
    settings = "-".join(word for word, applies in words if applies)
    return Path("runs") / (_plain(task.suite) if task.suite else _joined(names)) / _model_folder(model) / settings


def _model_folder(model: ModelConfig) -> str:
    name = str(model.model_name)
    name = called(str(path.resolve())) if (path := user_path(name)) == local_path(name) else name
    name = re.sub("[/:]", "__", name)  # Windows has no colon in names
    return name if model.revision == "main" else f"{name}@{model.revision.replace('/', '__')}"


def _plain(name: str) -> str:
    return re.sub(r"[^\w.()-]+", "-", name)


def _joined(names: Sequence[str]) -> str:
    """Returns the tasks' names, shortened if long."""
    plain = [_plain(name) for name in names]
    if len(joined := "+".join(plain)) <= 100:
        return joined
    return f"{'+'.join(plain[:3])[:80]}+{len(plain[3:])}-more-{digest(joined, 6)}"


NOT_PLAIN = r"[^\w.-]+"
PLAIN = re.compile(r"[\w.-]{1,24}")
IN_SHORT = {"base_url": "at", "reasoning_effort": "effort", "extra_body": "extra", "pretrained": "of"}


def _words(settings: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Returns a word for each setting, its value as far as it can be read or else a hash, and whether it is given."""
    return [(_word(IN_SHORT.get(name, name), value), value not in (None, "")) for name, value in settings.items()]


def _word(name: str, value: Any) -> str:
    name = name.replace("_", "-")
    if isinstance(value, str) and "://" in value:
        return f"{name}-{re.sub(NOT_PLAIN, '-', urlsplit(value).netloc)}"
    if isinstance(value, dict | list):
        return f"{name}-{digest(json.dumps(value, sort_keys=True), 6)}"
    text = str(value)
    if PLAIN.fullmatch(text):
        return f"{name}-{text}"
    readable = re.sub(NOT_PLAIN, "-", text.rpartition("/")[2])[:24].strip("-")
    return "-".join(filter(None, (name, readable, digest(text, 6))))
