"""Every class of transformers that the harness loads: the engine returns its answers, or leaves it to the harness."""

import pytest
from tests.models.classes.thorough import ENGINE
from tests.models.classes.verdicts import NOT_BUILT, known, mapped, tried

pytestmark = pytest.mark.models
EXACT = 1e-3
CASES = [(backend, kind) for backend, verdicts in known().items() for kind in verdicts]


@pytest.mark.parametrize(("backend", "kind"), CASES)
def test_a_class_is_answered_right_or_left_alone(backend: str, kind: str) -> None:
    found = tried(backend, kind)
    expected = known()[backend][kind]
    assert found.verdict == expected
    if expected.startswith(ENGINE):
        assert found.error is not None and found.error < EXACT
        assert found.plain is not None and found.plain < EXACT


def test_all_classes_are_known() -> None:
    assert {b: set(kinds) for b, kinds in known().items()} == {b: set(kinds) for b, kinds in mapped().items()}


def test_few_classes_are_not_built() -> None:
    verdicts = [verdict for kinds in known().values() for verdict in kinds.values()]
    assert sum(verdict.startswith(NOT_BUILT) for verdict in verdicts) < len(verdicts) / 20
