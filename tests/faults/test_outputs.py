"""Files and folders that commands write: killed, on full disks, where nothing can be written, and where they vanish."""

import hashlib
import shutil
import signal
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.faults.disks import disk
from tests.faults.notes import parsed
from tests.faults.summary import Record, reported
from tests.faults.zygote import Zygote, check_error

pytestmark = pytest.mark.faults
EXPORTS = ("csv", "parquet", "every-eval-ever", "harness-results", "huggingface-eval-yaml")
COMMANDS = {
    "report": "report RUN -o OUT/page.html",
    "leaderboard": "leaderboard RUNS -o OUT/site",
    "plot": "plot RUN --kind languages -o OUT/plot.svg",
    "compare, CSV": "compare RUN --csv OUT/table.csv",
    "review sheet": "review sheet --language yor --output OUT/yor.csv",
    "export of tasks": "export --to harness OUT/tasks --task.task_name afrimmlu --data.source samples",
    **{f"export, {form}": f"export --to {form} OUT/export --run RUN" for form in EXPORTS},
}
CHANGING = {"report", "leaderboard", "plot", "export, every-eval-ever"}  # what they write says when


@pytest.fixture(scope="module")
def run(zygote: Zygote, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    words = "run --model.model_name demo --data.source samples --task.task_name afrixnli --task.prompt_language both"
    words += " --task.languages yor,hau --task.prompts 1,2"
    assert zygote.run([*words.split(), "--run_dir", folder])[0] == 0
    return folder


def words_of(name: str, run: Path, out: Path) -> list[str]:
    return [
        w.replace("OUT", str(out)).replace("RUNS", str(run.parent)).replace("RUN", str(run))
        for w in COMMANDS[name].split()
    ]


def files(folder: Path, name: str) -> dict[str, str]:
    """Returns what a folder has: contents, or only names where they say when they were written."""
    found = {str(p.relative_to(folder)): p for p in sorted(folder.rglob("*")) if not p.is_dir()}
    changing = name in CHANGING
    return {key: "" if changing else hashlib.sha256(p.read_bytes()).hexdigest() for key, p in found.items()}


class Undisturbed(NamedTuple):
    """What a command writes, and the kinds of changes that it makes."""

    files: dict[str, str]
    events: list[tuple[str, str]]


@pytest.fixture
def undisturbed(request: pytest.FixtureRequest, zygote: Zygote, run: Path, tmp_path: Path) -> Undisturbed:
    name, place, notes = request.node.callspec.params["name"], tmp_path / "expected", tmp_path / "notes"
    place.mkdir()
    status, said = zygote.run(words_of(name, run, place), notes=str(notes), place=str(place))
    assert status == 0, said
    return Undisturbed(files(place, name), sorted(parsed(notes).events))


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_each_change(
    name: str, zygote: Zygote, run: Path, undisturbed: Undisturbed, tmp_path: Path, record_property: Record
) -> None:
    out, faults = tmp_path / "out", 0
    out.mkdir()
    for what, of in undisturbed.events:
        status, said = zygote.run(words_of(name, run, out), place=str(out), at=[what, of, 1])
        faults += status == -signal.SIGKILL
        status, said = zygote.run(words_of(name, run, out))
        assert status == 0, (what, of, said)
        assert files(out, name) == undisturbed.files, (what, of)
        shutil.rmtree(out)
        out.mkdir()
    reported(record_property, "Outputs", f"{name}: killed at each kind of change", faults, "nothing left over")


@pytest.mark.parametrize("name", COMMANDS)
def test_full_disks(
    name: str, zygote: Zygote, run: Path, undisturbed: Undisturbed, tmp_path: Path, record_property: Record
) -> None:
    faults, size = 0, sum(-(-p.stat().st_size // 4096) * 4 for p in (tmp_path / "expected").rglob("*"))
    for kilobytes in sorted({0, size // 3 // 4 * 4, size * 2 // 3 // 4 * 4, max(0, size - 4)}):
        with disk(tmp_path / f"{kilobytes}", f"size={kilobytes + 4}k") as small:
            (small.path / "filler").write_bytes(bytes(4096))  # a file system without any room is not possible
            out = small.path / "out"
            out.mkdir()
            status, said = zygote.run(words_of(name, run, out))
            if status:
                faults += 1
                check_error(status, said, "No space left on device")
                assert files(out, name).items() <= undisturbed.files.items(), "a file is whole, or not there"
                small.change("size=64m")
                assert zygote.run(words_of(name, run, out))[0] == 0
            assert files(out, name) == undisturbed.files
    assert faults or not undisturbed.files  # demo rows are not for the Hub
    reported(record_property, "Outputs", f"{name}: disk full", faults, "error, exit code 2")


@pytest.mark.parametrize("name", COMMANDS)
def test_places_that_cannot_be_written(
    name: str, zygote: Zygote, run: Path, undisturbed: Undisturbed, tmp_path: Path, record_property: Record
) -> None:
    with disk(tmp_path / "disk") as small:
        small.change("ro")
        check_error(*zygote.run(words_of(name, run, small.path)))
    out = tmp_path / "out"
    for what, of in undisturbed.events:
        out.mkdir()
        status, said = zygote.run(words_of(name, run, out), place=str(out), at=[what, of, 1], does="vanish")
        if status:
            check_error(status, said)
        shutil.rmtree(out, ignore_errors=True)
    faults, result = 1 + len(undisturbed.events), "error, exit code 2, unless all was written"
    reported(record_property, "Outputs", f"{name}: read-only, or vanishes", faults, result)
