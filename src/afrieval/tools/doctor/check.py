"""All checks of `afrieval doctor`, those of the data of tasks among them, and their table."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import opened, user_path
from afrieval.config.settings import ModelConfig, RunConfig, TaskConfig
from afrieval.models.registry import backend_of
from afrieval.report.columns import Column
from afrieval.report.table import Table
from afrieval.tasks.data.files import HUB, SAMPLES
from afrieval.tasks.data.hub import NotCachedError, check_access, fetch, only_cached
from afrieval.tasks.data.lock import LOCK, DataLock, read_lock
from afrieval.tasks.data.splits import check_source, has_split, wanted_files
from afrieval.tasks.declaration.selection import chosen_tasks, named_languages
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tools.doctor.machine import (
    CheckResult,
    folder_finding,
    gpu_findings,
    of_error,
    package_findings,
    processor_finding,
)
from afrieval.tools.doctor.models import hub_finding, model_finding, token_finding
from afrieval.tools.jobs.start import EXECUTORS

SHOWN = 6  # languages in a line
RUNS = "runs"  # where run folders are by default


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


def data_finding(
    spec: TaskSpec, task: TaskConfig, source: str, lock: DataLock, hub: bool = True, examples: bool = False
) -> CheckResult:
    """Returns whether the rows that are needed of a task are in a data source.

    The hub is asked, if it can be, only for what is not cached. `examples` says whether prompts have few-shot examples.
    """
    check = f"data of {spec.name}"
    if source == SAMPLES:
        return CheckResult(check, "ok", "the sample rows that come with the task")
    shots = bool(examples or spec.worked or spec.examples.all)
    absent, uncached, languages = dict[str, list[str]](), list[str](), list(named_languages(spec, task))
    try:
        check_source(spec, source)
        for language in languages:
            try:
                with only_cached():
                    if split := _lacking(spec, language, source, shots, lock):
                        absent.setdefault(split, []).append(language)
            except NotCachedError:
                uncached.append(language)
        for file in wanted_files(spec, uncached[0], spec.data.evaluate) if uncached else []:
            with nullcontext() if hub else only_cached():
                check_access(file.repository, lock.commits.get(file.repository, file.revision))
    except UserError as e:
        left_out = task.suite and source != HUB
        return CheckResult(check, "note", f"left out of the suite: {e.message}") if left_out else of_error(check, e)
    where, total = "the hub's cache" if source == HUB else source, len(languages)
    if absent:
        return _absent(task, check, f"{where} has ", absent, total)
    finding = f"{total} {'language' if total == 1 else 'languages'} in {where}"
    if uncached:
        finding = f"{total - len(uncached)} of {total} languages are in {where}; the others can be downloaded"
    return CheckResult(check, "ok", finding)


def _absent(task: TaskConfig, check: str, has: str, absent: Mapping[str, list[str]], total: int) -> CheckResult:
    more = {split: f" and {len(codes) - SHOWN} more" if codes[SHOWN:] else "" for split, codes in absent.items()}
    lists = [f"no {split} rows for {', '.join(codes[:SHOWN])}{more[split]}" for split, codes in absent.items()]
    finding = f"{has}{', and '.join(lists)}"
    if task.demanded:
        return CheckResult(check, "problem", finding, "remove these languages, or name another --data.source")
    if sum(map(len, absent.values())) == total and not task.suite:
        return CheckResult(check, "problem", finding, "name another --data.source")
    return CheckResult(check, "note", f"{finding}; left out")


def _lacking(spec: TaskSpec, language: str, source: str, shots: bool, lock: DataLock) -> str:
    """Returns the split that a source does not have in a language; empty if all rows are there."""
    if not has_split(spec, language, spec.data.evaluate, source, lock):
        return spec.data.evaluate
    examples = spec.data.fewshot if shots else None
    if examples and not has_split(spec.direct or spec, spec.text_language or language, examples, source, lock):
        return examples
    return ""


def lock_findings(lock: DataLock, sources: Iterable[str]) -> list[CheckResult]:
    """Returns whether the files in each source are those that data.lock lists."""
    if not lock.files:
        cure = "write one with `afrieval prefetch --lock`, so that data cannot change unnoticed"
        return [CheckResult(str(LOCK), "note", "not in this folder", cure)]
    return [_locked(lock, source) for source in dict.fromkeys(sources) if source != SAMPLES]


def _locked(lock: DataLock, source: str) -> CheckResult:
    paths = {(of, name): _path(lock, of, name, source) for of, files in lock.files.items() for name in files}
    present = {place: path for place, path in paths.items() if path and path.is_file()}
    try:
        for (repository, name), path in present.items():
            with opened(path, "give another file, or name another --data.source") as file:
                lock.check(repository, name, hashlib.file_digest(file, "sha256").hexdigest())
    except UserError as e:
        return of_error(str(LOCK), e)
    absent = len(paths) - len(present)
    finding = f"{len(present)} files in {source} are those that it lists" + (
        f"; {absent} are not there" if absent else ""
    )
    return CheckResult(str(LOCK), "note" if absent else "ok", finding)


def _path(lock: DataLock, repository: str, name: str, source: str) -> Path | None:
    hub, _, branch = repository.partition("@")
    if source != HUB:
        return user_path(source) / hub / name
    try:
        with only_cached():
            return fetch(hub, name, lock.commits.get(repository, branch or "main"))
    except NotCachedError:
        return None
