"""Prompts: what their hash depends on, and what is said where a template cannot be filled in."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import put

from afrieval._util.errors import UserError
from afrieval.scoring.extract.number import read_number
from afrieval.scoring.extract.phrase import read_choice
from afrieval.tasks.cells.questions import scorer
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import (
    Prompt,
    PromptFiles,
    answers,
    example_answer,
    lines_before,
    load_prompts,
    render,
    suits,
    telling,
)
from afrieval.tasks.prompts.vocabulary import closing_lead_in, prompt_strings

DOCUMENT = Document(17, {"premise": "A cat.", "hypothesis": "An animal."}, ("entailment", "neutral"), 0)
PROMPT = Prompt("eng", 2, "{{ premise }} {{ labels.entailment }}", labels={"entailment": "Yes"}, path="a/eng.yaml")


def own_prompts(folder: Path, prompts: dict[int, Any], language: str = "eng", **keys: Any) -> dict[int, Prompt]:
    """Returns the prompts of AfriXNLI, or AfriMGSM if they have a lead-in, in a file of the user's."""
    path = folder / f"prompts/{language}.yaml"
    put(path, yaml.safe_dump({"origin": "human", "prompts": prompts, **keys}))
    return load_prompts(replace(load_task("afrimgsm" if "lead_in" in keys else "afrixnli"), folder=folder), language)


def test_the_file_is_no_part_of_what_reaches_the_model() -> None:
    other = replace(PROMPT, path="b/eng.yaml")
    assert other == PROMPT and other.hash == PROMPT.hash != replace(PROMPT, template="{{ premise }}").hash


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ premise }}\n\n", "A cat."),
        ("{{ labels.entailment }}, {{ choices | lettered }} {{ language }}", "Yes, A: Yes\nB: neutral Yoruba"),
        ("{% for c in choices %}{{ c }}{% if not loop.last %} / {% endif %}{% endfor %}", "Yes / neutral"),
    ],
)
def test_a_document_is_filled_in(template: str, text: str) -> None:
    assert render(replace(PROMPT, template=template), DOCUMENT, "yor") == text


@pytest.mark.parametrize("template", ["{{ labels.nothing }}", "{% if premise == 'A cat.' %}{{ 1 / 0 }}{% endif %}"])
def test_file_prompt_and_row_are_named(template: str) -> None:
    with pytest.raises(UserError) as caught:
        render(replace(PROMPT, template=template), DOCUMENT, "yor")
    assert caught.value.message.startswith("a/eng.yaml, prompt 2, with row 17 of Yoruba (yor): the template cannot be")
    assert "'Add a language or a prompt'" in caught.value.hint


def test_the_words_before_a_question_may_depend_on_it() -> None:
    task = load_task("afrixnli")
    prompt = replace(PROMPT, template="Text:\n {{ 'A' }}n: {{ premise }}")
    assert lines_before(task, prompt, "yor") == ["Text:", " An: "]
    with pytest.raises(UserError, match=r"a/eng.yaml, prompt 2, with all fields but premise empty: .* divides by zero"):
        lines_before(task, replace(PROMPT, template="{{ 1 / (hypothesis | length) }}"), "yor")


@pytest.mark.parametrize("lead_in", ["x {anwser}", "{answer}", " ", "a {answer} {answer}", "{{ words.answer"])
def test_a_lead_in_has_words_and_at_most_one_answer(tmp_path: Path, lead_in: str) -> None:
    with pytest.raises(UserError, match="does not announce a number"):
        own_prompts(tmp_path, {1: {"template": "{{ question }}"}}, "yor", lead_in=["The answer is", lead_in])


@pytest.mark.parametrize("template", ["{{ premise }", "{% include 'x' %}", "{{ 1 / 0 }}", "{{ premise * 10**10 }}"])
def test_a_template_that_never_can_is_refused_with_its_file(tmp_path: Path, template: str) -> None:
    labels = {"entailment": "Yes", "neutral": "Maybe", "contradiction": "No"}
    with pytest.raises(UserError) as caught:
        own_prompts(tmp_path, {7: {"template": template, "labels": labels}})
    assert caught.value.message.startswith(f"{tmp_path}/prompts/eng.yaml, prompt 7")
    assert "cannot be filled in: " in caught.value.message


def test_letters_stand_for_label_words_in_every_answer_form() -> None:
    task = load_task("afrixnli")
    prompt, words = load_prompts(task, "eng")[6], load_prompts(task, "eng")[2]
    document = replace(DOCUMENT, choices=tuple(task.labels), gold=1)
    for form in task.answer_forms:
        assert answers(prompt, document, form) == ["A", "B", "C"]
        assert example_answer(task, prompt, document, form) == "B"
        assert suits(prompt, form) == (form != "text") and suits(words, form) == (form != "letter")
    for form in ("text", "generate"):
        assert answers(words, document, form) == ["Yes", "Unknown", "No"]
    assert "A: Yes\nB: Unknown\nC: No\n" in render(prompt, document, "yor")
    assert replace(prompt, lettered=False).hash != prompt.hash


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("B", 1),
        (" (B) Unknown", 1),
        ("unknown.", 1),
        ("Yes, it is", 0),
        ("No", 2),
        ("D", None),
        ("b", 1),
        ("The answer is B.", 1),
        ("Answer: Unknown", 1),
        ("not B", None),
    ],
)
def test_a_generated_letter_or_the_word_that_it_stands_for_is_parsed(text: str, answer: int | None) -> None:
    task = load_task("afrixnli")
    prompt = load_prompts(task, "eng")[6]
    score = scorer(task, prompt, (), "generate")(replace(DOCUMENT, choices=tuple(task.labels), gold=1), [text])
    assert score.answer == answer
    assert score.measures == {"acc": [float(answer == 1)], "unparsed": [float(answer is None)]}


@pytest.mark.parametrize("text", ["B", "b", "The answer is B", "Answer: B", "p = 8", "\u200fB", "B\tRuwa", "(B) p = 8"])
def test_answers_to_published_prompts_are_read_as_strictly_as_ever(text: str) -> None:
    task = load_task("afrimmlu")
    prompt = replace(load_prompts(task, "eng")[1], origin="paper")
    document = replace(DOCUMENT, choices=("p = 4", "p = 8"), gold=1)
    assert scorer(task, prompt, ["Answer:"], "generate")(document, [text]).answer == read_choice(text, ["A", "B"])
    assert scorer(task, replace(prompt, origin="human"), ["Answer:"], "generate")(document, [text]).answer == 1


def test_choices_are_shown_and_scored_without_invisible_characters() -> None:
    prompt = load_prompts(load_task("afrimmlu"), "eng")[1]
    document = replace(
        DOCUMENT, fields={"subject": "x", "question": "y"}, choices=("p\u200c = 4", "\u200fp = 8"), gold=1
    )
    assert answers(prompt, document, "text") == ["p = 4", "p = 8"] and "\nA: p = 4\nB: p = 8\n" in render(
        prompt, document, "yor"
    )
    assert answers(replace(prompt, verbatim=True), document, "text") == [*document.choices]


def test_the_words_that_announce_a_choice_are_the_prompt_s_and_the_vocabularies() -> None:
    files = PromptFiles(load_task("afrimmlu"))
    english, hausa = files.load("eng"), files.load("hau")
    assert files.announced(english[4], "hau")[:2] == ["The right option is:", "Answer:"]
    assert files.announced(hausa[1], "hau")[:1] == ["Amsa:"] and "Amsar ita ce" in files.announced(english[1], "hau")
    lettered = PromptFiles(load_task("afrixnli")).announced(load_prompts(load_task("afrixnli"), "eng")[6], "eng")
    assert lettered[0] == "Answer:"  # without "(A, B, or C)"
    numbers, worked = PromptFiles(load_task("afrimgsm")), PromptFiles(load_task("afrimgsm_cot"))
    assert {"Answer:", "Jibu:", "Jibu ni"} <= {*numbers.announced(numbers.load("eng")[1], "swa")}
    assert not [words for words in worked.announced(worked.load("eng")[1], "swa") if "tep" in words]


def test_a_lettered_prompt_must_show_the_choices(tmp_path: Path) -> None:
    entry = {"template": "{{ premise }}", "lettered": True, "labels": dict.fromkeys(load_task("afrixnli").labels, "x")}
    with pytest.raises(UserError, match="prompt 6: a lettered prompt must show the choices"):
        own_prompts(tmp_path, {6: entry})


def test_a_template_without_choices_is_checked_with_the_longest_document_of_each_form() -> None:
    short, long = replace(DOCUMENT, id=1), replace(DOCUMENT, id=2, fields={"premise": "x" * 50, "hypothesis": "y"})
    other = replace(DOCUMENT, id=3, choices=("a", "b", "c"))
    documents = [short, long, other]
    assert telling(PROMPT, documents) == [long, other] and telling(PROMPT, []) == []
    for template in ("{% if premise %}a{% endif %}", "{{ choices[1] }}", "{{ premise.upper() }}", "{{ broken"):
        assert telling(replace(PROMPT, template=template), documents) == documents


def test_labels_of_a_file_are_those_of_prompts_without_their_own(tmp_path: Path) -> None:
    common, own = (dict(zip(load_task("afrixnli").labels, words, strict=True)) for words in ("abc", "xyz"))
    entries = {1: {"template": "{{ premise }}"}, 2: {"template": "{{ premise }}", "labels": own}}
    assert [prompt.labels for prompt in own_prompts(tmp_path, entries, labels=common).values()] == [common, own]
    ids = [string.id for string in prompt_strings("afrixnli", tmp_path / "prompts/eng.yaml")]
    assert "afrixnli/labels/neutral" in ids and "afrixnli/1/labels/neutral" not in ids


CLOSINGS = {
    "yor": ("Ìdáhùn náà ni {}.", "Ìdáhùn náà ni {answer}"),
    "amh": ("መልሱ {} ነው።", "መልሱ {answer} ነው"),
    "zul": ("Impendulo ngu-{}.", "Impendulo ngu-{answer}"),
    "sna": ("Mhinduro i{}", "Mhinduro i{answer}"),
    "fra": ("La réponse est {} !", "La réponse est {answer}"),
    "orm": ("Deebiin {}dha.", "Deebiin {answer}dha"),
}


def solved(closing: str, numbers: list[int]) -> list[Document]:
    return [
        Document(i, {}, (), n, worked=f"5 + {n - 5} = {n}. 1.5 x 2 = 3.0. {closing.format(n)}")
        for i, n in enumerate(numbers)
    ]


@pytest.mark.parametrize(("closing", "lead_in"), CLOSINGS.values(), ids=CLOSINGS)
def test_the_last_sentence_of_most_solutions_leads_to_the_answer(closing: str, lead_in: str) -> None:
    rows = solved(closing, [18, 2125, 7, 9])
    odd = replace(rows[0], worked="It is 18.")
    assert closing_lead_in(rows) == closing_lead_in([*rows, odd, Document(9, {}, (), 3)]) == lead_in
    assert read_number(f"9 x 2. {closing.format(64)}\n7", [lead_in]) == 64


@pytest.mark.parametrize(
    "worked",
    [
        ["The answer is 8.", "The answer is 8."],
        ["The answer is 8.", "The answer is 8.", "So 8.", "That makes 8.", "8."],
        ["8.", "8.", "8."],
        ["The answer is 9.", "The answer is 9.", "The answer is 9."],
        ["The answer is 8. Well done.", "The answer is 8. Well done.", "The answer is 8. Well done."],
        ["The answer is $8.", "The answer is $8.", "The answer is $8."],
        ["none", "none", "none"],
        [],
    ],
)
def test_where_solutions_disagree_nothing_is_learned(worked: list[str]) -> None:
    assert closing_lead_in([Document(i, {}, (), 8, worked=text) for i, text in enumerate(worked)]) == ""


@given(st.lists(st.text(), max_size=5), st.integers(0, 99))
def test_any_solutions_give_words_around_the_answer_or_none(worked: list[str], gold: int) -> None:
    found = closing_lead_in([Document(i, {}, (), gold, worked=text) for i, text in enumerate(worked)])
    assert not found or "{answer}" in found
