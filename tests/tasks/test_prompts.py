"""Prompts: what their hash depends on, and what is said where a template cannot be filled in."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from tests.conftest import ROOT

from afrieval._util.errors import UserError
from afrieval.tasks.cells.questions import scorer
from afrieval.tasks.data.documents import Document
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import (
    Prompt,
    answers,
    example_answer,
    load_prompts,
    question_label,
    render,
    suits,
    telling,
)
from afrieval.tasks.prompts.vocabulary import prompt_strings

DOCUMENT = Document(17, {"premise": "A cat.", "hypothesis": "An animal."}, ("entailment", "neutral"), 0)
PROMPT = Prompt("eng", 2, "{{ premise }} {{ labels.entailment }}", labels={"entailment": "Yes"}, path="a/eng.yaml")


def test_the_file_is_no_part_of_what_reaches_the_model() -> None:
    other = replace(PROMPT, path="b/eng.yaml")
    assert other == PROMPT and other.hash == PROMPT.hash != replace(PROMPT, template="{{ premise }}").hash


def test_our_own_prompts_know_their_file_and_number() -> None:
    prompts = load_prompts(load_task("afrixnli"), "yor")
    assert {n: p.title for n, p in prompts.items()} == {
        n: f"{ROOT / 'tasks/afrixnli/prompts/yor.yaml'}, prompt {n}" for n in prompts
    }


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
    assert question_label(task, replace(PROMPT, template="Text:\n {{ 'A' }}n: {{ premise }}"), "yor") == "An:"
    with pytest.raises(UserError, match=r"a/eng.yaml, prompt 2, with all fields but premise empty: .* divides by zero"):
        question_label(task, replace(PROMPT, template="{{ 1 / (hypothesis | length) }}"), "yor")


@pytest.mark.parametrize("lead_in", ["x {anwser}", "{answer}", " ", "a {answer} {answer}", "{{ words.answer"])
def test_a_lead_in_has_words_and_at_most_one_answer(tmp_path: Path, lead_in: str) -> None:
    task = replace(load_task("afrimgsm"), folder=tmp_path)
    content = {"origin": "human", "lead_in": ["The answer is", lead_in], "prompts": {1: {"template": "{{ question }}"}}}
    path = tmp_path / "prompts/yor.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(UserError, match="does not announce a number"):
        load_prompts(task, "yor")


@pytest.mark.parametrize("template", ["{{ premise }", "{% include 'x' %}", "{{ 1 / 0 }}", "{{ premise * 10**10 }}"])
def test_a_template_that_never_can_is_refused_with_its_file(tmp_path: Path, template: str) -> None:
    path = tmp_path / "prompts/eng.yaml"
    path.parent.mkdir()
    labels = {"entailment": "Yes", "neutral": "Maybe", "contradiction": "No"}
    path.write_text(yaml.safe_dump({"origin": "human", "prompts": {7: {"template": template, "labels": labels}}}))
    with pytest.raises(UserError) as caught:
        load_prompts(replace(load_task("afrixnli"), folder=tmp_path), "eng")
    assert caught.value.message.startswith(f"{path}, prompt 7") and "cannot be filled in: " in caught.value.message


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
    [("B", 1), (" (B) Unknown", 1), ("unknown.", 1), ("Yes, it is", 0), ("No", 2), ("D", None), ("b", None)],
)
def test_a_generated_letter_or_the_word_that_it_stands_for_is_parsed(text: str, answer: int | None) -> None:
    task = load_task("afrixnli")
    prompt = load_prompts(task, "eng")[6]
    score = scorer(task, prompt, (), "generate")(replace(DOCUMENT, choices=tuple(task.labels), gold=1), [text])
    assert score.answer == answer
    assert score.measures == {"acc": [float(answer == 1)], "unparsed": [float(answer is None)]}


def test_a_lettered_prompt_must_show_the_choices(tmp_path: Path) -> None:
    path = tmp_path / "prompts/eng.yaml"
    path.parent.mkdir()
    entry = {"template": "{{ premise }}", "lettered": True, "labels": dict.fromkeys(load_task("afrixnli").labels, "x")}
    path.write_text(yaml.safe_dump({"origin": "human", "prompts": {6: entry}}))
    with pytest.raises(UserError, match="prompt 6: a lettered prompt must show the choices"):
        load_prompts(replace(load_task("afrixnli"), folder=tmp_path), "eng")


def test_a_template_without_choices_is_checked_with_the_longest_document_of_each_form() -> None:
    short, long = replace(DOCUMENT, id=1), replace(DOCUMENT, id=2, fields={"premise": "x" * 50, "hypothesis": "y"})
    other = replace(DOCUMENT, id=3, choices=("a", "b", "c"))
    documents = [short, long, other]
    assert telling(PROMPT, documents) == [long, other] and telling(PROMPT, []) == []
    for template in ("{% if premise %}a{% endif %}", "{{ choices[1] }}", "{{ premise.upper() }}", "{{ broken"):
        assert telling(replace(PROMPT, template=template), documents) == documents


def test_labels_of_a_file_are_those_of_prompts_without_their_own(tmp_path: Path) -> None:
    path = tmp_path / "prompts/eng.yaml"
    path.parent.mkdir()
    common, own = (dict(zip(load_task("afrixnli").labels, words, strict=True)) for words in ("abc", "xyz"))
    entries = {1: {"template": "{{ premise }}"}, 2: {"template": "{{ premise }}", "labels": own}}
    path.write_text(yaml.safe_dump({"origin": "human", "labels": common, "prompts": entries}))
    loaded = load_prompts(replace(load_task("afrixnli"), folder=tmp_path), "eng")
    assert [prompt.labels for prompt in loaded.values()] == [common, own]
    ids = [string.id for string in prompt_strings("afrixnli", path)]
    assert "afrixnli/labels/neutral" in ids and "afrixnli/1/labels/neutral" not in ids
