"""Reference runs that derived metrics compare with, and published scores of derived metrics."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from afrieval._util.errors import UserError, nearest
from afrieval._util.files import read_bytes, user_path
from afrieval._util.registry import Registry
from afrieval._util.schema import AT_LEAST_ONE, CLOSED
from afrieval._util.yaml_files import read_as
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import check_run, described, model_labels
from afrieval.results.identity import differences
from afrieval.results.run_files import RUN
from afrieval.results.run_folder import RunFolder
from afrieval.results.schema import Identity
from afrieval.run.suites.derived_scores import Declared, DerivedScore, Find, references_of, tasks_of
from afrieval.scoring.derived import derived
from afrieval.tasks.declaration.spec import TASKS

FITTING = ("version", "options", "answer_form", "prompts", "data", "extract")  # what a reference must share, by task
CHAT = ("chat_template", "chat_tags", "chat_system", "chat_date")  # what makes a prompt of a question, of the model


@dataclass(frozen=True)
class ReferenceRun:
    """A reference run.

    Attributes:
        name: what derived metrics call it.
        find: returns its cell for a cell of a run; None if it has none.
        fingerprint: of its model, or of its file; None if it is not stored.
        identity: what run.yaml says of it; None for files of other programs.
    """

    name: str
    path: Path
    find: Find
    fingerprint: str | None = None
    identity: Identity | None = None


class SuiteResults(NamedTuple):
    """Results of a suite that another program wrote, as cells."""

    suite: str
    cells: list[CellScores]


class ResultReader(NamedTuple):
    """Reads results of another program with values of single documents.

    Attributes:
        pattern: the names of its files in a folder.
        read: returns the results of a file; UserError if it is not one of these.
    """

    pattern: str
    read: Callable[[Path], SuiteResults]


RESULT_READERS: Registry[ResultReader] = Registry(
    "reader of results", "afrieval.result_readers", {}, needs=["pattern", "read"]
)


def read_results(path: Path) -> SuiteResults:
    """Returns the results in a file of another program.

    Raises:
        UserError: if no reader can read it.
    """
    error = UserError(f"{path} is not a run folder", "give a folder with run.yaml")
    for name, reader in RESULT_READERS.items():
        try:
            with RESULT_READERS.calling(name, f"for {path}"):
                return reader.read(path)
        except UserError as e:
            error = e
    raise error


def open_references(paths: Mapping[str, str]) -> list[ReferenceRun]:
    """Returns the reference runs that a user names.

    Raises:
        UserError: for a path that is not a run.
    """
    return [_opened(name, user_path(path)) for name, path in paths.items()]


def _opened(name: str, path: Path) -> ReferenceRun:
    if path.is_dir() and not (path / RUN).exists():
        patterns = [reader.pattern for _, reader in RESULT_READERS.items()]
        path = next((file for pattern in patterns for file in sorted(path.glob(pattern))), path)
    try:
        if path.is_file():
            cells = {cell.task: cell for cell in read_results(path).cells}
            digest = hashlib.sha256(read_bytes(path, "make it readable")).hexdigest()[:16]
            return ReferenceRun(name, path, lambda cell: cells.get(cell.task), digest)
        check_run(path)
        run = RunFolder(path)
        label = model_labels({path: run.record})[path]
        model: Mapping[str, Any] = run.record["identity"]["model"]
    except UserError as e:
        raise UserError(f"the reference {name}: {e.message}", e.hint) from None

    def find(cell: CellScores) -> CellScores | None:
        return described(run.scores(cell.name), run, label) if cell.name in run.names else None

    return ReferenceRun(name, path, find, model.get("fingerprint"), run.record["identity"])


def check_comparable(references: Iterable[ReferenceRun], identity: Mapping[str, Any], declared: Declared) -> None:
    """Rejects reference runs of another benchmark, or with another form of prompts, than a run.

    A membership attack subtracts what another model says of each document; that model may have another form of prompts.

    Raises:
        UserError: naming what differs.
    """
    needs = {(spec.get("reference"), derived(name, spec["how"]).needs) for name, spec in declared.items()}
    by_score = {name for name, needed in needs if needed != "pairs"}
    for reference in references:
        metrics = [name for name in declared if reference.name in references_of(name, declared)]
        for task in dict.fromkeys(task for name in metrics for task in tasks_of(name, declared)):
            if misfits := differences(_fitting(reference.identity or {}, task), _fitting(identity, task)):
                hint = "evaluate the reference model with the same tasks, data, prompts and options"
                raise _misfit(reference, f"of {task}, {misfits[0]}", hint)
    for reference in references:
        if reference.name in by_score and reference.identity is not None:
            models: list[Mapping[str, Any]] = [identity["model"], reference.identity["model"]]
            chat, other = ({key: model[key] for key in CHAT if key in model} for model in models)
            if misfits := differences(other, chat):
                raise _misfit(reference, misfits[0], "evaluate both models with the same chat settings")


def _fitting(identity: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Returns the part of an identity that a run shares with its references."""
    of_task = identity.get("tasks", {}).get(task, {})
    whole = {key: identity[key] for key in ("variant", "max_gen_toks") if key in identity}
    shots = {"num_fewshot": identity["fewshot"]["num_fewshot"]} if "fewshot" in identity else {}
    return {**{key: of_task[key] for key in FITTING if key in of_task}, **whole, **shots} if of_task else {}


def with_rows_checked(reference: ReferenceRun) -> Find:
    """Returns the reference run's `find`, which now refuses a cell over another number of rows than the run's."""

    def find(cell: CellScores) -> CellScores | None:
        other = reference.find(cell)
        if reference.identity is not None and other is not None and cell.rows != other.rows:
            rows = f"{cell.name} has {other.rows:,} rows there and {cell.rows:,}"
            raise _misfit(reference, rows, "run both with the same --eval.limit or --eval.sample")
        return other

    return find


def _misfit(reference: ReferenceRun, what: str, hint: str) -> UserError:
    return UserError(f"the reference {reference.name} ({reference.path}) does not fit: {what} in this run", hint)


FILE = "published_suite.yaml"
Numbers = list[float | int]


@dataclass(frozen=True)
class Checkpoint:
    """A model on the hub that is one of the published ones."""

    __pydantic_config__ = CLOSED

    model: str
    method: str


@dataclass(frozen=True)
class PublishedSuite:
    """The content of a `published_suite.yaml`.

    Attributes:
        source: who published the scores.
        setting: how they were measured, in words.
        metrics: names of derived metrics, in the order of the numbers.
        option: the tasks' option that the scores are by.
        tables: model to method to value of the option to numbers.
        checkpoints: repository on the hub to what it is in the tables.
    """

    __pydantic_config__ = CLOSED

    suites: Annotated[list[str], AT_LEAST_ONE]
    source: str
    setting: str
    metrics: Annotated[list[str], AT_LEAST_ONE]
    option: str
    tables: dict[str, dict[str, dict[str, Numbers]]]
    checkpoints: dict[str, Checkpoint] = field(default_factory=dict)

    @property
    def methods(self) -> list[str]:
        """The names of its methods."""
        return list(dict.fromkeys(method for of in self.tables.values() for method in of))


class PublishedScore(NamedTuple):
    """A published score of a derived metric; `model` names model, method and value of the option."""

    metric: str
    model: str
    score: float
    source: str


@cache
def published_suites() -> list[PublishedSuite]:
    """Returns the content of all published_suite.yaml files."""
    return [read_as(PublishedSuite, path) for path in sorted(TASKS.glob(f"*/{FILE}"))]


def methods() -> list[str]:
    """Returns the names of all methods."""
    return list(dict.fromkeys(method for suite in published_suites() for method in suite.methods))


def published_for(
    suite: str, scores: Sequence[DerivedScore], wanted_methods: Sequence[str] = ()
) -> list[PublishedScore]:
    """Returns the published scores to show next to the runs'.

    Args:
        suite: its name.
        scores: of runs.
        wanted_methods: names of methods; if there are none, those that the runs' models are.

    Raises:
        UserError: if the suite has no published scores of a method.
    """
    published = next((each for each in published_suites() if suite in each.suites), None)
    of_methods = published.methods if published else []
    if unknown := [name for name in wanted_methods if name not in of_methods]:
        hint = nearest(unknown[0], of_methods) if of_methods else "leave --published out"
        raise UserError(f"the suite {suite} has no published scores of {unknown[0]!r}", hint)
    if published is None:
        return []
    models = {score.model for score in scores}
    named = {(of.model, of.method) for name, of in published.checkpoints.items() if name in models}
    cells = [cell for score in scores for cell in score.cells.values()]
    options = {value for cell in cells if (value := dict(cell.declared.get("options", {})).get(published.option))}
    return [
        PublishedScore(metric, f"{model} {method} {value}", float(number), f"{published.source}: {published.setting}")
        for model, of_model in published.tables.items()
        for method, of_method in of_model.items()
        if method in wanted_methods or (not wanted_methods and (model, method) in named)
        for value, numbers in of_method.items()
        if value in (options or of_method)
        for metric, number in zip(published.metrics, numbers, strict=True)
    ]
