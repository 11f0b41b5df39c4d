"""What an answer announces, or has in its last box, is read as it was meant; nothing else is guessed."""

import json
import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.scoring.extract.phrase import Which, announced_letter, announced_text, last_boxed

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


def _recorded() -> list[dict[str, str]]:
    path = REAL_DATA / "TIGER-Lab" / "MMLU-Pro" / "test.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.data
def test_recorded_answers_are_read_as_by_their_authors() -> None:
    """Where they found no announcement they took the last capital letter (33), or drew one (65): we say unread."""
    announced, same, hedged, guessed = 0, 0, 0, 0
    for row in _recorded():
        text, names = row["generated_text"], LETTERS[: len(row["options"])]
        read = announced_letter(text, names, ANSWER, "first")
        if re.search(r"answer is \(?([A-J])\)?", text) is None:
            guessed += 1
            assert read is None
            continue
        announced += 1
        same += read is not None and names[read] == row["pred"]
        hedged += read is None and bool(re.search(r"answer is \([A-J](?:\) and \(|, )[A-J]\)", text))
    assert (announced, guessed, hedged) == (1302, 98, 4)
    assert same == announced - hedged  # 99.7 %


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
