"""The data at hand has no defect that is not known."""

from pathlib import Path

import pytest
from tests.conftest import REAL_DATA, spec_of

from afrieval.tasks.data.lock import DataLock
from afrieval.tasks.data.splits import has_split, load_split
from afrieval.tasks.declaration.known_facts import known_defects
from afrieval.tasks.declaration.spec import load_task, task_names
from afrieval.tools.data_checks.check import check_data


def _there(task: str) -> bool:
    """Whether the folder has rows of a task; without a folder all have, for pytest to skip them by name."""
    spec = spec_of(task)
    return not REAL_DATA or any(
        has_split(spec, c, split, REAL_DATA) for c in spec.languages for split in spec.data.files
    )


def _defects(task: str) -> Path:
    return (spec_of(task).folder / spec_of(task).data.defects).resolve()


PARALLEL = [name for name in task_names() if spec_of(name).parallel and not spec_of(name).kin and _there(name)]
# Tasks that share their known defects, such as those with and without a chain of thought, read the same rows.
DISTINCT = {_defects(name): name for name in reversed(PARALLEL)}
KNOWN = [name for name in task_names() if _defects(name).is_file() and _there(name)]


@pytest.mark.alldata
@pytest.mark.parametrize("task", DISTINCT.values())
def test_no_finding_is_new(task: str) -> None:
    found = check_data(load_task(task), str(REAL_DATA), DataLock())
    assert not [(f.split, f.language, f.kind, f.rows, f.detail, dict(f.each)) for f in found if f.is_new]


@pytest.mark.data
@pytest.mark.parametrize("task", KNOWN)
def test_known_defects_are_still_in_the_data(task: str) -> None:
    """A witness that no longer fits is of a corrected row: its entry can go."""
    spec = load_task(task)
    for defect in known_defects(spec):
        there = load_split(spec, defect.language, defect.split, str(REAL_DATA))
        if there is not None:
            found = defect.found_in(there.documents)
            assert found if defect.whole else found == sorted(defect.witnesses), (defect.language, defect.what)
