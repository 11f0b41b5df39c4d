"""Speakers see strings as a model gets them: with the words of the vocabulary, and those that close answers."""

from pathlib import Path

import pytest
from tests.conftest import ROOT

from afrieval.tasks.prompts.reviews import used
from afrieval.tasks.prompts.vocabulary import String, strings
from afrieval.tools.review.generated import PAGES
from afrieval.tools.review.sheet import examples, filled


def string(id: str, text: str) -> String:
    return String(id, Path("x"), (), text)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ({"answer_is": "Amsar ita ce"}, 'Amsa: "Amsar ita ce"'),
        ({"answer_is": "መልሱ {answer} ነው"}, 'Amsa: "መልሱ ... ነው"'),
        ({}, 'Amsa: "The answer is"'),  # as the prompt has it where a language has none
    ],
)
def test_closing_words_are_filled_in(words: dict[str, str], shown: str) -> None:
    known = {f"words/{name}": string(f"words/{name}", word) for name, word in (words | {"answer": "Amsa"}).items()}
    assert filled('{{ words.answer }}: "{{ answer_is }}"', known) == shown


def test_speakers_see_the_closing_words_that_they_review() -> None:
    known = strings(ROOT, "hau")
    of_task = {id: s for id, s in known.items() if s.is_word or s.task == "afrimgsm_cot"}
    shown = examples(ROOT, "hau", of_task)
    assert 'da "Amsar ita ce" da lambar' in shown["afrimgsm_cot/system"]
    assert shown["words/answer_is"].startswith("in afrimgsm_cot 2, lead_in, system\n")
    assert "answer_is" not in "".join(shown[id] for id in of_task)


def test_no_page_has_the_placeholder_of_closing_words() -> None:
    assert [p.name for p in (ROOT / PAGES).glob("*.md") if "answer\\_is }}" in p.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(("task", "number"), [("afrimgsm_cot", 2), ("mmlu_prox", 3)])
def test_closing_words_count_among_the_strings_of_a_prompt(task: str, number: int) -> None:
    path = ROOT / "tasks" / task / "prompts" / "yor.yaml"
    assert "words/answer_is" in [s.id for s in used(path, number)]
