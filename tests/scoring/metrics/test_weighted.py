"""What contains a right answer, in every script, and which weight counts."""

import pytest

from afrieval.scoring.base import Question, Response
from afrieval.scoring.metrics import metric

TEA = {"Tea": 1.0, "milk tea": 0.5, "ሻይ በዳቦ": 0.5, "ƙwallon ƙafa": 0.25, "07:00": 0.25, "?!": 0.25}


@pytest.mark.parametrize(
    ("given", "weight"),
    [
        ("tea.", 1.0), ("A cup of TEA, in the morning", 1.0), ("Milk-tea", 1.0),  # the heaviest of two
        ("steak", 0.0), ("teas", 0.0), ("milk", 0.0), ("በዳቦ፣ ሻይ።", 0.5), ("ሻይ", 0.0), ("Ƙwallon ƙafa", 0.25),
        ("kwallon kafa", 0.0), ("at 07:00", 0.25), ("٠٧:٠٠", 0.25), ("7:00", 0.0), ("", 0.0), (None, 0.0),
        ("...", 0.0), ("?!", 0.25),
    ],
)  # fmt: skip
def test_an_answer_contains_a_right_one_if_it_has_all_its_words(given: str | None, weight: float) -> None:
    for name, expected in (("weighted_match", weight), ("any_match", float(weight > 0))):
        assert metric(name).measure(Response(given), Question(TEA)) == [expected]


@pytest.mark.parametrize("gold", [["tea"], "tea", 1, {}, {"tea": "much"}])
def test_answers_without_weights_are_not_measured(gold: object) -> None:
    assert metric("any_match").measure(Response("tea"), Question(gold)) is None
    assert metric("weighted_match").measure(Response("tea"), Question(gold)) is None
