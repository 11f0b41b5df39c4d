"""What happens inside a command that is under fire: it notes what it computes, and breaks where it is asked to."""

import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

WATCHED = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")  # of Python's audit events
WRITES = os.O_WRONLY | os.O_RDWR


def install(notes: str = "", place: str = "", dies: Sequence[Any] = (), collection: str = "") -> None:
    """Prepares a process before its command begins.

    Args:
        notes: file to note in what was computed, a line each; none if empty.
        place: folder in which each change is an event.
        dies: the event before which the process kills itself: what, of which kind of file, for which time.
        collection: folder of tasks of the harness.
    """
    if collection:
        _collect(Path(collection))
    note = _noting(notes)
    if notes:
        _count(note)
    if place:
        _count_changes(place, [*dies], note)


def _noting(path: str) -> Callable[[str], None]:
    """Returns a function that appends a line; what a killed process has noted stays."""
    if not path:
        return lambda text: None
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return lambda text: os.write(file, f"{text}\n".encode()) and None


def _count(note: Callable[[str], None]) -> None:
    """Notes each forward pass for a request with its tokens (`pass N`), and each answer that is computed (`answer`)."""
    import torch

    from afrieval.models.response_cache import CachedLM

    asks, keep, asking = CachedLM._ask_all, CachedLM._keep, list[str]()

    def ask_all(cached: Any, method: str, new: dict[str, Any]) -> Any:
        asking.append(method)
        try:
            return asks(cached, method, new)
        finally:
            asking.pop()
            note("stored")

    def keeping(cached: Any, key: str | None, answer: Any) -> None:
        note(f"answer {key}")
        keep(cached, key, answer)

    def before(module: Any, args: tuple[Any, ...]) -> None:
        if isinstance(module, torch.nn.Embedding) and asking:
            note(f"pass {args[0].numel()}")

    CachedLM._ask_all = ask_all  # type: ignore[method-assign]
    CachedLM._keep = keeping  # type: ignore[method-assign]
    torch.nn.modules.module.register_module_forward_pre_hook(before)


def _count_changes(place: str, dies: list[Any], note: Callable[[str], None]) -> None:
    """Notes each change of a folder (`event WHAT FILE`), and dies before one of them."""
    from afrieval.models.answer_file import AnswerFile

    times, sync, put = Counter[tuple[str, str]](), os.fsync, AnswerFile.put

    def event(what: str, path: str) -> None:
        of = kind_of_file(Path(path).name)
        times[what, of] += 1
        note(f"event {what} {of}")
        if [what, of, times[what, of]] == dies:
            os.kill(os.getpid(), signal.SIGKILL)

    def audited(name: str, args: tuple[Any, ...]) -> None:
        watched = name in WATCHED and isinstance(args[0], str | os.PathLike) and os.fspath(args[0]).startswith(place)
        if watched and (name != "open" or (args[2] or 0) & WRITES):
            event(name, os.fspath(args[0]))

    def synced(file: int) -> None:
        event("fsync", os.readlink(f"/proc/self/fd/{file}"))
        sync(file)

    def stored(answers: Any, key: str, answer: Any) -> None:
        event("put", str(answers._path))
        put(answers, key, answer)
        event("was-put", str(answers._path))

    os.fsync = synced
    AnswerFile.put = stored  # type: ignore[method-assign]
    sys.addaudithook(audited)


def kind_of_file(name: str) -> str:
    """Returns what all files of a kind have in their names."""
    name = re.sub(r"\.\d+$", "", name.removeprefix("."))
    return name.partition("_")[0] or "folder"


def _collect(folder: Path) -> None:
    """Lets tasks of the harness be those of a folder, as `tests.harness_collection` does."""
    import datasets
    from lm_eval.tasks import TaskManager

    from afrieval.harness import index

    found = TaskManager(include_path=str(folder / "tasks"), include_defaults=False)
    index.task_manager = lambda: found  # type: ignore[assignment]
    datasets.config.HF_DATASETS_CACHE = str(folder / "cache")
