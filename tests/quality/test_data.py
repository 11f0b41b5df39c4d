"""The data at hand has no defect that is not known."""

import pytest
from tests.conftest import REAL_DATA

from afrieval.data.lock import DataLock
from afrieval.quality.check import check_data
from afrieval.tasks.known_defects import known_defects
from afrieval.tasks.spec import load_task, task_names
from afrieval.tasks.splits import load_split

PARALLEL = [name for name in task_names() if load_task(name).parallel and not load_task(name).kin]


@pytest.mark.alldata
@pytest.mark.parametrize("task", PARALLEL)
def test_no_finding_is_new(task: str) -> None:
    found = check_data(load_task(task), str(REAL_DATA), DataLock()).findings
    assert not [(f.split, f.language, f.kind, f.rows, f.detail, dict(f.each)) for f in found if f.is_new]


@pytest.mark.data
@pytest.mark.parametrize("task", PARALLEL)
def test_known_defects_are_still_in_the_data(task: str) -> None:
    """A witness that no longer fits is of a corrected row: its entry can go."""
    spec = load_task(task)
    for defect in known_defects(spec):
        there = load_split(spec, defect.language, defect.split, str(REAL_DATA))
        if there is not None:
            found = defect.found_in(there.documents)
            assert found if defect.whole else found == sorted(defect.witnesses), (defect.language, defect.what)
