"""Moves what several processes have run, each in a folder of its own, into one run folder."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from afrieval._util.files import opened, read_bytes
from afrieval._util.whole_files import write_whole, written_whole
from afrieval.results.identity import check_same_run, merged
from afrieval.results.run_files import ANSWERS, RUN, harness_path, sample_path, write_run
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import REDO


def merge(target: RunFolder, share: RunFolder, cells: Iterable[str]) -> None:
    """Copies finished cells and all answers of a share into a run folder; both must be locked.

    A merge that was stopped is finished by the next one, and a second one changes nothing.

    Args:
        target: the run folder, which may be empty.
        share: the folder of the share.
        cells: names of cells that are to be as the share has them.

    Raises:
        UserError: if they are not of the same run, or a file is damaged.
    """
    if not (of_share := share.record):
        return
    check_same_run(target.record.get("identity", {}), of_share["identity"], target.path)
    write_run(target.path, _record(target.record, of_share))
    for path in sorted(share.path.glob(ANSWERS)):
        _add_answers(target.path / path.name, path)
    for name in cells:
        for place in (harness_path, sample_path):  # samples last, since they mark the cell as done
            if (path := place(share.path, name)).exists():
                write_whole(place(target.path, name), read_bytes(path, REDO))


def begin_share(share: RunFolder, target: RunFolder) -> None:
    """Copies what a run folder knows of its run, and all answers, to the folder of a share that has nothing yet."""
    if share.record or not target.record:
        return
    for path in sorted(target.path.glob(ANSWERS)):
        _add_answers(share.path / path.name, path)
    write_run(share.path, target.record)


def _record(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the content of run.yaml with the cells and visits of both, visits in the order of their dates."""
    visits = [*old.get("visits", [])]
    visits += [visit for visit in new.get("visits", []) if visit not in visits]
    both = merged(old, {key: value for key, value in new.items() if key not in ("cells", "visits")})
    both |= {"suite": new["suite"]} if "suite" in new else {}
    both["cells"] = sorted({*old.get("cells", []), *new.get("cells", [])})
    both["visits"] = sorted(visits, key=lambda visit: str(visit.get("date", "")))
    return {key: both[key] for key in [*new, *(key for key in both if key not in new)]}


def _add_answers(target: Path, source: Path) -> None:
    """Adds the answers in a file to another one; of several to a request, the last is kept, as `AnswerFile` does."""
    paths = [path for path in (target, source) if path.exists()]
    last = {key: (path, at) for path in paths for at, (key, _) in enumerate(_answers(path))}
    with written_whole(target) as file:
        for path in paths:
            for at, (key, line) in enumerate(_answers(path)):
                if last[key] == (path, at):
                    file.write(line.rstrip(b"\n") + b"\n")


def _answers(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yields the key and the line of each answer in a file; a line that is not whole is left out."""
    with opened(path, "delete it; answers that only it has are asked for again") as lines:
        for line in lines:
            key = line.split(b'"', 2)[1] if line.count(b'"') > 1 else b""
            if key and line.rstrip().endswith(b"]"):
                yield key, line


def remove_share(folder: Path) -> None:
    """Removes a share that is merged, and folders that are then empty.

    run.yaml is the last file: without it, samples would be nobody's.
    """
    for path in sorted(folder.iterdir(), key=lambda path: path.name == RUN):
        with suppress(OSError):  # a lock may be kept by the file system until it is released
            path.unlink()
    with suppress(OSError):  # the first one that is not empty
        for place in (folder, *folder.parents):
            place.rmdir()
