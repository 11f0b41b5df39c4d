"""Runs on disks that are full: at each kind of file, an error names it, and with more room the run goes on."""

from collections import Counter
from pathlib import Path

import pytest
from tests.faults.disks import disk
from tests.faults.inside import kind_of_file
from tests.faults.kinds import kind_named
from tests.faults.same import check_same
from tests.faults.summary import Record, reported
from tests.faults.zygote import Zygote, check_error
from tests.models.faulty import faulty

pytestmark = pytest.mark.faults
PAGE = 4  # kilobytes
# summary.csv, derived.json and results.json fit into the room that run.yaml needed before; test_systems has them.
ALWAYS = {"run.yaml", "answers", "samples"}
KINDS = {"a suite": set[str](), "tasks of the harness": {"harness"}, "an API": {"usage.csv"}}


def sizes(folder: Path) -> list[int]:
    """Returns sizes of disks, in kilobytes, at which each kind of file of a run may be the one without room."""
    whole = sum(-(-path.stat().st_size // (PAGE * 1024)) * PAGE for path in folder.iterdir())
    spread = range(PAGE, whole, max(PAGE, whole // 8 // PAGE * PAGE))
    return sorted({0, *range(PAGE, 5 * PAGE, PAGE), *spread, *range(whole - 8 * PAGE, whole, PAGE)})


@pytest.mark.parametrize("name", KINDS)
def test_runs_on_full_disks(
    name: str, zygote: Zygote, collection: Path, tmp_path: Path, record_property: Record
) -> None:
    full = Counter[str]()
    with faulty(()) as server:
        kind = kind_named(name, collection, server)
        assert kind.run(zygote, tmp_path / "whole")[0] == 0
        for kilobytes in sizes(tmp_path / "whole"):
            with disk(tmp_path / f"{kilobytes}", f"size={kilobytes + PAGE}k") as small:
                (small.path / "filler").write_bytes(bytes(PAGE * 1024))  # no disk can be without any room
                status, said = kind.run(zygote, small.path / "run")
                if status:
                    check_error(status, said, "cannot be written: No space left on device")
                    named = said.partition("error: ")[2].partition(" cannot be written")[0]
                    full[kind_of_file(Path(named).name)] += 1
                    small.change("size=64m")
                    assert kind.run(zygote, small.path / "run")[0] == 0
                check_same(small.path / "run", tmp_path / "whole")
    assert set(full) >= ALWAYS | KINDS[name]
    for of, times in full.items():
        reported(record_property, "Full disks", f"no room for {of}", times, "error, exit code 2; then same numbers")
