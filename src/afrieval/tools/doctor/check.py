"""All checks of `afrieval doctor`, and their table."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval.config.settings import ModelConfig, RunConfig
from afrieval.models.backend_args import check_backend_args
from afrieval.models.registry import backend_of
from afrieval.report.table import Column, Table
from afrieval.tasks.data.files import HUB
from afrieval.tasks.data.lock import DataLock, read_lock
from afrieval.tools.doctor.machine import (
    browser_finding,
    folder_finding,
    gpu_findings,
    package_findings,
    processor_finding,
    ray_finding,
    slurm_finding,
)
from afrieval.tools.doctor.models import (
    PATIENCE,
    hub_finding,
    model_finding,
    server_finding,
    token_finding,
    unreachable,
)
from afrieval.tools.doctor.result import CheckResult, Slow, in_time, of_error
from afrieval.tools.doctor.sources import Needed, data_finding, lock_findings, needed_data

RUNS = "runs"  # where run folders are by default
LATE = "there is no answer"
AGAIN = "check the network, and try again"
LATER = 2.0  # seconds that a check may take in addition to its request


def check_all(configs: Sequence[RunConfig], executor: str = "local") -> list[CheckResult]:
    """Returns what all checks find, in the order of a table.

    Args:
        configs: what is to be run; empty to look at the machine alone.
        executor: what starts the jobs of a sweep: local, slurm or ray.

    Raises:
        UserError: for an unknown task or language, or a data.lock that cannot be read.
    """
    lock = read_lock()
    models = {repr(config.model): config.model for config in configs if config.model.model_name}
    needed = {of.key: of for config in configs for of in needed_data(config)}
    local = [*package_findings(), *_of_machine(configs)]
    slow = [*_of_hub(), *_of_models(models.values()), *_of_data(needed.values(), lock)]
    locked = lock_findings(lock, [of.source for of in needed.values()] or [HUB])
    slurm, ray = _if_needed(slurm_finding(), executor == "slurm"), _if_needed(ray_finding(), executor == "ray")
    return list(dict.fromkeys([*local, *in_time(slow, PATIENCE + LATER), *locked, slurm, ray, browser_finding()]))


def _if_needed(finding: CheckResult, needed: bool) -> CheckResult:
    """Returns what was found, as a problem if it is not in order but needed."""
    return finding._replace(status="problem") if needed and finding.status == "note" else finding


def _of_machine(configs: Sequence[RunConfig]) -> list[CheckResult]:
    import torch
    from huggingface_hub import constants

    wanted = any((c.model.device or "").startswith("cuda") or backend_of(c.model.model_type).needs_gpu for c in configs)
    folders = dict.fromkeys(user_path(config.run_dir or RUNS) for config in configs) or [Path(RUNS)]
    return [
        processor_finding(),
        *gpu_findings(torch, wanted),
        *(folder_finding("run folder", folder) for folder in folders),
        folder_finding("hub cache", Path(constants.HF_HUB_CACHE), holds_models=True),
    ]


def _of_hub() -> list[Slow]:
    return [
        Slow(hub_finding, unreachable(LATE)),
        Slow(token_finding, CheckResult("hub token", "note", LATE)),
    ]


def _of_models(models: Iterable[ModelConfig]) -> list[Slow]:
    return [
        Slow(partial(_of_model, model), CheckResult(f"model {model.model_name}", "problem", LATE, AGAIN))
        for model in models
    ]


def _of_model(model: ModelConfig) -> CheckResult:
    if backend_of(model.model_type).served:
        return server_finding(model)
    try:
        check_backend_args(model)
    except UserError as e:
        return of_error(f"model {model.model_name}", e)
    return model_finding(model)


def _of_data(needed: Iterable[Needed], lock: DataLock) -> list[Slow]:
    return [
        Slow(partial(data_finding, of, lock), CheckResult(f"data of {of.spec.name}", "problem", LATE, AGAIN))
        for of in needed
    ]


def doctor_table(found: Sequence[CheckResult]) -> Table:
    """Returns a table with a row for each finding."""
    columns = [Column("check"), Column("status"), Column("found"), Column("cure")]
    problems = sum(finding.status == "problem" for finding in found)
    said = {0: "No problem was found.", 1: "1 problem was found."}.get(problems, f"{problems} problems were found.")
    notes = ["Notes do not keep a run from working."]
    return Table("doctor", "This machine", columns, [list(finding) for finding in found], notes, [said])
