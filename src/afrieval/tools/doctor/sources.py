"""The data of tasks: whether they are in the data source, and whether they are what data.lock says."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.files import opened, user_path
from afrieval.config.settings import RunConfig
from afrieval.tasks.data.files import HUB, SAMPLES
from afrieval.tasks.data.hub import NotCachedError, check_access, fetch, only_cached
from afrieval.tasks.data.lock import LOCK, DataLock
from afrieval.tasks.data.splits import check_source, has_split, wanted_files
from afrieval.tasks.declaration.selection import chosen_tasks, named_languages
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tools.doctor.machine import CheckResult, of_error

SHOWN = 6  # languages in a line


class Needed(NamedTuple):
    """The rows that a config needs of a task.

    Attributes:
        spec: the task.
        languages: those to evaluate.
        shots: whether there are few-shot examples.
        source: hub, samples or a folder.
        demanded: whether a run ends if a language is missing.
        in_suite: whether a run leaves the task out if its data are missing.
    """

    spec: TaskSpec
    languages: tuple[str, ...]
    shots: bool
    source: str
    demanded: bool
    in_suite: bool

    @property
    def key(self) -> str:
        """A text that is the same if the same rows are needed."""
        return repr([self.spec.name, self.spec.data, *self[1:]])


def needed_data(config: RunConfig) -> list[Needed]:
    """Returns the data that a config needs, by task.

    Raises:
        UserError: for an unknown task or language.
    """
    task, source = config.task, config.data.source
    return [
        Needed(
            spec,
            tuple(named_languages(spec, task)),
            bool(config.eval.shots or spec.worked or spec.examples.all),
            source,
            bool(task.demanded),
            bool(task.suite),
        )
        for spec in chosen_tasks(config)
    ]


def data_finding(needed: Needed, lock: DataLock, hub: bool = True) -> CheckResult:
    """Returns whether the data of a task are in the source; the hub is asked only for what is not cached.

    Args:
        needed: what the config needs.
        lock: the commits to use.
        hub: whether the hub can be asked.
    """
    spec, check = needed.spec, f"data of {needed.spec.name}"
    if needed.source == SAMPLES:
        return CheckResult(check, "ok", "the sample rows that come with the task")
    absent, uncached = dict[str, list[str]](), list[str]()
    try:
        check_source(spec, needed.source)
        for language in needed.languages:
            try:
                with only_cached():
                    if split := _lacking(needed, language, lock):
                        absent.setdefault(split, []).append(language)
            except NotCachedError:
                uncached.append(language)
        for of in wanted_files(spec, uncached[0], spec.data.evaluate) if uncached else []:
            with nullcontext() if hub else only_cached():
                check_access(of.repository, lock.commits.get(of.repository, of.revision))
    except UserError as e:
        left_out = needed.in_suite and needed.source != HUB
        return CheckResult(check, "note", f"left out of the suite: {e.message}") if left_out else of_error(check, e)
    where, every = "the hub's cache" if needed.source == HUB else needed.source, len(needed.languages)
    if absent:
        return _absent(needed, check, where, absent)
    found = f"{every} {'language' if every == 1 else 'languages'} in {where}"
    if uncached:
        found = f"{every - len(uncached)} of {every} languages are in {where}; the others can be downloaded"
    return CheckResult(check, "ok", found)


def _absent(needed: Needed, check: str, where: str, absent: Mapping[str, Sequence[str]]) -> CheckResult:
    """Returns which rows are missing; a run leaves them out if it can."""
    more = {split: f" and {len(codes) - SHOWN} more" if codes[SHOWN:] else "" for split, codes in absent.items()}
    lists = [f"no {split} rows for {', '.join(codes[:SHOWN])}{more[split]}" for split, codes in absent.items()]
    found = f"{where} has {', and '.join(lists)}"
    if needed.demanded:
        return CheckResult(check, "problem", found, "remove these languages, or name another --data.source")
    if sum(map(len, absent.values())) == len(needed.languages) and not needed.in_suite:
        return CheckResult(check, "problem", found, "name another --data.source")
    return CheckResult(check, "note", f"{found}; left out")


def _lacking(needed: Needed, language: str, lock: DataLock) -> str:
    """Returns the split that the source does not have in a language; empty if all rows are there."""
    spec, examples = needed.spec, needed.spec.data.fewshot
    if not has_split(spec, language, spec.data.evaluate, needed.source, lock):
        return spec.data.evaluate
    pool = spec.direct or spec
    if needed.shots and examples:
        there = has_split(pool, spec.text_language or language, examples, needed.source, lock)
        return "" if there else examples
    return ""


def lock_findings(lock: DataLock, sources: Iterable[str]) -> list[CheckResult]:
    """Returns whether the files in each source are those that data.lock lists.

    Args:
        lock: what is locked.
        sources: data sources; the samples are never locked.
    """
    if not lock.files:
        cure = "write one with `afrieval prefetch --lock`, so that data cannot change unnoticed"
        return [CheckResult(str(LOCK), "note", "not in this folder", cure)]
    return [_locked(lock, source) for source in dict.fromkeys(sources) if source != SAMPLES]


def _locked(lock: DataLock, source: str) -> CheckResult:
    paths = {(of, name): _path(lock, of, name, source) for of, files in lock.files.items() for name in files}
    there = {place: path for place, path in paths.items() if path and path.is_file()}
    try:
        for (repository, name), path in there.items():
            with opened(path, "give another file, or name another --data.source") as file:
                lock.check(repository, name, hashlib.file_digest(file, "sha256").hexdigest())
    except UserError as e:
        return of_error(str(LOCK), e)
    absent = len(paths) - len(there)
    found = f"{len(there)} files in {source} are those that it lists" + (f"; {absent} are not there" if absent else "")
    return CheckResult(str(LOCK), "note" if absent else "ok", found)


def _path(lock: DataLock, repository: str, name: str, source: str) -> Path | None:
    hub, _, branch = repository.partition("@")
    if source != HUB:
        return user_path(source) / hub / name
    try:
        with only_cached():
            return fetch(hub, name, lock.commits.get(repository, branch or "main"))
    except NotCachedError:
        return None
