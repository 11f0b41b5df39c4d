"""The default folder of a run: runs/<task>/<model>/<settings>."""

import hashlib
import json
import re
from dataclasses import asdict
from pathlib import Path

from afrieval.config.settings import EvalConfig, ModelConfig, RunConfig
from afrieval.files.paths import user_path
from afrieval.models.credentials import without_secrets
from afrieval.models.identity import telling_api, telling_args
from afrieval.tasks.cell import Plan
from afrieval.tasks.meta import END, llama


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
    settings += [] if evaluation.sample is None else ["sample", *_other_seed(evaluation.random_seed)]
    settings += ["paper"] if config.task.prompt_set == "paper" else []
    settings += ["uncleaned"] if config.task.uncleaned else []
    settings += [name if on else f"no-{name}" for name, on in sorted(config.task.extract.items())]
    settings += [re.sub(r"[^\w.-]+", "-", value) for _, value in sorted(config.task.options.items())]
    settings += [f"unseen{_short_hash(config.task.unseen)}"] if config.task.unseen else []
    settings += ["translate"] if config.task.variant == "translate" else []
    settings += [f"max{evaluation.max_gen_toks}"] if evaluation.max_gen_toks else []
    settings += ["clean"] if config.task.clean_prompts and config.wants_harness else []
    settings += [model.model_type] if model.model_type != "hf" else []
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


def _other_seed(seed: int) -> list[str]:
    """Returns the seed of samples, if it is not the usual one; the size is not part of the name, since it may grow."""
    return [] if seed == EvalConfig.random_seed else [f"of-seed{seed}"]


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
    return hashlib.sha256(text.encode()).hexdigest()[:6]
