"""Every coding that occurs becomes the same document; what cannot be scored is marked, never guessed."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval._util.errors import UserError
from afrieval.tasks.answers.cell_values import label_text, normalise
from afrieval.tasks.answers.choices import LETTERS
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import documents
from afrieval.tasks.declaration.spec import load_task

MMLU, XNLI = load_task("afrimmlu"), load_task("afrixnli")


def mmlu(**changes: Any) -> Document:
    sound = {"subject": "s", "question": "q?", "choices": "['a', 'b', 'c', 'd']", "answer": "C"}
    return documents(MMLU, [sound | changes, sound], "here", "test")[0]


@pytest.mark.parametrize("choices", ["['4', '6', '8', '10']", ["4", "6", "8", "10"], "[4, 6, 8, 10]", [4, 6, 8, 10]])
def test_choices_as_list_or_its_text(choices: Any) -> None:
    assert mmlu(choices=choices).choices == ("4", "6", "8", "10")


@pytest.mark.parametrize("form", [json.dumps, repr, dict])
def test_choices_as_a_map_whose_names_are_answers(form: Callable[[dict[str, Any]], Any]) -> None:
    """What is empty or says N/A is no choice; several right answers are a defect, and so is a single choice."""
    choices = {"option1": 'say "ah"', "option2": "N/A", "option3": "two\nlines", "option4": None, "option5": "n/a "}
    found = mmlu(choices=form(choices), answer="option3")
    assert (found.choices, found.gold, found.defect) == (('say "ah"', "two\nlines"), 1, "")
    for answer, named in (("option1,option3", choices), ("option2", choices), ("option1", {"option1": "a"})):
        found = mmlu(choices=form(named), answer=answer)
        assert found.gold is None and found.defect == "no gold answer among the choices"


@pytest.mark.parametrize("names", ["ABCD", "0123"])
def test_a_number_counts_what_is_no_choice(names: str) -> None:
    choices = dict(zip(names, ["x", "N/A", "y", "z"], strict=True))
    found = [mmlu(choices=choices, answer=answer) for answer in "0123"]
    assert [d.gold for d in found] == [0, None, 1, 2] and {d.choices for d in found} == {("x", "y", "z")}


@pytest.mark.parametrize("answer", ["C", " C ", 2, "2", "2.0", 2.0])  # a table reader may make numbers floats
def test_gold_as_letter_or_number(answer: Any) -> None:
    assert mmlu(answer=answer).gold == 2


@pytest.mark.parametrize("label", [1, "1", "neutral"])
def test_labels_as_number_or_text(label: Any) -> None:
    document = documents(XNLI, [{"premise": "p", "hypothesis": "h", "label": label}], "here", "test")[0]
    assert (document.choices[1], document.gold) == ("neutral", 1)


@pytest.mark.parametrize("answer", ["", None, "E", 4, "-1", "2.5", "²", "neutral"])
def test_a_row_without_gold_is_marked(answer: Any) -> None:
    document = mmlu(answer=answer)
    assert document.gold is None and document.defect == "no gold answer among the choices"


def test_a_choice_equal_to_gold_is_a_defect_that_can_be_scored() -> None:
    document = mmlu(choices="['a', 'b', ' b', 'd']", answer="C")
    assert document.gold == 2 and "gold" in document.defect
    assert not mmlu(choices="['a', 'b', 'b', 'd']", answer="A").defect


def test_an_empty_choice_cannot_be_scored() -> None:
    document = mmlu(choices="['a', '', 'c', 'd']", answer="A")
    assert document.gold is None and document.defect == "an empty choice"
    assert mmlu(question=" ").defect == "empty question"


@pytest.mark.parametrize(("last", "fewer", "given"), [(None, True, 3), (None, False, 4), ("", True, 4)])
def test_only_null_at_the_end_is_a_choice_that_a_row_does_not_have(last: str | None, fewer: bool, given: int) -> None:
    spec = replace(MMLU, choices=[*"abcd"], fewer_choices=fewer)
    row = {"subject": "s", "question": "q?", **dict(zip("abcd", ["1", "2", "3", last], strict=True)), "answer": "B"}
    gap = row | {"b": None, "d": "4", "answer": "A"}
    found, sound, other = documents(spec, [row, row | {"d": "4"}, gap], "here", "test")
    assert len(found.choices) == given and found.gold == (1 if given == 3 else None)
    assert len(sound.choices) == 4 and other.defect == "an empty choice"


def test_text_is_nfc_and_stripped_and_otherwise_untouched() -> None:
    assert normalise("  o\u0323\u0301la\u0300  a\u00a0b\n") == "ọ\u0301là  a\u00a0b"
    assert mmlu(question=" a  b ").fields["question"] == "a  b"


@given(st.text())
def test_normalise_twice_is_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.lists(st.text(min_size=1), min_size=2, max_size=10), st.data())
def test_any_list_of_texts_survives_its_python_form(texts: list[str], data: st.DataObject) -> None:
    gold = data.draw(st.integers(0, len(texts) - 1))
    document = mmlu(choices=repr(texts), answer=LETTERS[gold])
    assert document.choices == tuple(normalise(t) for t in texts)
    assert document.gold in (gold, None) and (document.gold == gold or "" in map(label_text, document.choices))


@pytest.mark.parametrize("choices", ["a, b", "__import__('os').getcwd()", "{'a', 'b'}", "['a']", "", None])
def test_choices_that_are_none_are_refused(choices: Any) -> None:
    with pytest.raises(UserError, match="here, row 0"):
        mmlu(choices=choices)


def test_missing_column_and_no_rows() -> None:
    with pytest.raises(UserError, match="no column 'question'") as caught:
        documents(replace(MMLU), [{"subject": "s", "choices": "[]", "answer": "A"}], "afrimmlu yor", "test")
    assert "subject, choices, answer" in caught.value.hint
    with pytest.raises(UserError, match="has no rows"):
        documents(MMLU, [], "afrimmlu yor", "test")


def xnli(labels: list[Any]) -> list[Document]:
    return documents(
        XNLI, [{"premise": "p", "hypothesis": "h", "label": label} for label in labels], "afrixnli yor", "test"
    )


def test_answers_coded_otherwise_are_refused_and_not_guessed() -> None:
    with pytest.raises(UserError, match=r"no row has a gold answer; column 'label' has 'maybe', 'no'"):
        xnli(["maybe", "no"])
    with pytest.raises(UserError, match="counts from 1, not 0") as caught:
        xnli([1, 2, 3, 2])
    assert "first_answer to 1" in caught.value.hint
    assert [d.gold for d in xnli([1, 2, 1])] == [1, 2, 1]


BELEBELE = load_task("belebele")


def belebele(links: list[Any]) -> list[Document]:
    choices = {f"mc_answer{i}": str(i) for i in "1234"}
    rows = [{"flores_passage": "p", "question": f"q {i}", "correct_answer_num": 2} | choices for i in range(len(links))]
    keys = [{} if link == "no such column" else {"link": link, "question_number": 1} for link in links]
    return documents(BELEBELE, [row | key for row, key in zip(rows, keys, strict=True)], "here", "test")


def test_numbers_that_count_from_one() -> None:
    (document,) = documents(BELEBELE, [ROW], "here", "test")
    assert document.gold == 3 and document.choices == ("1", "2", "3", "4")


def test_a_key_is_the_same_in_every_coding_and_order() -> None:
    """A table may have the number as text; the words of its columns are not run together."""
    assert [d.key for d in belebele(["b", "a "])] == ['["b", "1"]', '["a", "1"]']
    assert documents(replace(BELEBELE, key=[]), [ROW], "here", "test")[0].key == ""


ROW = {"flores_passage": "p", "question": "q", "correct_answer_num": "4"} | {f"mc_answer{i}": i for i in "1234"}


@pytest.mark.parametrize("links", [["a", "b", "a"], ["", "b", None], ["no such column", "b", "no such column"]])
def test_a_row_without_a_key_of_its_own_is_scored_as_any_other(links: list[Any]) -> None:
    found = belebele(links)
    assert [bool(d.key) for d in found] == [False, True, False]
    assert [(d.gold, d.defect) for d in found] == [(1, "")] * 3


MGSM = load_task("afrimgsm")
TRAIN = {
    "question": "Swali: Juma ana 5: je?",
    "answer": "Jibu la hatua kwa hatua: 5. Jibu ni 11.",
    "answer_number": "11",
}


def test_a_number_is_gold_wherever_it_stands() -> None:
    rows = [{"question": "q", "answer": "2,125"}, {"question": "r", "answer": "18.0"}]
    assert [d.gold for d in documents(MGSM, rows, "here", "test")] == [2125, 18]
    row = {"question": "q", "answer": None, "answer_number": 18}
    assert documents(MGSM, [row], "here", "test")[0].gold == 18
    assert documents(MGSM, [row | {"answer_number": 3.5}, row], "here", "test")[0].gold is None
    with pytest.raises(UserError, match="no row has a gold answer"):
        documents(MGSM, [{"question": "q", "answer": "eighteen"}], "here", "test")


def test_headings_of_examples_are_cut_in_any_language_and_those_of_questions_stay() -> None:
    (example,) = documents(MGSM, [TRAIN], "here", "train")
    assert example.fields["question"] == "Juma ana 5: je?"  # not cut at a second colon
    assert (example.worked, example.gold) == ("5. Jibu ni 11.", 11)
    geez = TRAIN | {"question": "ጥያቄ፡ ጁማ፡ 5", "answer": "**ደረጃ በደረጃ መልስ፡** 5 ነው"}
    (example,) = documents(MGSM, [geez], "here", "train")
    assert (example.fields["question"], example.worked) == ("ጁማ፡ 5", "5 ነው")
    (asked,) = documents(MGSM, [TRAIN], "here", "test")
    assert asked.fields["question"] == TRAIN["question"] and asked.worked == ""


def test_a_missing_answer_column_is_named() -> None:
    with pytest.raises(UserError, match="no column 'answer'"):
        documents(MGSM, [{"question": "q"}], "here", "test")


def test_a_colon_in_a_text_is_no_heading_where_others_have_none() -> None:
    plain = TRAIN | {"question": "Juma ana 5", "answer": "5 + 6 ni 11"}
    rows = [plain, plain, TRAIN | {"question": "Roger ana mipira: mipira 5", "answer": "Hivi: 5 + 6"}]
    found = documents(MGSM, rows, "here", "train")
    assert [d.fields["question"] for d in found][2] == "Roger ana mipira: mipira 5" and found[2].worked == "Hivi: 5 + 6"


def test_a_bare_answer_is_no_worked_solution() -> None:
    (example,) = documents(MGSM, [TRAIN | {"answer": "11"}], "here", "train")
    assert example.worked == "" and example.gold == 11


BLEND = load_task("blend_short")


@pytest.mark.parametrize(
    ("entries", "gold"),
    [
        ([(["tea ", "shayi"], ["tea"], 2), (["koko"], [], 4)], {"tea": 0.5, "shayi": 0.5, "koko": 1.0}),
        ([(["tea", ""], None, 1), (["tea"], "cha", 2.0)], {"tea": 1.0, "cha": 1.0}),
        ([(["tea"], ["tea"], 0)], None), ([([""], [], 3)], None), ([(["tea"], [], "many")], None), ([], None),
        (None, None), ("tea", None),
    ],
)  # fmt: skip
def test_weights_are_shares_of_the_heaviest(entries: Any, gold: Any) -> None:
    rows = [{"question": "q", "annotations": entries} for entries in (given_by_people(entries), SOUND)]
    assert documents(BLEND, rows, "here", "test")[0].gold == gold


def given_by_people(entries: Any) -> Any:
    keys = ("answers", "en_answers", "count")
    return [dict(zip(keys, of, strict=True)) for of in entries] if isinstance(entries, list) else entries


SOUND = [{"answers": ["tea"], "en_answers": [], "count": 1}]
