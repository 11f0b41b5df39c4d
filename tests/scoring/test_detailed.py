"""What answers took is added up, and counted once."""

from afrieval.scoring.responses import Generated, Scored, at_no_cost, details_of, together


def test_what_several_answers_took_is_added_up() -> None:
    first = {"prompt_tokens": 3, "cost": 0.5, "requests": 1, "at_most": [4, 2], "finish_reason": "length"}
    second = {"prompt_tokens": 4, "cost": 0.25, "requests": 2, "at_most": [1, 1], "lost": [9, 1]}
    added = {"prompt_tokens": 7, "cost": 0.75, "requests": 3, "at_most": [5, 3], "lost": [9, 1]}
    assert together([first, {}, second]) == {**added, "finish_reason": "length"}
    assert together([{}, {}]) == {}


def test_an_answer_that_was_given_before_took_nothing() -> None:
    whole = {"prompt_tokens": 3, "cost": 0.5, "requests": 2, "lost": [4, 2], "refused": True}
    text = at_no_cost(Generated("A", whole))
    assert text == "A" and text.details == {"prompt_tokens": 0, "cost": 0, "requests": 0, "refused": True}
    scored = at_no_cost(Scored((-1.0, True), {"at_most": [4, 2], "requests": 1}))
    assert scored == (-1.0, True) and scored.details == {"prompt_tokens": 0, "requests": 0}
    assert at_no_cost("A") == "A" and not details_of(at_no_cost("A"))
