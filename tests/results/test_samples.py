"""What a sample line says."""

import pytest

from afrieval.results.samples import Sample, is_unparsed


@pytest.mark.parametrize(
    ("line", "unparsed"),
    [
        ({"answer": None, "unparsed": 1.0}, True),
        ({"answer": 0, "unparsed": 0.0}, False),
        ({"answer": [], "unparsed": 0.0}, False),
        ({"acc": 0.0}, False),
    ],
)
def test_unparsed_answers(line: Sample, unparsed: bool) -> None:
    assert is_unparsed(line) is unparsed
