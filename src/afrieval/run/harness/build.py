"""Builds the Task object of a leaf task: local data, number of examples, clean prompts."""

from pathlib import Path
from typing import Any

from lm_eval.tasks._factory import TaskFactory
from lm_eval.tasks._index import Entry, Kind

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval.models.credentials import quiet
from afrieval.run.harness.index import Config, HarnessTask, digest, short
from afrieval.tasks.data.files import HUB
from afrieval.tasks.prompts.prompts import LINE_END, clean


def clean_before(text: str, delimiter: str) -> str:
    """Returns a clean text that keeps one space at its end, if it had any and no delimiter follows."""
    body = clean(text)
    return body if delimiter else body + _edge(text[len(text.rstrip(" \t\r\n")) :])


def clean_after(text: str, delimiter: str) -> str:
    """Returns a clean text that keeps one space at its beginning, unless the delimiter before it ends with one."""
    body = clean(text)
    return body if delimiter[-1:].isspace() else _edge(text[: len(text) - len(text.lstrip(" \t\r\n"))]) + body


def _edge(blanks: str) -> str:
    """Returns whitespace in short: up to two line breaks, or one space."""
    line_ends = LINE_END.sub("\n", blanks).count("\n")
    return "\n" * min(2, line_ends) or (" " if blanks else "")


def clean_task(task: Any) -> None:
    """Makes a Task of the harness clean its prompts: description, question and few-shot examples.

    Answers in examples are cleaned too, except choices: those stay as they are scored.
    """
    if not hasattr(task, "build_qa_turn"):  # an old type of task, whose prompt is one text
        old = task.doc_to_text
        task.doc_to_text = lambda doc: clean_before(old(doc), "")
        return
    build_turn, resolve = task.build_qa_turn, task.resolve_field

    def clean_turn(*, q: str, c: Any = None, a: Any = None, tgt_delim: str = " ", **rest: Any) -> Any:
        answer = a[0] if isinstance(a, list) and a else a
        if isinstance(answer, str) and answer not in (c or ()):
            a = clean_after(answer, tgt_delim)
        # if each choice has a different context, the delimiter is part of the continuation
        delimiter = task.config.target_delimiter if a is None else tgt_delim
        return build_turn(q=clean_before(q, delimiter), c=c, a=a, tgt_delim=tgt_delim, **rest)

    def clean_description(doc: Any, field: str | None = None) -> Any:
        text = resolve(doc, field)
        return clean_before(text, "") if field == task.config.description and isinstance(text, str) else text

    task.build_qa_turn, task.resolve_field = clean_turn, clean_description


# changed in a config to use local data and no network
DATA_KEYS = ("dataset_path", "dataset_kwargs", "metric_list")


class LackingError(UserError):
    """A folder lacks the part of a data set that a task needs, or has it in another format."""


def build(task: HarnessTask, source: str, shots: int | None, seed: int, clean: bool) -> Any:
    """Returns a new Task of the harness, with its data.

    Args:
        task: the task to build.
        source: `hub`, or a folder with the hub's layout that is used for the data sets in it.
        shots: few-shot examples before each document; None for the task's own number.
        seed: the seed for choosing these examples.
        clean: whether to remove stray whitespace from its prompts.

    Raises:
        LackingError: if the source is a folder that lacks the task's part of a data set.
        UserError: if its data cannot be loaded, or the task cannot be built or run.
    """
    config = _with_local_data(task.config, source)
    entry = Entry(task.name, Kind.PY_TASK if "class" in config else Kind.TASK, None, cfg=config)
    with quiet():
        try:
            built: Any = TaskFactory().build(entry, registry={})
        except Exception as e:  # from the data set, the hub or the task's own code: any type
            raise _explain(task, config, e) from e
    _check_runnable(task.name, built)
    declared_shots = built.get_config("num_fewshot")
    if shots is not None and declared_shots != 0:  # as the harness does: a task whose file says 0 has none
        built.set_config(key="num_fewshot", value=shots)
    elif declared_shots is None:
        built.set_config(key="num_fewshot", value=0)
    if built.OUTPUT_TYPE == "multiple_choice" and hasattr(built, "doc_to_choice"):
        choices = built.doc_to_choice  # may be numbers, at which the harness fails; they are asked as they are printed
        built.doc_to_choice = lambda doc, *args: [c if isinstance(c, str) else str(c) for c in choices(doc, *args)]
    built.set_fewshot_seed(seed)
    if clean:
        clean_task(built)
    return built


def requests(name: str, built: Any, documents: int, **options: Any) -> list[Any]:
    """Returns the requests of a task's first documents.

    Raises:
        UserError: if its prompt cannot be built, or it has too few examples.
    """
    with quiet():
        try:
            built.build_all_requests(limit=documents, **options)
        except Exception as e:  # the task's own templates and code
            shots = built.config.num_fewshot
            hint = f"give --eval.num_fewshot less than {shots}, or remove the task" if shots else "remove the task"
            raise UserError(f"the harness cannot build the prompts of {name}: {short(e)}", hint) from e
    return [instance for instance in built.instances for _ in range(instance.repeats or 1)]


def config_hash(task: HarnessTask, built: Any) -> str:
    """Returns a hash of the task's config, which does not depend on where the data is."""
    dumped = {**built.dump_config(), **{k: task.config.get(k) for k in DATA_KEYS}}
    return digest({k: v for k, v in dumped.items() if k not in ("metadata", "num_fewshot", "task_alias")})


def _with_local_data(config: Config, source: str) -> Config:
    """Returns a config that uses local data and downloads nothing needlessly."""
    config = dict(config)
    path = config.get("dataset_path")
    if source != HUB and path and (local := (user_path(source) / path).resolve()).is_dir():
        import datasets

        # `datasets` identifies a local folder with configs by its last name only: it would return the rows of another
        # mirror, or those before a change. So the current state of its files has a cache of its own.
        files = sorted(p for p in local.rglob("*") if p.is_file())
        stamp = [str(local), *([str(p), p.stat().st_size, p.stat().st_mtime_ns] for p in files)]
        cache = str(Path(datasets.config.HF_DATASETS_CACHE) / "afrieval" / digest(stamp))
        config["dataset_path"] = str(local)
        config["dataset_kwargs"] = {**(config.get("dataset_kwargs") or {}), "cache_dir": cache}
    if config.get("output_type", "generate_until") != "generate_until":
        # Likelihood tasks only use a metric's name; its `evaluate` module need not be downloaded.
        config["metric_list"] = [
            {k: v for k, v in metric.items() if k != "hf_evaluate"} for metric in config.get("metric_list") or []
        ] or None
    return config


def _check_runnable(name: str, built: Any) -> None:
    if getattr(built, "MULTIMODAL", False):
        raise UserError(f"{name} needs images or sound, which are not supported", "remove the task")
    if getattr(built, "UNSAFE_CODE", False):
        raise UserError(
            f"{name} runs code written by the model, which is not supported",
            "remove the task, or run it with lm-eval in a sandbox",
        )
    lacking = [m for m, function in getattr(built, "_metric_fn_list", {}).items() if function is None]
    if lacking and built.OUTPUT_TYPE == "generate_until" and not built.config.process_results:
        raise UserError(
            f"{name}: its metric {lacking[0]} cannot be downloaded from the hub (evaluate library)",
            "run it with a network connection, or remove the task",
        )


def _explain(task: HarnessTask, config: Config, error: Exception) -> UserError:
    path = config.get("dataset_path")
    if path is None:
        return UserError(f"the harness cannot build the task {task.name}: {short(error)}", "remove the task")
    shown = " ".join(str(part) for part in (path, config.get("dataset_name")) if part)
    message = f"the data of {task.name} ({shown}) cannot be loaded: {short(error)}"
    if path != task.config.get("dataset_path"):
        return LackingError(message, "complete that folder, give --data.source hub, or remove the task")
    return UserError(
        message, "run `afrieval prefetch` with a network connection, give --data.source FOLDER, or remove the task"
    )
