"""All checks of `afrieval doctor`, and their table."""

from collections.abc import Callable, Sequence
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.registry import Registry
from afrieval.config.settings import ModelConfig, RunConfig
from afrieval.models.registry import backend_of
from afrieval.report.columns import Column
from afrieval.report.table import Table
from afrieval.tasks.data.files import HUB
from afrieval.tasks.data.lock import read_lock
from afrieval.tasks.declaration.selection import chosen_tasks
from afrieval.tools.doctor.machine import (
    CheckResult,
    folder_finding,
    gpu_findings,
    of_error,
    package_findings,
    processor_finding,
)
from afrieval.tools.doctor.models import hub_finding, model_finding, token_finding
from afrieval.tools.doctor.sources import data_finding, lock_findings
from afrieval.tools.jobs.start import EXECUTORS

RUNS = "runs"  # where run folders are by default
# By what kind of file has several runs: their configs, and what starts them.
FILES_OF_RUNS: Registry[Callable[[Path], tuple[list[RunConfig], str]]] = Registry(
    "file of runs", "afrieval.files_of_runs", {}, needs=["__call__"]
)


def check_all(configs: Sequence[RunConfig], executor: str = "local") -> list[CheckResult]:
    """Returns what all checks find, in the order of a table; if the hub does not answer, it is asked once.

    Without configs, it looks at the machine alone.

    Raises:
        UserError: for an unknown task or language, or a data.lock that cannot be read.
    """
    lock = read_lock()
    models = {repr(config.model): config.model for config in configs if config.model.model_name}
    needed = {
        repr([spec.name, config.task, config.data, bool(config.eval.shots)]): (config, spec)
        for config in configs
        for spec in chosen_tasks(config)
    }
    lines = [
        *package_findings(),
        *_of_machine([c.model for c in configs], [c.run_dir for c in configs]),
        hub := hub_finding(),
    ]
    reachable = hub.status == "ok"
    lines += [token_finding(reachable)]
    lines += [model_finding(model, reachable) for model in models.values()]
    lines += [
        data_finding(spec, config.task, config.data.source, lock, reachable, bool(config.eval.shots))
        for config, spec in needed.values()
    ]
    lines += lock_findings(lock, [config.data.source for config, _ in needed.values()] or [HUB])
    try:
        EXECUTORS[executor].check_installed()
    except UserError as e:
        lines.append(of_error(executor, e))
    return list(dict.fromkeys(lines))


def _of_machine(models: Sequence[ModelConfig], run_folders: Sequence[str | None]) -> list[CheckResult]:
    from huggingface_hub import constants

    try:
        import torch
    except (ImportError, OSError):  # another check says that it is missing; a library of it may be, too
        torch = None
    needs_gpu = any((m.device or "").startswith("cuda") or backend_of(m.model_type).needs_gpu for m in models)
    folders = dict.fromkeys(user_path(folder or RUNS) for folder in run_folders) or [Path(RUNS)]
    return [
        processor_finding(),
        *(gpu_findings(torch, needs_gpu) if torch else ()),
        *(folder_finding("run folder", folder) for folder in folders),
        folder_finding("hub cache", Path(constants.HF_HUB_CACHE), holds_models=True),
    ]


def doctor_table(lines: Sequence[CheckResult]) -> Table:
    """Returns a table with a row for each finding."""
    columns = [Column("check"), Column("status"), Column("found"), Column("cure")]
    problems = sum(finding.status == "problem" for finding in lines)
    verdict = {0: "No problem was found.", 1: "1 problem was found."}.get(problems, f"{problems} problems were found.")
    notes = ["Notes do not keep a run from working."]
    return Table("doctor", "This machine", columns, [list(finding) for finding in lines], notes, [verdict])
