"""Reference runs: stored runs that derived metrics of a suite compare with."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afrieval.errors import UserError
from afrieval.files.content import read_bytes
from afrieval.files.paths import user_path
from afrieval.results.files import RUN
from afrieval.results.identity import differences
from afrieval.results.reader import RunFolder
from afrieval.results.runs import check_run, described, model_labels
from afrieval.results.schema import Identity
from afrieval.results.scores import CellScores
from afrieval.suites.nodes import Find
from afrieval.suites.unlearning_files import HINT, file_cells

FITTING = ("version", "options", "answer_form", "prompts", "data", "extract")  # what a reference must share, by task
CHAT = ("chat_template", "chat_tags", "chat_system", "chat_date")  # what makes a prompt of a question, of the model


@dataclass(frozen=True)
class Reference:
    """A reference run.

    Attributes:
        name: what derived metrics call it.
        path: its folder or file.
        find: finds the cell that is that of a run; None if it has none.
        fingerprint: of its model, or of its file; None if it is not stored.
        identity: what run.yaml says of it; None for files of other programs.
    """

    name: str
    path: Path
    find: Find
    fingerprint: str | None = None
    identity: Identity | None = None


def open_references(given: Mapping[str, str]) -> list[Reference]:
    """Returns the reference runs that a user names.

    Args:
        given: name to path.

    Raises:
        UserError: for a path that is not a run.
    """
    return [_opened(name, user_path(path)) for name, path in given.items()]


def _opened(name: str, path: Path) -> Reference:
    if path.is_dir() and not (path / RUN).exists():
        path = next(iter(sorted(path.glob("*_EVAL.json"))), path)
    try:
        return _of_file(name, path) if path.is_file() else _of_folder(name, path)
    except UserError as e:
        raise UserError(f"the reference {name}: {e.message}", e.hint) from None


def _of_file(name: str, path: Path) -> Reference:
    cells = {cell.task: cell for cell in file_cells(path)[1]}
    digest = hashlib.sha256(read_bytes(path, HINT)).hexdigest()[:16]
    return Reference(name, path, lambda own: cells.get(own.task), digest)


def _of_folder(name: str, path: Path) -> Reference:
    check_run(path)
    run = RunFolder(path)
    label = model_labels({path: run.record})[path]

    def find(own: CellScores) -> CellScores | None:
        return described(run.scores(own.name), run, label) if own.name in run.names else None

    model: Mapping[str, Any] = run.record["identity"]["model"]
    return Reference(name, path, find, model.get("fingerprint"), run.record["identity"])


def check_fits(
    references: Iterable[Reference], identity: Mapping[str, Any], tasks: Mapping[str, Sequence[str]]
) -> None:
    """Rejects references of another benchmark than that of a run.

    Args:
        references: the runs that are compared with.
        identity: that of the run, as run.yaml has it.
        tasks: name of a reference to the tasks whose metrics are compared.

    Raises:
        UserError: naming what differs.
    """
    for reference in references:
        for task in tasks.get(reference.name, ()):
            own, other = (_fitting(of, task) for of in (identity, reference.identity or {}))
            if found := differences(other, own):
                whose = f"the reference {reference.name} ({reference.path})"
                raise UserError(
                    f"{whose} does not fit: of {task}, {found[0]} in this run",
                    "evaluate the reference model with the same tasks, data, prompts and options",
                )


def check_chats(references: Iterable[Reference], identity: Mapping[str, Any], names: Collection[str]) -> None:
    """Rejects references whose model was shown the prompts in another form.

    Args:
        references: the runs that are compared with.
        identity: that of the run, as run.yaml has it.
        names: references that need the same form.

    Raises:
        UserError: naming what differs.
    """
    for reference in references:
        if reference.name in names and reference.identity is not None:
            models: list[Mapping[str, Any]] = [identity["model"], reference.identity["model"]]
            own, other = ({key: model[key] for key in CHAT if key in model} for model in models)
            if found := differences(other, own):
                raise UserError(
                    f"the reference {reference.name} ({reference.path}) does not fit: {found[0]} in this run",
                    "evaluate both models with the same chat settings",
                )


def _fitting(identity: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Returns what has to be the same in a run and its references."""
    of_task = identity.get("tasks", {}).get(task, {})
    whole = {key: identity[key] for key in ("variant", "max_gen_toks") if key in identity}
    shots = {"num_fewshot": identity["fewshot"]["num_fewshot"]} if "fewshot" in identity else {}
    return {**{key: of_task[key] for key in FITTING if key in of_task}, **whole, **shots} if of_task else {}


def check_rows(reference: Reference, own: CellScores, other: CellScores | None) -> None:
    """Rejects a cell of a reference run over another number of rows.

    Raises:
        UserError: naming both.
    """
    if reference.identity is not None and other is not None and own.rows != other.rows:
        raise UserError(
            f"the reference {reference.name} ({reference.path}) does not fit: "
            f"{own.name} has {other.rows:,} rows there and {own.rows:,} in this run",
            "run both with the same --eval.limit or --eval.sample",
        )
