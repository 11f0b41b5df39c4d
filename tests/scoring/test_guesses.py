"""The guesses of MMLU-Pro's authors: what they take, what is drawn, and how a sample says so."""

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

from afrieval.scoring.base import ExtractionContext, Guess, Question
from afrieval.scoring.extract import extractor, switches
from afrieval.scoring.guesses import drawn, taken
from afrieval.scoring.metrics.flags import guessed
from afrieval.scoring.responses import Generated, of_text, scored

LETTERS = "ABCDEFGHIJ"
STRICT = {"name": "phrase", "after": "answer is", "which": "first", "bare": False}


def _found(text: str, n: int = 10, **options: bool) -> Any:
    return extractor({**STRICT, **options})(text, Question(0, LETTERS[:n], LETTERS[:n]), ExtractionContext())


@pytest.mark.parametrize(
    ("text", "strict", "lone"),
    [
        ("So the answer is (C).", 2, 2), ("Answer: C", 2, 2),
        ("The answer is (D) and (E). The answer is (B).", 1, Guess(3, "lone")),
        ("The answer is (D) and (E).", None, Guess(3, "lone")),
        ("The closest answer is A1's share.", None, Guess(0, "lone")),
        ("The answer is Both.", None, Guess(1, "lone")), ("Answer: Cannot be said", None, Guess(2, "lone")),
        ("Answer: Big. Answer: Cat\nAnswer: Dog", None, Guess(2, "lone")),
        ("It is (B) or (C), perhaps", None, Guess(2, "lone")), ("Work is 3 J", None, Guess(9, "lone")),
        ("C", None, Guess(2, "lone")), ("Nothing here.", None, None), ("", None, None),
    ],
)  # fmt: skip
def test_a_lone_letter_is_taken_only_if_asked_for(text: str, strict: object, lone: object) -> None:
    assert _found(text) == strict
    assert _found(text, lone=True) == lone


def test_a_letter_is_drawn_only_if_asked_for_and_none_is_found() -> None:
    assert _found("Nothing here.", guess=True) == Guess(6, "drawn")
    assert _found("It is (B), perhaps", guess=True) == Guess(6, "drawn")
    assert _found("It is (B), perhaps", lone=True, guess=True) == Guess(1, "lone")
    assert _found("The answer is (B).", guess=True) == 1


def test_a_letter_that_is_not_a_choice_is_neither_taken_nor_replaced_by_a_drawn_one() -> None:
    assert _found("The answer is (G).", 4, lone=True, guess=True) is None
    assert taken("The answer is (G).", "ABCD", "answer is", "first") == "G"


def test_what_is_drawn_depends_on_the_number_of_choices_alone() -> None:
    state = random.getstate()
    assert [drawn(n) for n in range(2, 11)] == [1, 1, 3, 3, 3, 3, 6, 6, 6]
    assert [drawn(n) for n in range(10, 1, -1)] == [6, 6, 6, 3, 3, 3, 3, 1, 1]
    assert random.getstate() == state


@pytest.mark.parametrize("which", ["first", "last"])
def test_the_announcement_that_counts(which: str) -> None:
    text = "The answer is (A) or (B). The answer is (C) or (D)."
    assert taken(text, LETTERS, "answer is", which) == {"first": "A", "last": "C"}[which]  # type: ignore[arg-type]


def test_a_guess_is_marked_and_counted() -> None:
    question = Question(6, LETTERS, LETTERS)
    for text, how, share in [("Nothing here.", "drawn", 1.0), ("The answer is (G).", "", 0.0)]:
        response = of_text(text, question, extractor({**STRICT, "guess": True}), ExtractionContext())
        score = scored(response, question, [guessed()])
        assert (response.answer, score.answer, score.guessed, score.measures) == (6, 6, how, {"guessed": [share]})


def test_options_that_can_be_switched() -> None:
    assert switches(STRICT) == {"bare": False, "lone": False, "guess": False}
    assert switches({"name": "phrase", "after": "answer is", "lone": True})["lone"] is True
    assert switches("choice") == {}


def _recorded() -> list[dict[str, str]]:
    path = Path(os.environ.get("AFRIEVAL_DATA", "")) / "TIGER-Lab" / "MMLU-Pro" / "test.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _by_authors(text: str) -> tuple[int, str | None]:
    """Returns which of the authors' three regular expressions matches, and the letter; written anew."""
    steps = [r"answer is \(?([A-J])", r"^.*[aA]nswer:\s*([A-J])", r"\b([A-J])\b(?!.*\b[A-J]\b)"]
    for number, pattern in enumerate(steps, 1):
        if match := re.search(pattern, text, re.DOTALL if number == 3 else re.MULTILINE):
            return number, match[1]
    return 0, None


@pytest.mark.data
def test_recorded_answers_are_read_as_by_their_authors() -> None:
    """Without options, only answers that announce one letter are; with `lone`, all that hold a letter."""
    counts: dict[tuple[int, str], int] = {}
    for row in _recorded():
        text, n = row["generated_text"], len(row["options"])
        step, letter = _by_authors(text)
        strict, lone = _found(text, n), _found(text, n, lone=True)
        answer = lone.answer if isinstance(lone, Guess) else lone
        assert answer == (LETTERS.index(letter) if letter and letter in LETTERS[:n] else None)
        assert strict in (answer, None)
        kind = "none" if lone is None else "guessed" if isinstance(lone, Guess) else "announced"
        assert (kind == "guessed") == (lone is not None and strict is None)
        counts[step, kind] = counts.get((step, kind), 0) + 1
    # guessed by step 1: of several letters, as in "the answer is (A) and (C)"; none by step 3: "I", of eight choices
    assert counts == {(1, "announced"): 1298, (1, "guessed"): 4, (3, "guessed"): 32, (3, "none"): 1, (0, "none"): 65}


@pytest.mark.data
def test_recorded_answers_are_scored_as_by_their_authors() -> None:
    """All but three answers are the recorded ones, and these are as wrong.

    A recorded guess is G, drawn from ten letters even where there are four choices, and a recorded I is none of eight.
    """
    others = []
    for row in _recorded():
        n, right = len(row["options"]), LETTERS.index(row["answer"])
        found = _found(row["generated_text"], n, lone=True, guess=True)
        answer = found.answer if isinstance(found, Guess) else found
        assert (answer == right) == (row["pred"] == row["answer"])
        if answer is None or LETTERS[answer] != row["pred"]:
            others.append((n, row["pred"], found))
    assert sorted(others) == [(4, "G", Guess(3, "drawn"))] * 2 + [(8, "I", None)]


@pytest.mark.parametrize(("refused", "expected"), [(False, (3, "drawn")), (True, (None, ""))])
def test_a_letter_is_drawn_for_an_empty_answer_but_not_for_a_refused_one(
    refused: bool, expected: tuple[int | None, str]
) -> None:
    text = Generated("", {"refused": True} if refused else {"requests": 1})
    found = of_text(
        text, Question(0, "wxyz", "ABCD"), extractor({**STRICT, "lone": True, "guess": True}), ExtractionContext()
    )
    assert (found.answer, found.guessed) == expected and found.refused == refused
