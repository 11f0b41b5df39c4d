"""Writes the folder of a run: run.yaml when a session begins, each cell as it is done, and the work at the end."""

from contextlib import suppress
from dataclasses import asdict
from typing import Any

from afrieval._util.errors import UserError
from afrieval.results.identity import check_same_run
from afrieval.results.run_files import harness_path, read_run, write_json, write_run, write_samples
from afrieval.run.manifest import record, suite_of
from afrieval.run.people_scores import with_earlier_ratings
from afrieval.run.session import Session
from afrieval.tasks.cells.cell import CellResult


class RunWriter:
    """Writes a session to its run folder.

    All processes of the session call each method together: the first one writes, and the others wait for it. It checks
    before that the folder is still there, so that a folder that was removed is not made again.

    Args:
        session: the session; its folder is locked.
    """

    def __init__(self, session: Session):
        self._session, self._folder = session, session.stored.path

    def begin(self, identity: dict[str, Any], entry: dict[str, Any]) -> None:
        """Adds the session to run.yaml; the files of new cells may follow.

        Raises:
            UserError: if the folder contains another run.
        """
        with self._session.processes.barrier():
            if self._may_write():
                # read again: the model's fingerprint, which was not known at the first check, is part of the identity
                stored = read_run(self._folder)
                check_same_run(stored.get("identity", {}), identity, self._folder, self._session.stored.names)
                write_run(self._folder, record(stored, self._session.plan, identity, entry))

    def cell(self, name: str, outcome: CellResult) -> None:
        """Writes the samples of a cell, last, since they mark it as done."""
        with self._session.processes.barrier():
            if self._may_write():
                if outcome.record is not None:
                    write_json(harness_path(self._folder, name), outcome.record)
                samples = with_earlier_ratings(self._session.stored, name, outcome.samples)
                write_samples(self._folder, name, samples)

    def end(self, work: dict[str, Any]) -> None:
        """Adds requests, tokens and seconds to this session in run.yaml."""
        with self._session.processes.barrier():
            if work and self._may_write():
                self._add(work)

    def stop(self, work: dict[str, Any]) -> None:
        """Adds the work of a session that is stopped; unlike others, each process calls it by itself."""
        if work and self._session.processes.is_first:
            with suppress(UserError, OSError):  # what ended the run is what the user has to hear of
                self._session.check()
                self._add(work)

    def complete(self) -> None:
        """Adds harness groups, the suite and the number of looks to run.yaml, if all cells are stored already."""
        with self._session.processes.barrier():
            if self._may_write():
                config, plan, stored = self._session.config, self._session.plan, read_run(self._folder)
                groups = {"harness_groups": stored.get("harness_groups", {}) | plan.groups} if plan.groups else {}
                suite = suite_of(asdict(config.task))
                looks = {"looks": config.eval.looks} if config.eval.looks > stored.get("looks", 1) else {}
                updated = {**stored, **groups, **({"suite": suite} if suite else {}), **looks}
                if updated != stored:
                    write_run(self._folder, updated)

    def _add(self, work: dict[str, Any]) -> None:
        stored = read_run(self._folder)
        *earlier, entry = stored["visits"]
        write_run(self._folder, {**stored, "visits": [*earlier, {**entry, "work": work}]})

    def _may_write(self) -> bool:
        """Returns whether this is the process that writes, after checking that the folder is there."""
        if self._session.processes.is_first:
            self._session.check()
        return self._session.processes.is_first
