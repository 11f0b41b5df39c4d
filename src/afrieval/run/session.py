"""Runs a config and stores the results, for both the command line and the Python API."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from afrieval._util.files import user_path
from afrieval._util.terminal import note
from afrieval.config.settings import EvalConfig, ModelConfig, RunConfig
from afrieval.models.backend_args import check_backend_args
from afrieval.models.openai.settings import check_key
from afrieval.models.processes import ALONE, Processes
from afrieval.results.schema import DerivedFrom
from afrieval.run.manifest import default_folder, identity
from afrieval.run.plan import plan
from afrieval.run.suites.reference import open_references
from afrieval.run.suites.run import check_comparable
from afrieval.tasks.cells.cell import Cell, Plan

if TYPE_CHECKING:
    from afrieval.results.run_folder import RunFolder

Load = Callable[[ModelConfig, EvalConfig, Processes], Any]  # as `models.load.load_model`


@dataclass(frozen=True)
class Session:
    """A config's run and its folder.

    Attributes:
        stopped: whether the run was interrupted.
    """

    config: RunConfig
    plan: Plan
    stored: "RunFolder"
    stopped: bool = False


Finish = Callable[[Session], None]
AfterCell = Callable[[Session, Cell], None]


def _nothing(*of: object) -> None:
    """Does nothing; the default callback."""


def run(
    read: Callable[[], RunConfig],
    finish: Finish,
    after_cell: AfterCell = _nothing,
    processes: Processes = ALONE,
    load: Load | None = None,
) -> None:
    """Runs the missing cells of a config's run folder.

    Args:
        read: returns the config; several processes report its errors only once.
        finish: called with the folder locked, also after an interrupted run with stored cells.
        after_cell: called with each cell once its samples are stored.
        processes: share the work; only the first calls `finish` and `after_cell`.
        load: loads the model; by default `load_model`.

    Raises:
        UserError: for missing data, a model that cannot be loaded, or a folder with another run.
    """
    with processes.barrier():
        session = prepared(read)
    from afrieval.results.run_files import locked

    check: Callable[[], None] = _nothing
    with ExitStack() as stack:
        with processes.barrier():
            if processes.is_first:
                for line in session.plan.lines:
                    note(line)
                check = stack.enter_context(locked(session.stored.path))
        try:
            _evaluate(session, finish, after_cell, processes, check, load)
        except Exception:
            check()  # a missing folder is the likely cause of any error
            raise


def prepared(read: Callable[[], RunConfig], dry: bool = False) -> Session:
    """Returns the planned run of a config; loads no model and writes nothing.

    Args:
        read: returns the config.
        dry: whether nothing will be sent to a server, so that its key may be missing.

    Raises:
        UserError: for an invalid config, missing data, or a reference run that is not comparable.
    """
    config = read()
    check_backend_args(config.model)
    if not dry:
        check_key(config.model)
    planned = plan(config)
    if references := open_references(config.reference):
        check_comparable(references, identity(config, planned), _declared(config))
    from afrieval.results.run_folder import RunFolder

    folder = user_path(config.run_dir) if config.run_dir else default_folder(config, planned)
    return Session(config, planned, RunFolder(folder))


def _declared(config: RunConfig) -> dict[str, DerivedFrom]:
    return cast(dict[str, DerivedFrom], config.task.derived)


def _evaluate(
    session: Session,
    finish: Finish,
    after_cell: AfterCell,
    processes: Processes,
    check: Callable[[], None],
    load: Load | None,
) -> None:
    from afrieval.run.evaluate import evaluate

    config, planned, stored = session.config, session.plan, session.stored
    try:
        evaluate(config, planned, stored, lambda c: after_cell(session, c), processes, check, load)
    except KeyboardInterrupt:
        if processes.is_first and stored.names:
            finish(Session(config, planned, stored, stopped=True))
        raise
    if processes.is_first:
        check()
        finish(session)
