"""A leaf task of lm-evaluation-harness to its Task object: local data, number of examples, clean prompts."""

from pathlib import Path
from typing import Any

from lm_eval.tasks._factory import TaskFactory
from lm_eval.tasks._index import Entry, Kind

from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.harness.as_json import digest
from afrieval.harness.cleaning import clean_task
from afrieval.harness.index import Config, HarnessTask, short
from afrieval.harness.silence import quiet
from afrieval.tasks.splits import HUB

# what is changed in a config to read local data and to stay off the network
DATA_KEYS = ("dataset_path", "dataset_kwargs", "metric_list")


class LackingError(UserError):
    """A folder has a task's data set, but not the part of it that the task needs, or in another form."""


def build(task: HarnessTask, source: str, shots: int | None, seed: int, clean: bool) -> Any:
    """Returns a fresh Task of the harness, its data read.

    Args:
        task: what to build.
        source: `hub`, or a folder laid out as on the hub, used for the data sets that it has.
        shots: worked examples before each document; None for the task's own number.
        seed: of the choice of these examples.
        clean: whether stray blanks are taken out of its prompts.

    Raises:
        LackingError: if a folder given as source lacks its part of a data set.
        UserError: if its data cannot be had, or the task cannot be built or run here.
    """
    config = _mended(task.config, source)
    entry = Entry(task.name, Kind.PY_TASK if "class" in config else Kind.TASK, None, cfg=config)
    with quiet():
        try:
            built: Any = TaskFactory().build(entry, registry={})
        except Exception as e:  # a data set's, the hub's, the task's own code's: there is no end to their kinds
            raise _explain(task, config, e) from e
    _check_runnable(task.name, built)
    _set_shots(built, shots)
    _mend_choices(built)
    built.set_fewshot_seed(seed)
    if clean:
        clean_task(built)
    return built


def requests(name: str, built: Any, documents: int, **options: Any) -> list[Any]:
    """Returns the requests of a task's first documents.

    Args:
        name: the task's.
        built: the Task.
        documents: how many.
        options: of a chat template, if one is used, as the harness takes them.

    Raises:
        UserError: if its prompt cannot be built, or it has too few examples.
    """
    with quiet():
        try:
            built.build_all_requests(limit=documents, **options)
        except Exception as e:  # the task's own templates and code
            shots = built.config.num_fewshot
            hint = f"give --eval.num_fewshot less than {shots}, or leave the task out" if shots else "leave it out"
            raise UserError(f"the harness cannot build the prompts of {name}: {short(e)}", hint) from e
    return [instance for instance in built.instances for _ in range(instance.repeats or 1)]


def config_hash(task: HarnessTask, built: Any) -> str:
    """Returns what changes when the task's config does; where its data was read from is no part of it."""
    dumped = {**built.dump_config(), **{k: task.config.get(k) for k in DATA_KEYS}}
    return digest({k: v for k, v in dumped.items() if k not in ("metadata", "num_fewshot", "task_alias")})


def _mended(config: Config, source: str) -> Config:
    """Returns a config that reads local data and asks the network for nothing that is not used."""
    config = dict(config)
    path = config.get("dataset_path")
    if source != HUB and path and (local := user_path(source) / path).is_dir():
        config["dataset_path"] = str(local.resolve())
        config["dataset_kwargs"] = {**(config.get("dataset_kwargs") or {}), "cache_dir": _cache(local.resolve())}
    if config.get("output_type", "generate_until") != "generate_until":
        # Likelihood tasks go by a metric's name; its `evaluate` module would be fetched for nothing.
        config["metric_list"] = [
            {k: v for k, v in metric.items() if k != "hf_evaluate"} for metric in config.get("metric_list") or []
        ] or None
    return config


def _cache(folder: Path) -> str:
    """Returns a cache folder for this state of these files.

    `datasets` knows a local folder with configs by its last name alone: it would give the rows of another mirror, or
    those from before a change.
    """
    import datasets

    files = sorted(p for p in folder.rglob("*") if p.is_file())
    stamp = [str(folder), *([str(p), p.stat().st_size, p.stat().st_mtime_ns] for p in files)]
    return str(Path(datasets.config.HF_DATASETS_CACHE) / "afrieval" / digest(stamp))


def _set_shots(built: Any, shots: int | None) -> None:
    """Sets the number of examples as the harness does: a task that says 0 itself takes none."""
    own = built.get_config("num_fewshot")
    if shots is not None and own != 0:
        built.set_config(key="num_fewshot", value=shots)
    elif own is None:
        built.set_config(key="num_fewshot", value=0)


def _mend_choices(built: Any) -> None:
    """Makes texts of choices that are numbers, as they are shown; the harness stops at a row with such."""
    if built.OUTPUT_TYPE != "multiple_choice" or not hasattr(built, "doc_to_choice"):
        return
    choices = built.doc_to_choice
    built.doc_to_choice = lambda doc, *args: [c if isinstance(c, str) else str(c) for c in choices(doc, *args)]


def _check_runnable(name: str, built: Any) -> None:
    if getattr(built, "MULTIMODAL", False):
        raise UserError(f"{name} shows pictures or plays sound", "leave it out: text models only, so far")
    if getattr(built, "UNSAFE_CODE", False):
        raise UserError(f"{name} runs code that the model writes", "leave it out; run it with lm-eval in a sandbox")
    lacking = [m for m, function in getattr(built, "_metric_fn_list", {}).items() if function is None]
    if lacking and built.OUTPUT_TYPE == "generate_until" and not built.config.process_results:
        raise UserError(
            f"{name}: its metric {lacking[0]} cannot be fetched from the hub (evaluate library)",
            "run it where there is a network, or leave it out",
        )


def _explain(task: HarnessTask, config: Config, error: Exception) -> UserError:
    path = config.get("dataset_path")
    if path is None:
        return UserError(f"the harness cannot build the task {task.name}: {short(error)}", "leave it out")
    shown = " ".join(str(part) for part in (path, config.get("dataset_name")) if part)
    message = f"the data of {task.name} ({shown}) cannot be had or used: {short(error)}"
    if path != task.config.get("dataset_path"):
        return LackingError(message, "complete that folder, give --data.source hub, or leave the task out")
    return UserError(
        message, "run `afrieval prefetch` where there is a network, give --data.source FOLDER, or leave it out"
    )
