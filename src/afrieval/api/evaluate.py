"""Evaluates a model from Python, on the same way as `afrieval run`."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from afrieval.api.run import Run
from afrieval.config.settings import (
    AnswerForm,
    DataConfig,
    EvalConfig,
    ModelConfig,
    PromptLanguage,
    PromptSet,
    RunConfig,
    TaskConfig,
    check,
)
from afrieval.errors import UserError
from afrieval.files.schema import validated
from afrieval.run.session import Load, Session
from afrieval.run.session import run as run_session

PathLike = str | os.PathLike[str]
Model = PathLike | ModelConfig | tuple[Any, Any]
HINT = "give a name, a folder, a ModelConfig, or (model, tokenizer) as transformers loads them"


def evaluate(
    model: Model,
    tasks: str | Iterable[str],
    *,
    languages: str | Iterable[str] | None = None,
    prompts: int | Iterable[int] | None = None,
    prompt_language: PromptLanguage = "eng",
    prompt_set: PromptSet = "suite",
    uncleaned: bool = False,
    answer_form: AnswerForm | None = None,
    extract: Mapping[str, bool] | None = None,
    num_fewshot: int = 0,
    limit: int | None = None,
    batch_size: int | str = "auto",
    chat_template: bool = False,
    data_source: PathLike | None = None,
    run_dir: PathLike | None = None,
) -> Run:
    """Evaluates a model and returns the run; only what its folder lacks is run.

    Progress and notes go to standard error. Random numbers of Python, NumPy and torch are as they were afterwards, and
    so are the mode and the device of a loaded model.

    Args:
        model: a hub id, a folder, or `demo`; a `ModelConfig` for more settings; or a loaded transformers model with its
            tokenizer, as a pair.
        tasks: names of tasks; `task_names()` lists them.
        languages: ISO 639-3 codes; all of the tasks' if not given.
        prompts: numbers of prompts; all if not given.
        prompt_language: `eng`, `native` or `both`.
        prompt_set: `suite`, or `paper` for the prompts of the paper that published the task, with their own numbers.
        uncleaned: whether to use the paper's prompts exactly as lm-evaluation-harness has them.
        answer_form: `text`, `letter` or `generate`; each task's first if not given.
        extract: options of the extractors of generated answers to switch, such as `{"lone": True}` for MMLU-Pro.
        num_fewshot: worked examples before each question.
        limit: only the first so many documents of each cell.
        batch_size: answers generated side by side; `auto` finds a number on a GPU.
        chat_template: whether to wrap prompts in the chat template of the tokenizer.
        data_source: `hub`, `samples`, or a folder laid out as on the hub; AFRIEVAL_DATA or the hub if not given.
        run_dir: the run folder; runs/<task>/<model>/<settings> if not given.

    Raises:
        UserError: for a value that cannot be used, data that are not there, a model that cannot be loaded, or a folder
            that holds another run.
    """
    task = TaskConfig(
        task_name=_listed(tasks),
        languages=_listed(languages),
        prompts=_listed(prompts),
        prompt_language=prompt_language,
        prompt_set=prompt_set,
        uncleaned=uncleaned,
        answer_form=answer_form,
        extract=dict(extract or {}),
    )
    evaluation = EvalConfig(num_fewshot=num_fewshot, limit=limit, batch_size=batch_size)
    data = DataConfig() if data_source is None else DataConfig(os.fspath(data_source))
    folder = None if run_dir is None else os.fspath(run_dir)
    settings = RunConfig(ModelConfig(), task, evaluation, data, folder)
    _check(settings, needs_model=False)
    with _model(model, chat_template, evaluation) as (of_model, load):
        config = replace(settings, model=of_model)
        _check(config, needs_model=True)
        return _run(config, load)


def _check(config: RunConfig, needs_model: bool) -> None:
    """Refuses values that a file could not have either."""
    validated(RunConfig, asdict(config), "afrieval.evaluate")
    check(config, needs_model=needs_model)


def _listed(values: Any) -> list[Any] | None:
    """Returns a list of what may be given alone."""
    if values is None:
        return None
    return [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)


@contextmanager
def _model(model: Model, chat_template: bool, evaluation: EvalConfig) -> Iterator[tuple[ModelConfig, Load | None]]:
    """Yields a model's settings, and what loads it if it is loaded already."""
    from afrieval.models.loaded import Loaded, left_as_it_was

    if isinstance(model, tuple) and len(model) == 2:
        with left_as_it_was(model[0]):
            loaded = Loaded(*model, evaluation)
            yield ModelConfig(model_name=loaded.name, chat_template=chat_template), loaded.load
    elif isinstance(model, ModelConfig):
        yield replace(model, chat_template=model.chat_template or chat_template), None
    elif isinstance(model, str | os.PathLike):
        yield ModelConfig(model_name=os.fspath(model), chat_template=chat_template), None
    else:
        raise UserError(f"the model has the type {type(model).__name__}", HINT)


def _run(config: RunConfig, load: Load | None) -> Run:
    from afrieval.models.loaded import same_random_numbers
    from afrieval.report.summary import summarise
    from afrieval.suites.run import finish as derive

    done: list[Session] = []

    def finish(session: Session) -> None:
        cells = summarise(session.stored).cells
        derive(session.stored.path, session.stored.record, cells, config.reference)
        done.append(session)

    with same_random_numbers():
        run_session(lambda: config, finish, load=load)
    return Run(done[0].stored.path)
