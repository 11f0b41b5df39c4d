"""Stray blanks leave the prompts of harness tasks, and nothing else does."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from afrieval.run.harness.build import clean_after, clean_before, clean_task
from afrieval.tasks.prompts.prompts import clean

TEXTS = st.lists(
    st.sampled_from([*" \t\n\r", "a", "ọ́", "ጥ", "\\", "n", "\u00a0", "\u3000", ":", "1"]), max_size=60
).map("".join)
STRAY = r"  |\t|\r|^ | $|^\n|\n$|\n\n\n"


def letters(text: str) -> str:
    return re.sub(r"[ \t\r\n]", "", text)


@given(TEXTS)
@example("Kọ́ ni?\\n\\nA: 1\\n")
@example("  \r\n\t x\r\n \r\n \r\n y  \t z ")
def test_nothing_but_blanks_is_changed_and_none_is_astray(text: str) -> None:
    cleaned = clean(text)
    assert letters(cleaned) == letters(text)
    assert not re.search(STRAY, cleaned) and not re.search(r"(?m)^ | $", cleaned)
    assert clean(cleaned) == cleaned


@given(TEXTS)
def test_words_and_lines_stay_apart(text: str) -> None:
    assert clean(text).split() == text.split()
    assert [x for x in clean(text).split("\n") if x] == [
        y for x in re.sub("\r\n?", "\n", text).split("\n") if (y := re.sub("[ \t]+", " ", x).strip(" "))
    ]


@given(TEXTS, st.sampled_from(["", " ", "\n"]))
def test_a_prompt_and_its_answer_never_run_together(text: str, delimiter: str) -> None:
    joined = clean_before(text, delimiter) + delimiter + "p = 4"
    if letters(text) and (delimiter or text[-1] in " \t\r\n"):
        assert re.search(r"[^ \t\n][ \n]{1,2}p = 4$", joined)
    joined = "Answer:" + delimiter + clean_after(text, delimiter)
    if letters(text) and (delimiter or text[0] in " \t\r\n"):
        assert re.match(r"Answer:[ \n]{1,2}[^ \t\n]", joined)


@pytest.mark.parametrize(
    ("text", "delimiter", "cleaned"),
    [
        ("Answer:  ", " ", "Answer:"),
        ("Answer:  ", "", "Answer: "),
        ("Answer:\n\n\n", "", "Answer:\n\n"),
        ("Answer ", ":", "Answer"),
        ("Answer:\\n ", " ", "Answer:\\n"),
    ],
)
def test_the_end_of_a_prompt(text: str, delimiter: str, cleaned: str) -> None:
    assert clean_before(text, delimiter) == cleaned


def test_a_task_of_the_old_kind() -> None:
    task: Any = SimpleNamespace(doc_to_text=lambda doc: f"  {doc}  \n\n\n\nAnswer: ")
    clean_task(task)
    assert task.doc_to_text("What?") == "What?\n\nAnswer: "
