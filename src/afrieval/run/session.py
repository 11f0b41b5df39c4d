"""A config to a run folder: the one way of the command and of the Python API."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from afrieval.config.settings import EvalConfig, ModelConfig, RunConfig
from afrieval.files.paths import user_path
from afrieval.models.backend_args import check_backend_args
from afrieval.models.processes import ALONE, Processes
from afrieval.run.folder_name import default_folder
from afrieval.run.plan import plan
from afrieval.tasks.cell import Cell, Plan
from afrieval.terminal import note

if TYPE_CHECKING:
    from afrieval.results.reader import RunFolder

Load = Callable[[ModelConfig, EvalConfig, Processes], Any]  # as `models.load.load_model`


@dataclass(frozen=True)
class Session:
    """What was run, and where it is stored.

    Attributes:
        stopped: whether Ctrl-C or a signal stopped it before its end.
    """

    config: RunConfig
    plan: Plan
    stored: "RunFolder"
    stopped: bool = False


Finish = Callable[[Session], None]
AfterCell = Callable[[Session, Cell], None]


def _nothing(*of: object) -> None:
    """What follows a cell whose prompts nobody wants to see, and what other processes look after."""


def run(
    read: Callable[[], RunConfig],
    finish: Finish,
    after_cell: AfterCell = _nothing,
    processes: Processes = ALONE,
    load: Load | None = None,
) -> None:
    """Runs what the run folder of a config lacks.

    Args:
        read: returns the config; where several processes read it, they say once what is wrong with it.
        finish: called in the locked folder at the end, also of a run that was stopped with some cells stored.
        after_cell: called with each cell once its samples are stored.
        processes: those that share the work; the first alone calls `finish` and `after_cell`.
        load: what loads the model; `load_model` if not given.

    Raises:
        UserError: for data that are not there, a model that cannot be loaded, or a folder that holds another run.
    """
    with processes.together():
        config = read()
        check_backend_args(config.model)
        planned = plan(config)
    from afrieval.results.files import locked
    from afrieval.results.reader import RunFolder

    folder = user_path(config.run_dir) if config.run_dir else default_folder(config, planned)
    session = Session(config, planned, RunFolder(folder))
    check: Callable[[], None] = _nothing
    with ExitStack() as stack:
        with processes.together():
            if processes.is_first:
                for line in planned.lines:
                    note(line)
                check = stack.enter_context(locked(folder))
        try:
            _evaluate(session, finish, after_cell, processes, check, load)
        except Exception:
            check()  # whatever it is, a folder that is gone is why
            raise


def _evaluate(
    session: Session,
    finish: Finish,
    after_cell: AfterCell,
    processes: Processes,
    check: Callable[[], None],
    load: Load | None,
) -> None:
    from afrieval.models.load import load_model
    from afrieval.run.evaluate import evaluate

    config, planned, stored = session.config, session.plan, session.stored
    try:
        evaluate(config, planned, stored, lambda c: after_cell(session, c), processes, check, load or load_model)
    except KeyboardInterrupt:
        if processes.is_first and stored.names:
            finish(Session(config, planned, stored, stopped=True))
        raise
    if processes.is_first:
        check()
        finish(session)
