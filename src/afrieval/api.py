"""The Python API: evaluates models, and reads and compares stored runs, as the commands do."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from typing_extensions import TypedDict

from afrieval._util.calls import checked_call
from afrieval._util.errors import UserError, nearest
from afrieval._util.files import user_path
from afrieval._util.schema import AT_LEAST_ONE, CLOSED, NotNegative, Positive, Seed, validated
from afrieval._util.terminal import note
from afrieval._util.whole_files import write_output
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
    from afrieval.analysis.inputs import Inputs
    from afrieval.models.loaded import Loaded
    from afrieval.report.table import Table, Tables
    from afrieval.results.samples import Sample


@checked_call
class Run:
    """A run folder: what was run, its scores and its samples.

    Files are read when they are asked for, and again only if they have changed.

    Attributes:
        path: the folder.

    Args:
        path: the folder.
        reference: name to folder or file of stored runs that derived metrics compare with.
    """

    def __init__(self, path: str | os.PathLike[str], reference: Mapping[str, str | os.PathLike[str]] | None = None):
        from afrieval.results.run_folder import RunFolder

        self.path: Path = user_path(path)
        self._reference = {name: os.fspath(of) for name, of in (reference or {}).items()}
        self._folder = RunFolder(self.path)

    @property
    def identity(self) -> dict[str, Any]:
        """What makes the run another one: model, data, prompts, shots."""
        return cast(dict[str, Any], self._folder.record["identity"])

    @property
    def config(self) -> dict[str, Any]:
        """The settings with which the folder was last written."""
        return cast(dict[str, Any], self._folder.record["visits"][-1]["config"])

    def scores(self) -> "Table":
        """Returns the scores, averaged over prompts: one row per task, language and prompt language.

        Raises:
            UserError: if a file of the folder is damaged; its line is named.
        """
        from afrieval.report.run_tables import one_table

        return one_table(self._folder)

    def derived(self) -> "Tables":
        """Returns the derived metrics of the run's suite, in a table; none if it declares none.

        A metric that needs a reference run is absent without it, and the table says why.

        Raises:
            UserError: if a file of the folder or of a reference is damaged, or a reference is not comparable.
        """
        from afrieval.report.suite_tables import derived_tables
        from afrieval.report.table import Tables
        from afrieval.results.comparable_runs import model_labels, run_cells
        from afrieval.run.suites.run import of_runs

        label = model_labels({self.path: self._folder.record})[self.path]
        found = of_runs(run_cells(self._folder, label), self._reference)
        return Tables(table for suite, scores in found.items() for table in derived_tables(suite, scores))

    @checked_call
    def samples(self, task: str, language: str, prompt_language: str = "eng", prompt: int = 1) -> "list[Sample]":
        """Returns the documents of a cell in order: prompt, answers, what was extracted, measures.

        Args:
            task: name of the task.
            language: ISO 639-3 code.
            prompt_language: `eng` or `native`.
            prompt: number of the prompt.

        Raises:
            UserError: if the run has no such cell, or its file is damaged.
        """
        name, names = f"{task}_{language}_{prompt_language}_{prompt}", self._folder.names
        name = task if task in names else name  # a task of the harness is one cell
        if name not in names:
            raise UserError(f"{self.path} has no cell {name!r}", nearest(name, names))
        return self._folder.samples(name)

    def __fspath__(self) -> str:
        """Returns the folder, so that a run can be given where a folder can, such as for a reference."""
        return str(self.path)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def _repr_html_(self) -> str:
        """Returns the scores as a notebook shows them."""
        return self.scores()._repr_html_()


@checked_call
def load_run(folder: str | os.PathLike[str], reference: Mapping[str, str | os.PathLike[str]] | None = None) -> Run:
    """Returns a stored run; the run need not be finished.

    Args:
        folder: a run folder of `evaluate` or of the command.
        reference: name to folder or file of stored runs that derived metrics of its suite compare with.

    Raises:
        UserError: if the folder is not a run, or has no finished cell.
    """
    from afrieval.results.comparable_runs import check_run

    path = user_path(folder)
    check_run(path)
    return Run(path, reference)


Source = Run | str | os.PathLike[str]
Runs = Annotated[Source | Iterable[Source], "give one run or several, as runs or their folders"]


class Comparison:
    """Several runs, or one with several prompts, prompt languages or languages.

    Args:
        given: the runs' cells.
        seed: of bootstrap and permutations.
    """

    def __init__(self, given: "Inputs", seed: int = 42):
        self._foreign = given.foreign
        self._cells = [*given.own, *given.foreign]
        self._seed = seed

    @checked_call
    def contrasts(self, dimension: str | None = None) -> "Tables":
        """Returns a table per pair of values of a dimension, with paired intervals and tests.

        Args:
            dimension: prompt_language, prompt, model, shots, answer_form or language; if not given, all in which the
                runs differ but prompt and language.

        Raises:
            UserError: if there is nothing to compare, or nothing that may be.
        """
        from afrieval.analysis.run_contrasts import all_contrasts, check_compared
        from afrieval.report.comparison import contrast_tables
        from afrieval.results.cell_scores import DIMENSIONS

        _check_known("dimension", dimension, [*DIMENSIONS])
        found = all_contrasts(self._cells, self._foreign, [dimension] if dimension else None, self._seed)
        check_compared(found, self._cells, needed=True)
        return self._named(contrast_tables(self._cells, found))

    @checked_call
    def means(self, grouping: str = "Africa") -> "Tables":
        """Returns means over African languages, a table per task.

        Args:
            grouping: Africa, family, script or region.

        Raises:
            UserError: for another grouping.
        """
        from afrieval.analysis.means import GROUPINGS
        from afrieval.report.comparison import mean_tables

        _check_known("grouping", grouping, [*GROUPINGS])
        return self._named(mean_tables(self._cells, [grouping]))

    def spread(self) -> "Tables":
        """Returns best, mean and worst prompt, a table per task that ran several."""
        from afrieval.report.comparison import spread_tables

        return self._named(spread_tables(self._cells))

    @checked_call
    def by(self, field: str, published: str | Iterable[str] = ()) -> "Tables":
        """Returns scores by a field of the documents, such as `subject`; or for `confusion`, by label.

        Args:
            field: its name, or `confusion`.
            published: names of published scores to show, such as Phi-3-3.8B-4K for MMLU; by default those of the same
                models.

        Raises:
            UserError: if no task declares the field or has labels, or published scores are unknown.
        """
        from afrieval.analysis.published import check_published
        from afrieval.report.comparison import breakdown_tables, metrics_of

        names = [published] if isinstance(published, str) else list(published)
        check_published(self._cells, names)
        return self._named(breakdown_tables(self._cells, field, metrics_of(self._cells), names))

    def _named(self, tables: "Iterable[Table]") -> "Tables":
        """Returns tables whose titles say which rows they are of."""
        from afrieval.report.score_tables import naming_rows
        from afrieval.report.table import Tables

        return Tables(naming_rows(tables, self._cells))

    def _repr_html_(self) -> str:
        """Returns the contrasts as a notebook shows them."""
        return self.contrasts()._repr_html_()


def _check_known(name: str, value: str | None, known: list[str]) -> None:
    if value is not None and value not in known:
        raise UserError(f"there is no {name} {value!r}", nearest(str(value), known))


@checked_call
def compare(runs: Runs, *, metric: str | None = None, seed: Seed = 42) -> Comparison:
    """Returns a comparison of stored runs; no model is loaded.

    Args:
        runs: runs, or folders of runs, or results of lm_eval, lighteval or inspect_ai, in the order to compare them.
        metric: which metric; the main one of each task if not given.
        seed: of bootstrap and permutations.

    Raises:
        UserError: for a folder that is not a run or is not finished, or a metric that no run has.
    """
    from afrieval.exchange.discovery import is_published, read_inputs

    paths = paths_of(runs)
    if not paths:
        raise UserError("there is no run to compare", "give one run or several")
    if tables := [path for path in paths if is_published(path)]:
        raise UserError(
            f"{tables[0]} has published scores, not a run", "compare published tables with `afrieval compare`"
        )
    return Comparison(read_inputs(paths).on(metric), seed)


def paths_of(runs: Runs) -> list[Path]:
    """Returns the paths of one run or several."""
    several = [runs] if isinstance(runs, Run | str | os.PathLike) else runs
    return [run.path if isinstance(run, Run) else user_path(run) for run in several]


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
        limit: only the first so many documents of each cell, for debugging: nothing is concluded from their scores.
        sample: a representative sample of so many documents of each cell, for estimates.
        batch_size: answers generated side by side; `auto` finds a number on a GPU.
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
    task = _but(
        base.task,
        task_name=_listed(tasks),
        languages=_listed(languages),
        prompts=_listed(prompts),
        prompt_language=prompt_language,
        prompt_set=prompt_set if prompt_set != "suite" else None,
        uncleaned=uncleaned or None,
        answer_form=answer_form,
        extract=None if extract is None else dict(extract),
        options=None if options is None else dict(options),
    )
    if not task.task_name and not task.groups and not task.harness_tasks and not task.task_template:
        raise UserError("evaluate: no task is given", "give tasks or suite; afrieval.task_names() lists the tasks")
    shots = num_fewshot or base.eval.shots
    evaluation = replace(_but(base.eval, limit=limit, sample=sample), num_fewshot=shots, batch_size=batch_size)
    chat = chat_template or base.model.chat_template
    data = DataConfig() if data_source is None else DataConfig(os.fspath(data_source))
    folder = None if run_dir is None else os.fspath(run_dir)
    paths = {name: os.fspath(path) for name, path in (reference or {}).items()}
    settings = RunConfig(ModelConfig(), task, evaluation, data, folder, paths, _listed(log) or [])
    _check(settings, needs_model=False)
    with _model(model, _chat(chat), evaluation) as (of_model, loaded):
        config = replace(settings, model=of_model)
        _check(config, needs_model=True)
        return _run(config, loaded)


def _suite(suite: PathLike | None) -> RunConfig:
    """Returns the settings of a suite; the default ones for None."""
    if suite is None:
        return RunConfig()
    from afrieval.config.files import read_file, run_config, suite_file

    return run_config(read_file(suite_file(os.fspath(suite)), "task"), needs_model=False, needs_task=False)


def _but(settings: S, **given: Any) -> S:
    """Returns settings with other values, but for those that are None."""
    return replace(settings, **{name: value for name, value in given.items() if value is not None})


def _check(config: RunConfig, needs_model: bool) -> None:
    """Refuses values that a file could not have either."""
    validated(RunConfig, asdict(config), "afrieval.evaluate")
    check(config, needs_model=needs_model)


def _listed(values: Any) -> list[Any] | None:
    """Returns a list of what may be given alone."""
    if values is None:
        return None
    return [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)


def _chat(chat_template: bool | Chat) -> dict[str, Any]:
    """Returns the settings of a model that say how it chats."""
    if isinstance(chat_template, bool):
        return {"chat_template": True} if chat_template else {}
    return {"chat_template": True, **{f"chat_{name}": value for name, value in chat_template.items()}}


@contextmanager
def _model(model: Model, chat: dict[str, Any], evaluation: EvalConfig) -> "Iterator[tuple[ModelConfig, Loaded | None]]":
    """Yields a model's settings, and the model if it is loaded already."""
    from afrieval.models.loaded import Loaded, left_as_it_was

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
    from afrieval.models.loaded import same_random_numbers
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


SUFFIXES = (".html", ".htm")


@checked_call
def write_report(runs: Runs, output: str | os.PathLike[str] = "report.html") -> Path:
    """Writes stored runs as one page and returns the file; no model is loaded.

    Args:
        runs: runs, folders of runs, results of lm_eval, lighteval or inspect_ai, and published tables (CSV), in the
            order to show.
        output: file to write, which ends in .html; it is replaced if it exists.

    Raises:
        UserError: for another file name, a folder that does not exist, or a run that is damaged, not finished or
            without scores.
    """
    path = user_path(output)
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"a report must be a file that ends in .html, not {os.fspath(output)!r}", "name such a file")
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist", "name a file in an existing folder")
    from afrieval.exchange.discovery import read_inputs
    from afrieval.report.html.report import report

    paths = paths_of(runs)
    if not paths:
        raise UserError("there is no run to show", "give one run or several")
    given = read_inputs(paths)
    for line in given.notes:
        note(line)
    if not (given.own or given.foreign or given.published):
        raise UserError(f"{paths[0]} has nothing to show", "give a run with scores")
    write_output(path, report(given))
    return path
