"""Walks all folders below one, whatever is among them: links, folders that cannot be read, the system's own."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev")))  # their folders have no end, and their files may have no content
MOST = 50_000  # folders


def walked(
    top: Path, skipped: Callable[[Path], bool], lost: dict[Path, str]
) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yields a folder and those below it, each once, with its folders, which may be removed, and files.

    Links are followed, except to folders that contain `top` and to the system's own. Hidden folders are not entered.

    Args:
        top: where to begin.
        skipped: returns whether a folder is not entered.
        lost: receives what could not be entered, with the reason.
    """

    def note(error: OSError) -> None:
        lost[Path(error.filename)] = error.strerror or str(error)

    seen = {top.resolve()}
    for place, folders, files in os.walk(top, onerror=note, followlinks=True):
        here, entered = Path(place), []
        for name in sorted(folders):
            try:
                target = (here / name).resolve()
                if name.startswith(".") or target in seen or skipped(here / name):
                    continue
            except (OSError, RuntimeError) as e:  # a link that leads to itself by now
                lost[here / name] = str(e)
                continue
            if why := _refused(target, top, len(seen)):
                lost[top if len(seen) >= MOST else here / name] = why
                continue
            seen.add(target)
            entered.append(name)
        folders[:] = entered
        yield here, folders, files


def broken_links(folder: Path, files: list[str]) -> Iterator[Path]:
    """Yields the links in a folder that lead to nothing, or to themselves; hidden ones are left out."""
    paths = (folder / name for name in files if not name.startswith("."))
    yield from (path for path in paths if path.is_symlink() and not os.path.exists(path))  # noqa: PTH110 - never fails


def _refused(target: Path, top: Path, seen: int) -> str:
    """Returns why a folder is not entered; empty if it is."""
    inside = top.resolve()
    if inside.is_relative_to(target):
        return f"it is a link to {target}, which contains this folder"
    if any(target.is_relative_to(of) and not inside.is_relative_to(of) for of in SYSTEM):
        return f"{target} is a folder of the system"
    return f"it has more than {MOST:,} folders; the others are not read" if seen >= MOST else ""
