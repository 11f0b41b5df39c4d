"""What people say of answers becomes a metric, and where enough do, so does what corrects a judge."""

from typing import Any

import pytest

from afrieval.results.samples import Sample
from afrieval.run.people_scores import with_people, with_rubric, without_rubric
from afrieval.scoring.rubric import Rubric
from afrieval.scoring.statistics.corrected import FEWEST

STEPS = {"1": "bad", "2": "fair", "3": "good"}
KINDS = {"refused": "did not", "complied": "did"}


def line(number: int, ratings: dict[str, str], **other: Any) -> Sample:
    found: Sample = {"doc_id": number, "doc": {"gold": "refused"}, "metrics": ["answered"], "answered": 1.0}
    return {**found, "measures": {"answered": [1.0]}, **({"ratings": ratings} if ratings else {}), **other}


def judged(number: int, ratings: dict[str, str], level: str | None, worth: float) -> Sample:
    found = line(
        number,
        ratings,
        judged={"judge_a": {"level": level, "reason": ""}, "judge_a_vs_b": {"level": "win", "orders": []}},
    )
    if level is None:
        return found
    measures = {**found["measures"], "judge_a": [worth]}
    return {**found, "metrics": [*found["metrics"], "judge_a"], "judge_a": worth, "measures": measures}


def test_people_have_the_mean_of_their_levels() -> None:
    defective: Sample = {"doc_id": 2, "metrics": [], "resps": []}
    lines = [line(0, {"Amina": "3", "Bello": "2"}), line(1, {}), defective]
    first, *rest = with_people(lines, STEPS)
    assert first["people"] == 0.75 and first["measures"]["people"] == [0.75]
    assert first["metrics"] == ["answered", "people"]
    assert rest == lines[1:]
    assert with_people([line(0, {"Amina": "refused", "Bello": "complied"})], KINDS)[0]["people"] == 0.5
    del first["ratings"]
    assert with_people([first, *rest], STEPS) == [line(0, {}), *rest]


@pytest.mark.parametrize("enough", [True, False])
def test_a_judge_is_corrected_where_enough_is_rated(enough: bool) -> None:
    rated = [judged(n, {"Amina": "2"}, "3", 1.0) for n in range(FEWEST - 1 + enough)]
    lines = [*rated, judged(50, {}, None, 0), judged(51, {}, "1", 0.0)]
    found = with_people(lines, STEPS)
    if not enough:
        assert not any("corrected_a" in line["metrics"] for line in found)
        return
    assert [line["measures"]["corrected_a"] for line in found[-3:]] == [[1.0, 0.5, 1.0], [0.5, 0.0, 0.0], [0.0] * 3]
    assert found[-1]["metrics"] == ["answered", "judge_a", "corrected_a"]
    assert with_people(found, STEPS) == found
    del found[0]["ratings"]
    assert with_people(found, STEPS) == [judged(0, {}, "3", 1.0), *with_people(lines[1:], STEPS)]


def test_signatures_are_of_the_judge_and_the_rubric() -> None:
    given = {"judge_a": "a|0.1", "judge_a_vs_b": "b", "comet_x": "x", "people": "old"}
    rubric = Rubric(2, "Is it good?", STEPS, ["question"])
    of_people = f"rubric:{rubric.stored['hash']}|version:2"
    stored = with_rubric({"title": "x"}, rubric, given)
    assert stored["title"] == "x" and stored["rubric"] == rubric.stored
    assert stored["signatures"] == {**given, "people": of_people, "corrected_a": "a|0.1|people"}
    other = Rubric(2, "Is it bad?", STEPS, ["question"])
    found = with_rubric(stored, other, {})["signatures"]
    assert found.keys() == {"comet_x", "people"} and found["people"] != of_people


def test_nothing_of_a_rubric_is_left() -> None:
    lines = [judged(n, {"Amina": "2"}, "3", 1.0) for n in range(FEWEST)]
    assert list(map(without_rubric, with_people(lines, STEPS))) == [line(n, {}) for n in range(FEWEST)]
