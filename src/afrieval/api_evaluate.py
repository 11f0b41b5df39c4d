"""The Python API of evaluation: `afrieval.evaluate` makes a config of its arguments, and a run of the config."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Annotated, Any

from typing_extensions import TypedDict

from afrieval._util.calls import checked_call, fitted
from afrieval._util.errors import UserError, nearest
from afrieval._util.schema import AT_LEAST_ONE, CLOSED, validated
from afrieval.api import Run
from afrieval.config.checks import check
from afrieval.config.files import Settings, flat, model_settings, parse, read_file, suite_file, task_settings
from afrieval.config.options import options_of
from afrieval.config.settings import ChatTags, EvalConfig, ModelConfig, RunConfig
from afrieval.config.short_form import DAILY, full_name
from afrieval.exchange.loggers import check_loggers, log_run
from afrieval.models.loaded import Loaded, left_as_it_was, same_random_numbers
from afrieval.run.evaluate import missing_cells
from afrieval.run.finish import finish
from afrieval.run.session import open_run
from afrieval.tools.race.until import evaluate_until

PathLike = str | os.PathLike[str]
Model = Annotated[
    PathLike | ModelConfig | tuple[Any, Any],
    "give a name, a folder, a ModelConfig, or (model, tokenizer) as transformers loads them",
]
Names = PathLike | Annotated[Iterable[PathLike], AT_LEAST_ONE]
CHATS = ("chat_template", "chat_tags", "chat_system", "chat_date")


class Chat(TypedDict, total=False):
    """How a model chats.

    Attributes:
        tags: texts around turns.
        system: system text of chats whose prompts have none.
        date: for chat templates that write one.
    """

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    tags: ChatTags
    system: str
    date: str


@checked_call
def evaluate(model: Model, tasks: Names | None = None, *, chat_template: bool | Chat = False, **options: Any) -> Run:
    """Evaluates a model and returns the run; only what its folder lacks is run.

    Warnings go to standard error, and the progress bar shows only where that is a terminal. Other functions of the
    package raise UserError for the same reasons.

    Args:
        model: a hub id, a folder, a model file or its name, such as `gpt_4o` or `demo`; a `ModelConfig` for its further
            settings; or a loaded model of transformers with its tokenizer, which stay as they are.
        tasks: names of tasks; or of one suite or task file, which may also set what `options` leave out.
        chat_template: whether to wrap prompts in the chat template of the tokenizer; or how, as `tags`, `system` and
            `date`, such as `{"date": "10 Apr 2025"}` (`model.chat_tags`, `chat_system`, `chat_date`).
        options: those of `afrieval run`, by the same names: `languages`, `prompts`, `prompt_language`, `answer_form`,
            `shots`, `sample`, `limit`, `data`, `out` or `run_dir`, `device`, `dtype`, `batch_size`; and all others by
            the last part of their names, such as `max_gen_toks` for `--eval.max_gen_toks`; those of a server as
            maps, `api={"base_url": ...}` and `prices={"input": ...}`. None is as if not given.

    Raises:
        UserError: for a value that cannot be used, data that are not there, a model that cannot be loaded, a folder
            that holds another run, or a run that is stored but could not be logged.
    """
    flags = _settings(options) | _chat(chat_template)
    settings = Settings() if isinstance(model, tuple | ModelConfig) else model_settings(os.fspath(model), flags)
    if suite := flags.get("task.suite"):
        settings |= read_file(suite_file(suite), "task")
    names = [tasks] if isinstance(tasks, str | os.PathLike) else tasks or ()
    settings |= task_settings([os.fspath(name) for name in names])
    if {"task.folder"} <= {*settings} & {*flags}:  # of a task's path, and an argument
        flags["task.folder"] = [
            *settings["task.folder"],
            *([folders] if isinstance(folders := flags["task.folder"], str) else folders),
        ]
    config = parse(RunConfig, settings | flags)
    _check(config, needs_model=False)
    with _model(model, config.model, config.eval, list(flags)) as (of_model, loaded):
        config = replace(config, model=of_model)
        _check(config, needs_model=True)
        check_loggers(config.loggers, config.task)
        with same_random_numbers(), open_run(config) as session:
            ready = loaded.ready(config.model, config.eval) if loaded and missing_cells(session) else None
            evaluate_until(session, ready)
            finish(session)
            log_run(config, session.stored)
    return Run(session.stored.path, config.reference)


def _settings(options: Mapping[str, Any]) -> Settings:
    """Returns options by their full names, with values of the types that files have."""
    options_by_name, settings = {option.name: option for option in options_of(RunConfig)}, Settings()
    for name, value in options.items():
        full = full_name(name, options_by_name)
        # `prices` is the section `model.api.prices`, which `model.api.prices.input` is in
        sections = (re.match(rf"(.*\.)?{re.escape(name)}(?=\.)", one) for one in options_by_name)
        section = next(filter(None, sections), None)
        if full not in options_by_name and section and isinstance(value, Mapping):
            settings |= _settings({f"{section[0]}.{key}": of for key, of in value.items()})
            continue
        if full not in options_by_name:
            names = ["model", "tasks", *DAILY, *(one.rpartition(".")[2] for one in options_by_name)]
            raise UserError(f"evaluate: unknown argument {name!r}", nearest(name, names, "afrieval run --help-all"))
        if value is not None:
            option = options_by_name[full]
            one = option.value(value) if option.members and isinstance(value, str) else value
            one = [one] if option.members and not isinstance(one, str | Iterable) else one
            settings[full] = fitted(option.hint, name, _paths(one), "evaluate")
    return settings


def _paths(value: Any) -> Any:
    """Returns paths as texts, also in a map."""
    if isinstance(value, Mapping):
        return {name: _paths(of) for name, of in value.items()}
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _chat(template: bool | Chat) -> Settings:
    if not template:
        return {}
    how = {f"chat_{name}": value for name, value in template.items()} if isinstance(template, Mapping) else {}
    tags = how.get("chat_tags")
    how |= {"chat_tags": asdict(tags)} if isinstance(tags, ChatTags) else {}
    return flat({"chat_template": True, **how}, "model")


def _check(config: RunConfig, needs_model: bool) -> None:
    """Refuses values that a file could not have either."""
    validated(RunConfig, asdict(config), "afrieval.evaluate")
    check(config, needs_model=needs_model)


@contextmanager
def _model(
    model: Model, settings: ModelConfig, evaluation: EvalConfig, flags: list[str]
) -> Iterator[tuple[ModelConfig, Loaded | None]]:
    """Yields a model's settings with those of the options, `flags` by name, and the model if it is loaded already."""
    names = {name.split(".")[1] for name in flags if name.startswith("model.")}
    changes = {name: getattr(settings, name) for name in names}
    if isinstance(model, tuple):
        if other := sorted(names - {*CHATS}):
            raise UserError(f"evaluate: {other[0]} has no effect on a loaded model", "leave it out")
        with left_as_it_was(model[0]):
            loaded = Loaded(*model, evaluation)
            yield ModelConfig(model_name=loaded.name, **changes), loaded
    elif isinstance(model, ModelConfig):
        yield replace(model, **changes), None
    else:
        yield settings, None
