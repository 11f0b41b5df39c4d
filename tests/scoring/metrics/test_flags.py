"""Open answers: whether there is one, and how long it is; neither ranks models."""

import pytest

from afrieval.scoring.base import Likelihood, Question, Response
from afrieval.scoring.metrics import metric


@pytest.mark.parametrize(
    ("given", "n"), [("ọ̀rọ̀ àwọn", 10), ("o\u0323\u0300", 2), (" yes\n", 3), (" \n", 0), ("", 0), (None, 0)]
)
def test_an_open_answer_has_content_and_a_length(given: str | None, n: int) -> None:
    answered, length = metric("answered"), metric("length")
    assert answered.measure(Response(given), Question("x")) == [float(n > 0)] and answered.higher_is_better
    assert length.measure(Response(given), Question("x")) == [n]
    assert not answered.ranked and not length.ranked
    assert answered.measure(Response(0, likelihoods=[Likelihood(-1.0, True)]), Question(0)) is None
