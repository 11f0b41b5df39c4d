"""The Python API of evaluation: `afrieval.evaluate` makes a config of its arguments, and a run of the config."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from typing_extensions import TypedDict

from afrieval._util.calls import checked_call
from afrieval._util.errors import UserError
from afrieval._util.schema import AT_LEAST_ONE, CLOSED, NotNegative, Positive, validated
from afrieval.api import Run
from afrieval.config.checks import check
from afrieval.config.sections import ChatTags
from afrieval.config.settings import (
    AnswerForm,
    DataConfig,
    EvalConfig,
    ModelConfig,
    PromptLanguage,
    PromptSet,
    RunConfig,
    TaskConfig,
)

if TYPE_CHECKING:
    from afrieval.models.load import Loaded

PathLike = str | os.PathLike[str]
Model = Annotated[
    PathLike | ModelConfig | tuple[Any, Any],
    "give a name, a folder, a ModelConfig, or (model, tokenizer) as transformers loads them",
]
Names = str | Annotated[Iterable[str], AT_LEAST_ONE]
S = TypeVar("S", TaskConfig, EvalConfig)


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
def evaluate(
    model: Model,
    tasks: Names | None = None,
    *,
    suite: PathLike | None = None,
    reference: Mapping[str, PathLike] | None = None,
    languages: Names | None = None,
    prompts: int | Annotated[Iterable[int], AT_LEAST_ONE] | None = None,
    prompt_language: PromptLanguage | None = None,
    prompt_set: PromptSet = "suite",
    uncleaned: bool = False,
    answer_form: AnswerForm | None = None,
    extract: Mapping[str, bool] | None = None,
    options: Mapping[str, str] | None = None,
    num_fewshot: NotNegative = 0,
    limit: Positive | None = None,
    sample: Positive | None = None,
    batch_size: int | str = "auto",
    chat_template: bool | Chat = False,
    data_source: PathLike | None = None,
    run_dir: PathLike | None = None,
    log: str | Iterable[str] = (),
) -> Run:
    """Evaluates a model and returns the run; only what its folder lacks is run.

    Progress and notes go to standard error. Random numbers of Python, NumPy and torch are as they were afterwards, and
    so are the mode and the device of a loaded model.

    Args:
        model: a hub id, a folder, or `demo`; a `ModelConfig` for more settings; or a loaded transformers model with its
            tokenizer, as a pair.
        tasks: names of tasks; `task_names()` lists them. Of a suite, all if not given.
        suite: name of a suite in configs/suites/, or its file. Other arguments beat what the file says.
        reference: name to folder or file of stored runs that derived metrics of the suite compare with.
        languages: ISO 639-3 codes; all of the tasks' if not given.
        prompts: numbers of prompts; all if not given.
        prompt_language: `eng`, `native` or `both`; the suite's or `eng` if not given.
        prompt_set: `suite`, or `paper` for the prompts of the paper that published the task, with their own numbers.
        uncleaned: whether to use the paper's prompts exactly as lm-evaluation-harness has them.
        answer_form: `text`, `letter` or `generate`; each task's first if not given.
        extract: options of the extractors of generated answers to switch, such as `{"lone": True}` for MMLU-Pro.
        options: of tasks, such as `{"forget_split": "forget01"}` for TOFU.
        num_fewshot: few-shot examples before each question.
        limit: evaluate only the first N documents of each cell, for debugging; nothing is concluded from their scores.
        sample: evaluate a representative sample of N documents of each cell, for estimates.
        batch_size: number of answers generated at once; `auto` finds a number on a GPU.
        chat_template: whether to wrap prompts in the chat template of the tokenizer; or how, as `tags`, `system` and
            `date`, such as `{"date": "10 Apr 2025"}` (`model.chat_tags`, `chat_system`, `chat_date`).
        data_source: `hub`, `samples`, or a folder laid out as on the hub; AFRIEVAL_DATA or the hub if not given.
        run_dir: the run folder; runs/<task>/<model>/<settings> if not given.
        log: programs to log the run to when it is finished, `wandb` or `trackio`.

    Raises:
        UserError: for a value that cannot be used, data that are not there, a model that cannot be loaded, a folder
            that holds another run, or a run that is stored but could not be logged.
    """
    base = _suite(suite)
    task = _task(
        base.task,
        task_name=_listed(tasks),
        languages=_listed(languages),
        prompts=_listed(prompts),
        prompt_language=prompt_language,
        prompt_set=prompt_set if prompt_set != "suite" else None,
        uncleaned=uncleaned or None,
        answer_form=answer_form,
        extract=extract and dict(extract),
        options=options and dict(options),
    )
    shots = num_fewshot or base.eval.shots
    evaluation = replace(_but(base.eval, limit=limit, sample=sample), num_fewshot=shots, batch_size=batch_size)
    data = DataConfig() if data_source is None else DataConfig(os.fspath(data_source))
    folder = None if run_dir is None else os.fspath(run_dir)
    paths = {name: os.fspath(path) for name, path in (reference or {}).items()}
    settings = RunConfig(ModelConfig(), task, evaluation, data, folder, paths, _listed(log) or [])
    _check(settings, needs_model=False)
    template = chat_template or base.model.chat_template
    chat: dict[str, Any] = {"chat_template": True} if template else {}
    if isinstance(template, Mapping):
        chat |= {f"chat_{name}": value for name, value in template.items()}
    with _model(model, chat, evaluation) as (of_model, loaded):
        config = replace(settings, model=of_model)
        _check(config, needs_model=True)
        return _run(config, loaded)


def _suite(suite: PathLike | None) -> RunConfig:
    """Returns the settings of a suite; the default ones for None."""
    if suite is None:
        return RunConfig()
    from afrieval.config.files import read_file, run_config, suite_file

    return run_config(read_file(suite_file(os.fspath(suite)), "task"), needs_model=False, needs_task=False)


def _task(base: TaskConfig, **given: Any) -> TaskConfig:
    task = _but(base, **given)
    if not task.task_name and not task.groups and not task.harness_tasks and not task.task_template:
        raise UserError("evaluate: no task is given", "give tasks or suite; afrieval.task_names() lists the tasks")
    return task


def _but(settings: S, **given: Any) -> S:
    """Returns settings with other values, but for those that are None."""
    return replace(settings, **{name: value for name, value in given.items() if value is not None})


def _check(config: RunConfig, needs_model: bool) -> None:
    """Refuses values that a file could not have either."""
    validated(RunConfig, asdict(config), "afrieval.evaluate")
    check(config, needs_model=needs_model)


def _listed(values: Any) -> list[Any] | None:
    """Returns a list of one value or several."""
    if values is None:
        return None
    return [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)


@contextmanager
def _model(model: Model, chat: dict[str, Any], evaluation: EvalConfig) -> "Iterator[tuple[ModelConfig, Loaded | None]]":
    """Yields a model's settings, and the model if it is loaded already."""
    from afrieval.models.load import Loaded, left_as_it_was

    if isinstance(model, tuple):
        with left_as_it_was(model[0]):
            loaded = Loaded(*model, evaluation)
            yield ModelConfig(model_name=loaded.name, **chat), loaded
    elif isinstance(model, ModelConfig):
        yield replace(model, **chat), None
    else:
        yield ModelConfig(model_name=os.fspath(model), **chat), None


def _run(config: RunConfig, loaded: "Loaded | None") -> Run:
    from afrieval.exchange.loggers import checked, log_run
    from afrieval.models.load import same_random_numbers
    from afrieval.run.evaluate import evaluate, missing_cells
    from afrieval.run.finish import finish
    from afrieval.run.session import open_run
    from afrieval.tools.cell_makers import MAKERS

    with same_random_numbers(), open_run(checked(config), makers=MAKERS) as session:
        ready = loaded.ready(config.model, config.eval) if loaded and missing_cells(session) else None
        evaluate(session, ready)
        finish(session)
        log_run(config, session.stored)
    return Run(session.stored.path, config.reference)
