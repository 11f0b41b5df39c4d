"""What happens inside a command that is under fire: it notes what it computes, and breaks where it is asked to."""

import errno
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

WATCHED = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")  # of Python's audit events
WRITES = os.O_WRONLY | os.O_RDWR


def install(
    notes: str = "",
    place: str = "",
    at: Sequence[Any] = (),
    does: str = "kill",
    collection: str = "",
    patches: Sequence[str] = (),
) -> None:
    """Prepares a process before its command begins.

    Args:
        notes: file to note in what was computed, a line each; none if empty.
        place: folder in which each change is an event.
        at: the event at which something breaks: what, of which kind of file, for which time; 0 is for each.
        does: what breaks: one of `BREAKS`, or the name of an error such as ESTALE, which the change has then.
        collection: folder of tasks of the harness.
        patches: names of functions of `patches`, in which a number may follow a colon.
    """
    from tests.faults import patches as known

    if collection:
        _collect(Path(collection))
    note = _noting(notes)
    if notes:
        _count(note)
    for name, _, number in (patch.partition(":") for patch in patches):
        getattr(known, name)(*([int(number)] if number else []))
    if place:
        _count_changes(place, [*at], does, note)


def _noting(path: str) -> Callable[[str], None]:
    """Returns a function that appends a line; what a killed process has noted stays."""
    if not path:
        return lambda text: None
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(text: str) -> None:
        os.write(file, f"{text}\n".encode())

    return note


def _count(note: Callable[[str], None]) -> None:
    """Notes each forward pass for a request with its tokens (`pass N`), and each answer that is computed (`answer`)."""
    from tests.faults.patches import before_each_pass

    from afrieval.models.response_cache import CachedLM

    keep = CachedLM._keep

    def keeping(cached: Any, key: str | None, answer: Any) -> None:
        note(f"answer {key}")
        keep(cached, key, answer)

    CachedLM._keep = keeping  # type: ignore[method-assign, assignment]
    before_each_pass(lambda tokens: note(f"pass {tokens}"), lambda: note("stored"))


def _count_changes(place: str, at: list[Any], does: str, note: Callable[[str], None]) -> None:
    """Notes each change of a folder (`event WHAT FILE`), and breaks something before one of them."""
    from afrieval.models.answer_file import AnswerFile

    times, sync, put = Counter[tuple[str, str]](), os.fsync, AnswerFile.put

    def event(what: str, path: str) -> None:
        of = kind_of_file(Path(path).name)
        times[what, of] += 1
        note(f"event {what} {of}")
        if [what, of] == at[:2] and at[2] in (0, times[what, of]):
            if does in BREAKS:
                BREAKS[does](place)
            else:
                number = getattr(errno, does)
                raise OSError(number, os.strerror(number), path)

    def audited(name: str, args: tuple[Any, ...]) -> None:
        watched = name in WATCHED and isinstance(args[0], str | os.PathLike) and os.fspath(args[0]).startswith(place)
        if watched and (name != "open" or (args[2] or 0) & WRITES):
            event(name, os.fspath(args[0]))

    def synced(file: int) -> None:
        event("fsync", str(Path(f"/proc/self/fd/{file}").readlink()))
        sync(file)

    def stored(answers: Any, key: str, answer: Any) -> None:
        event("put", str(answers._path))
        put(answers, key, answer)
        event("was-put", str(answers._path))

    os.fsync = synced  # type: ignore[assignment]
    AnswerFile.put = stored  # type: ignore[method-assign, assignment]
    sys.addaudithook(audited)


BREAKS: dict[str, Callable[[str], object]] = {
    "kill": lambda place: os.kill(os.getpid(), signal.SIGKILL),
    "interrupt": lambda place: os.kill(os.getpid(), signal.SIGINT),
    "terminate": lambda place: os.kill(os.getpid(), signal.SIGTERM),
    "hang up": lambda place: os.kill(os.getpid(), signal.SIGHUP),
    "vanish": lambda place: subprocess.run(["rm", "-rf", place], check=True),
}


def kind_of_file(name: str) -> str:
    """Returns what all files of a kind have in their names."""
    name = re.sub(r"\.\d+$", "", name.removeprefix("."))
    return name.partition("_")[0] or "folder"


def _collect(folder: Path) -> None:
    """Lets tasks of the harness be those of a folder, as `tests.harness_collection` does."""
    import datasets
    from lm_eval.tasks import TaskManager

    from afrieval.run.harness import index

    found = TaskManager(include_path=str(folder / "tasks"), include_defaults=False)
    index.task_manager = lambda: found
    datasets.config.HF_DATASETS_CACHE = str(folder / "cache")
