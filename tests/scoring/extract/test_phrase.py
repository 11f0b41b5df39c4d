"""What an answer announces, or has in its last box, is read as it was meant; nothing else is guessed."""

import json
import os
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.scoring.base import ExtractionContext, Guess, Question
from afrieval.scoring.extract import extractor, switches
from afrieval.scoring.extract.phrase import Which, announced_letter, announced_text, drawn, last_boxed, taken
from afrieval.scoring.metrics.flags import guessed
from afrieval.scoring.responses import Generated, of_text, scored

REAL_DATA = Path(os.environ.get("AFRIEVAL_DATA", ""))
LETTERS = list("ABCDEFGHIJ")
BEST, ANSWER = "best answer is", "answer is"

READ_B = [
    "The best answer is B", "The best answer is B.", "the BEST\nanswer   is B, for it floats",
    "The best answer is: B", "The best answer is:\n\nB) mitosis", "The best answer is (B) mitosis",
    "The best answer is [B].", "**The best answer is B.**", "The best answer is **B**.",
    "The best answer is **(B)** mitosis", "The best answer is $B$", r"The best answer is $\boxed{B}$.",
    r"The best answer is \boxed{\text{(B)}}", r"The best answer is \(\mathrm{B}\)", 'The best answer is "B".',
    "The best answer is ‘B’", "The best answer is _B_.", "The best answer is option B.",
    "The best answer is Choice (B).", "The best answer is B because it floats", "The best answer is B (mitosis)",
    "The best answer is B – mitosis", "The best answer is B. A is wrong.",
    "The best answer is B and the reason is plain", "The best answer is not A. The best answer is B",
    "The best answer is hard to find. Answer: B", "Answer: B", "**Answer:** B", "Final answer : (B)",
    # nothing is announced
    "B", " B.", "(B)", "**B**", "B) because it floats", "B. It floats.\nAnd it is light.",
    "B\n\nQuestion: which floats?\nA. stone\nB. cork", "It floats.\nIt is light.\n\nB", "It floats.\n\n**(B)**.\n",
    "It floats:\n```\nB\n```", "It floats, so:\n" + r"$\boxed{\text{B}}$",
]  # fmt: skip

UNREAD = [
    "", " \n\n", "The best answer is", "The best answer is All of these", "The best answer is Apples",
    "The best answer is A good one", "The best answer is A man", "The best answer is I think hard to find",
    "The best answer is E coli", "The best answer is B-cells", "The best answer is A.M.",
    "The best answer is $C_{2}H_{6}$", "The best answer is $B_1$", "The best answer is B^2",
    "The best answer is B - 2", "The best answer is A's", "The best answer is b", "The best answer is K",
    "The best answer is not B", "The best answer isB", "The best answer is (B) and (C).",
    "The best answer is (B, C).", "The best answer is B, C or D.", "The best answer is either B or C",
    "A, B and C are the corners of a triangle, so", " A) and C)", "A's mass is 5 kg",
    "A. stone sinks\nB. cork floats\nC. so does wood",  # a list and no answer
    "Vitamin B is in cork", "we then have J, which rules out (F).", "It floats.\nBoth A and B",
]  # fmt: skip


@pytest.mark.parametrize("text", READ_B)
@pytest.mark.parametrize("which", ["first", "last"])
def test_a_letter_that_is_announced(text: str, which: Which) -> None:
    assert announced_letter(text, LETTERS, BEST, which) == 1


@pytest.mark.parametrize("text", UNREAD)
@pytest.mark.parametrize("which", ["first", "last"])
def test_a_letter_that_is_not(text: str, which: Which) -> None:
    assert announced_letter(text, LETTERS, BEST, which) is None


def test_first_and_last() -> None:
    text = "The answer is hard. The answer is (C).\n\nQ: next\nA: The answer is (D). The answer is A lie."
    assert announced_letter(text, LETTERS, ANSWER, "first") == 2
    assert announced_letter(text, LETTERS, ANSWER, "last") == 3
    assert announced_text(text, "the answer is", "first") == "hard"
    assert announced_text(text, "the answer is", "last") == "A lie"


def test_an_announcement_goes_before_a_bare_letter() -> None:
    assert announced_letter("A: think.\nThe answer is (C).\nB", LETTERS, ANSWER, "last") == 2


def test_letters_that_were_not_shown_are_not_read() -> None:
    assert announced_letter("The answer is (H).", LETTERS[:4], ANSWER, "first") is None
    assert announced_letter("H", LETTERS[:4], ANSWER, "first") is None
    assert announced_letter("The answer is (H). The answer is (C).", LETTERS[:4], ANSWER, "first") == 2


@given(
    st.sampled_from(LETTERS),
    st.sampled_from(["", " ", "(", " **(", '"', r"\boxed{", r"$\text{", ":\n"]),
    st.sampled_from([".", ")", "}$", "**", "\n", ". A fine one", ""]),
    st.text(st.characters(codec="ascii", exclude_characters=":")).filter(lambda t: "is" not in t),
)
def test_marks_around_a_letter_change_nothing(letter: str, before: str, after: str, story: str) -> None:
    text = f"{story}\nThe answer is {before}{letter}{after}"
    assert announced_letter(text, LETTERS, ANSWER, "last") == LETTERS.index(letter)


PIECES = st.sampled_from(
    ["the answer is", "Answer:", " ", "\n", "(", ")", "**", r"\boxed{", "}", ".", ",", "and", "-", "A", "B", "I", "x"]
)


@given(st.text() | st.lists(PIECES).map("".join), st.sampled_from(["first", "last"]))
def test_what_is_read_was_written(text: str, which: Which) -> None:
    read = announced_letter(text, LETTERS, ANSWER, which)
    assert read is None or re.search(rf"(?<![^\W_]){LETTERS[read]}(?![^\W_])", text)
    said = announced_text(text, ANSWER, which)
    assert said is None or (said.strip() == said != "" and "\n" not in said)


@pytest.mark.parametrize("piece", [" ", "(", "A, ", "answer is ", "A and\n", r"\boxed ", ". ", ".*", ": ", "answer:"])
def test_a_hostile_text_is_read_in_time(piece: str) -> None:
    start = time.perf_counter()
    for text in ("answer is" + piece * 5000, "answer is A" + piece * 5000 + "x"):
        announced_letter(text, LETTERS, ANSWER, "last")
        announced_text(text, ANSWER, "last")
    assert time.perf_counter() - start < 5


TEXTS = {
    "So the answer is ] } ].": "] } ]", "So the answer is -219.": "-219",
    "So the answer is 3.5. Now we know.": "3.5", "So the answer is No": "No",
    "So the answer is No\nQ: another": "No", "So the answer is (B).\n\n": "(B)", "So the answer is: yes": "yes",
    "So the answer is:\nyes. Or so.": "yes", "So the answer is **No.** It is not": "No",
    "**The answer is No.**": "No", "The answer is “no”. It is not": "no",
    "THE ANSWER IS arson aspect census.": "arson aspect census",
    "The answer is ውሸት። አዎ": "ውሸት", "The answer is . The answer is 5.": "5",
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("which", ["first", "last"])
def test_a_text_that_is_announced(text: str, which: Which) -> None:
    assert announced_text(text, "the answer is", which) == TEXTS[text]


@pytest.mark.parametrize(
    "text",
    ["", "No", "The answer is", "The answer is.", "The answer is \nNo", "The answer is ** **.", "The answer isn't"],
)
def test_a_text_that_is_not(text: str) -> None:
    assert announced_text(text, "the answer is", "first") is None


@pytest.mark.data
def test_worked_examples_end_in_an_answer_that_is_read() -> None:
    n = 0
    for path in sorted((REAL_DATA / "lukaemon" / "bbh" / "cot-prompts").glob("*.txt")):
        for example in path.read_text(encoding="utf-8").split("\nA: ")[1:]:
            reasons, _, answer = example.split("\n\nQ: ")[0].rstrip().rpartition("So the answer is ")
            assert reasons and answer.endswith(".")
            for which in ("first", "last"):
                assert announced_text(f"{reasons}So the answer is {answer}", "the answer is", which) == answer[:-1]
                assert announced_text(f"{reasons}So the answer is {answer[:-1]}", "the answer is", which) == answer[:-1]
            n += 1
    assert n == 81  # three for each of 27 tasks


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (r"So $x = \boxed{5}$.", "5"),
        (r"$\boxed{3}$, no, $\boxed{4}$", "4"),  # the last one counts
        (r"$\boxed{\frac{1}{2}}$", r"\frac{1}{2}"),  # braces in braces
        (r"$\boxed{\left\{1, 2\right\}}$", r"\left\{1, 2\right\}"),  # escaped braces are signs
        (r"$\boxed{\{1\}$ and more}", r"\{1\}$ and more"), (r"$\boxed{\}}$", r"\}"),
        (r"$\boxed{a \\}$", r"a \\"),  # a line break, then a brace
        (r"$\fbox{5}$", "5"), (r"$\boxed{3}$ then $\fbox{4}$", "4"), (r"$\boxed {5}$", "5"), (r"$\boxed 5$.", "5"),
        (r"\(\boxed 5\).", "5"), ("\\boxed 5\nThat is all.", "5"), (r"\boxed 5", "5"), (r"$\boxed5$", "5"),
        (r"$\boxed{\boxed{5}}$", "5"), (r"$\boxed{}$", ""), ("\\boxed{\n5\n}", "\n5\n"),
        (r"$\boxed{5", None),  # cut short
        (r"$\boxed{3}$ so $\boxed{\frac{1}{2}", None), (r"\boxed", None), (r"\boxed ", None),
        (r"\boxedanswer{5}", None),  # another command
        ("boxed{5}", None), ("The answer is 5.", None), ("", None),
    ],
)  # fmt: skip
def test_last_box(text: str, held: str | None) -> None:
    assert last_boxed(text) == held


BALANCED = st.recursive(
    st.text(st.characters(exclude_characters="\\{}", exclude_categories=["Cs"]), max_size=5)
    | st.sampled_from([r"\{", r"\}", r"\\", r"\frac"]),
    lambda inner: st.lists(inner, max_size=3).map(lambda parts: "{" + "".join(parts) + "}"),
)


@given(BALANCED, st.text())
def test_balanced_braces_are_found_again(held: str, before: str) -> None:
    assert last_boxed(f"{before}$\\boxed{{{held}}}$.") == held


@given(st.text(), st.text(st.sampled_from("\\{} box$")))
def test_any_text_has_a_box_or_none(text: str, tail: str) -> None:
    held = last_boxed(text + tail)
    assert held is None or held in text + tail


# The guesses of MMLU-Pro's authors: what they take, what is drawn, and how a sample says so.
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
def test_the_announcement_that_counts(which: Which) -> None:
    text = "The answer is (A) or (B). The answer is (C) or (D)."
    assert taken(text, LETTERS, "answer is", which) == {"first": "A", "last": "C"}[which]


def test_a_guess_is_marked_and_counted() -> None:
    question = Question(6, LETTERS, LETTERS)
    for text, how, share in [("Nothing here.", "drawn", 1.0), ("The answer is (G).", "", 0.0)]:
        response = of_text(text, question, extractor({**STRICT, "guess": True}), ExtractionContext())
        score = scored(response, question, [guessed()])
        assert (response.answer, score.answer, score.guessed, score.measures) == (6, 6, how, {"guessed": [share]})


def test_options_that_can_be_switched() -> None:
    assert switches(STRICT) == {"bare": False, "lone": False, "guess": False}
    assert switches({"name": "phrase", "after": "answer is", "lone": True})["lone"] is True
    assert switches("choice") == {"strict": False} and switches("number") == {}


def _recorded() -> list[dict[str, str]]:
    path = REAL_DATA / "TIGER-Lab" / "MMLU-Pro" / "test.jsonl"
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
