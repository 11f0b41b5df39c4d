"""Defects of the IrokoBench tasks as published in lm-evaluation-harness; numbered as found."""

import re

import pytest

from afrieval.languages import ENGLISH
from afrieval.scoring.extract.number import read_number
from afrieval.tasks.data.documents import Document, documents
from afrieval.tasks.declaration.spec import TaskSpec, load_task
from afrieval.tasks.prompts.prompts import load_prompts, prompt_languages, render

MGSM, COT, MMLU, NLI = (load_task(name) for name in ("afrimgsm", "afrimgsm_cot", "afrimmlu", "afrixnli"))


@pytest.mark.parametrize("file", prompt_languages(NLI))
def test_finding_02_a_class_has_words_of_its_own_in_all_prompts(file: str) -> None:
    """No word means neutral in one prompt and contradiction in another."""
    meanings: dict[str, set[str]] = {}
    for prompt in load_prompts(NLI, file).values():
        for label, word in prompt.labels.items():
            meanings.setdefault(word.casefold(), set()).add(label)
    assert all(len(labels) == 1 for labels in meanings.values()), meanings


def test_finding_02_numbers_are_the_data_set_s() -> None:
    rows = [{"premise": "p", "hypothesis": "h", "label": number} for number in (0, 1, 2)]
    names = [NLI.labels[d.gold] for d in documents(NLI, rows, "a test", "test") if d.gold is not None]
    assert names == ["entailment", "neutral", "contradiction"]


@pytest.mark.parametrize(
    ("heading", "worked"),
    [
        ("Step-by-Step Answer: ", "2 + 3 = 5. The answer is 5."),
        ("Ìdáhùn lẹ́sẹẹsẹ: ", "2 + 3 = 5. Ìdáhùn náà ni 5."),
        ("መልስ ደረጃ በደረጃ፦ ", "2 + 3 = 5። መልሱ 5 ነው።"),
    ],
)
def test_finding_09_a_worked_answer_loses_its_heading_and_nothing_else(heading: str, worked: str) -> None:
    """A cut after 21 characters suits English alone."""
    rows = [{"question": f"Question: {i}?", "answer_number": 5, "answer": heading + worked} for i in (2, 3)]
    found = documents(COT, rows, "a test", str(COT.data.fewshot))
    assert [d.worked for d in found] == [worked] * 2 and [d.gold for d in found] == [5, 5]


@pytest.mark.parametrize("file", prompt_languages(COT))
def test_finding_09_an_answer_is_announced_in_the_language(file: str) -> None:
    for prompt in load_prompts(COT, file).values():
        for lead_in in prompt.lead_ins:
            sentence = lead_in.replace("{answer}", "12") if "{answer}" in lead_in else f"{lead_in} 12"
            assert read_number(f"2 x 6 = 12. {sentence}.\n\n7\n8", prompt.lead_ins) == 12


@pytest.mark.parametrize("spec", [MGSM, COT], ids=lambda spec: spec.name)
def test_finding_10_line_breaks_are_line_breaks(spec: TaskSpec) -> None:
    for file in prompt_languages(spec):
        for prompt in load_prompts(spec, file).values():
            text = render(prompt, Document(0, {"question": "q"}, (), 1), ENGLISH)
            assert "\\" not in text and text.count("\n") == prompt.template.strip().count("\n")


def test_finding_21_lines_are_not_indented() -> None:
    document = Document(0, {"question": "Which?", "subject": "elementary_mathematics"}, tuple("pqrs"), 0)
    for prompt in load_prompts(MMLU, ENGLISH).values():
        text = render(prompt, document, "yor")
        assert not re.search(r"(?m)^\s+\S", text.replace("\n\n", "\n")) and not text.endswith(" ")


@pytest.mark.parametrize("spec", [MMLU, NLI, MGSM, COT], ids=lambda spec: spec.name)
def test_finding_26_no_two_prompts_say_the_same(spec: TaskSpec) -> None:
    templates = [re.sub(r"\s+", " ", prompt.template) for prompt in load_prompts(spec, ENGLISH).values()]
    assert len(set(templates)) == len(templates)


def test_finding_27_run_on_text_does_not_change_the_number() -> None:
    """The last number of all text that a model goes on to write is another question's."""
    text = "The answer is 18.\n\nQuestion: Ada has 7 hens. Bola has 5.\nAnswer: 12"
    prompt = load_prompts(MGSM, ENGLISH)[1]
    assert read_number(text, prompt.lead_ins) == 18
