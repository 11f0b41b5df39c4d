"""Memory that is full, clocks that jump, network file systems: numbers stay, or an error says what to do."""

import signal
from pathlib import Path

import pytest
from tests.faults.kinds import KINDS, kind_named
from tests.faults.notes import parsed
from tests.faults.same import check_same
from tests.faults.summary import Record, reported
from tests.faults.zygote import Zygote, check_error
from tests.models.faulty import faulty

pytestmark = pytest.mark.faults
YEAR = 365 * 24 * 3600
HARMLESS = {
    "memory of the device is full now and then": "out_of_memory:40",
    "the clock jumps by a year, forwards and back": f"jumping_clock:{YEAR}",
    "removed files stay as .nfs files": "silly_renames",
}
FATAL = {
    "memory of the device is always full": ("out_of_memory:1", "memory is"),
    "memory of the host is full": ("little_memory:4", "there is not enough memory"),
    "the file system has no locks": ("no_locks", "No locks available"),
}
CHANGED = ("a suite", "tasks of the harness", "an API")
ERRORS = ("ESTALE", "EIO", "EROFS", "EDQUOT")


@pytest.mark.parametrize("name", KINDS)
def test_systems(name: str, zygote: Zygote, collection: Path, tmp_path: Path, record_property: Record) -> None:
    whole = tmp_path / "whole"
    with faulty(()) as server:
        kind = kind_named(name, collection, server)
        assert kind.run(zygote, whole)[0] == 0
        for number, (what, patch) in enumerate(HARMLESS.items()):
            status, said = kind.run(zygote, tmp_path / f"{number}", patches=[patch])
            if status and patch.startswith("out_of_memory"):  # without the engine, nothing smaller can be tried
                check_error(status, said, "memory is")
                status, said = kind.run(zygote, tmp_path / f"{number}")
            assert status == 0, (what, said)
            check_same(tmp_path / f"{number}", whole)
            reported(record_property, "Systems", what, 1, "same numbers")
        for number, (what, (patch, message)) in enumerate(FATAL.items(), len(HARMLESS)):
            status, said = kind.run(zygote, tmp_path / f"{number}", patches=[patch])
            if status == -signal.SIGKILL and patch.startswith("little_memory"):
                result = "hangs in Python, and was killed; then same numbers"
            elif status:
                check_error(status, said, message)
                result = "error, exit code 2; then same numbers"
            else:
                result = "same numbers"
                assert patch.startswith(("out_of_memory", "little_memory")), (what, said)  # nothing to be computed
            assert kind.run(zygote, tmp_path / f"{number}")[0] == 0
            check_same(tmp_path / f"{number}", whole)
            reported(record_property, "Systems", what, 1, result)


@pytest.mark.parametrize("name", CHANGED)
def test_each_change_that_fails_once(
    name: str, zygote: Zygote, collection: Path, tmp_path: Path, record_property: Record
) -> None:
    whole, faults = tmp_path / "whole", 0
    with faulty(()) as server:
        kind = kind_named(name, collection, server)
        notes = tmp_path / "notes"
        assert kind.run(zygote, whole, notes=str(notes), place=str(whole))[0] == 0
        for number, (what, of) in enumerate(sorted(parsed(notes).events)):
            folder = tmp_path / f"{number}"
            spec = {"place": str(folder), "at": [what, of, 1], "does": ERRORS[number % len(ERRORS)]}
            status, said = kind.run(zygote, folder, **spec)
            if status:
                check_error(status, said)
            faults += 1
            assert kind.run(zygote, folder)[0] == 0, (what, of)
            check_same(folder, whole)
    result = "error, exit code 2, or not needed; then same numbers"
    reported(record_property, "Systems", "a change of a file fails: ESTALE, EIO, EROFS, EDQUOT", faults, result)
