"""Opens the run of a config: plans its cells, and locks its folder."""

import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

from afrieval._util.files import user_path
from afrieval._util.terminal import note
from afrieval.config.settings import RunConfig
from afrieval.models.model_identity import identity_of_model
from afrieval.models.processes import ALONE, Processes
from afrieval.models.registry import backend_of, check_backend_args
from afrieval.results.identity import merged
from afrieval.results.schema import DerivedFrom
from afrieval.run.manifest import default_folder, storable
from afrieval.run.plan import plan
from afrieval.run.suites.reference import check_comparable, open_references
from afrieval.tasks.cells.cell import Cell, Plan, RunPart

log = logging.getLogger("afrieval")

if TYPE_CHECKING:
    from afrieval.results.run_folder import RunFolder


@dataclass(frozen=True)
class Session:
    """The work of a process on a config's run folder.

    Attributes:
        processes: share the work; only the first reads and writes the folder.
        check: raises UserError if the folder is gone; called regularly and before writing.
        share: the name of one of several jobs, such as 1 of 2, that run some cells each; empty if all are run.
        of_share: the names of the cells that it runs, in a folder that names all of them.
    """

    config: RunConfig
    plan: Plan
    stored: "RunFolder"
    processes: Processes = ALONE
    check: Callable[[], None] = lambda: None
    share: str = ""
    of_share: Collection[str] = ()

    @property
    def cells(self) -> list[Cell]:
        """The cells of the plan; of a share, those that it runs."""
        return [cell for cell in self.plan.cells if not self.share or cell.name in self.of_share]

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that affects prompts, data, shots or model, as run.yaml has it.

        A folder may get more cells and a larger limit later; its identity must not change.
        """
        model, variant = storable(identity_of_model(self.config.model)), self.config.task.variant
        of_cells: RunPart = reduce(merged, (cell.identity for cell in self.plan.cells), {})
        return {"model": model, "variant": variant, **of_cells}

    def write(self, write: Callable[[], None]) -> None:
        """Lets the first process write to the folder; all processes call it together, and the others wait.

        It checks before that the folder is still there, so that a folder that was removed is not made again.
        """
        with self.processes.barrier():
            if self.processes.is_first:
                self.check()
                write()


@contextmanager
def open_run(config: RunConfig, processes: Processes = ALONE) -> Iterator[Session]:
    """Plans a config's run, prints what is left out of it, and locks its folder.

    Raises:
        UserError: as for `plan_run`, or if another process uses the folder; at the end, if the folder is gone.
    """
    with ExitStack() as stack:
        with processes.barrier():
            session = replace(plan_run(config), processes=processes)
            if processes.is_first:
                from afrieval.results.run_files import locked

                for line in session.plan.lines:
                    note(line)
                # held until the end: what a run has stored is read, added to and written whole again
                session = replace(session, check=stack.enter_context(locked(session.stored.path)))
        try:
            yield session
        except Exception:
            session.check()  # a missing folder is the likely cause of any error
            raise


def plan_run(config: RunConfig, dry: bool = False) -> Session:
    """Returns the planned run of a config; loads no model, and locks and writes nothing.

    Args:
        config: the merged config.
        dry: whether nothing will be sent to a server, so that its key may be missing.

    Raises:
        UserError: for settings that the backend lacks, missing data, or a reference run that is not comparable.
    """
    check_backend_args(config.model)
    if not dry:
        backend_of(config.model.model_type).check_key(config.model)
    from afrieval.results.run_folder import RunFolder

    planned = plan(config)
    folder = user_path(config.run_dir) if config.run_dir else default_folder(config, planned.cells)
    session = Session(config, planned, RunFolder(folder))
    log.debug("plan: in %s: %s", folder, ", ".join(cell.name for cell in planned.cells))
    if references := open_references(config.reference):
        check_comparable(references, session.identity, cast(dict[str, DerivedFrom], config.task.derived))
    return session
