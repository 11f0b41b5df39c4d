"""Defects of AfriSenti and NollySenti as published in lm-evaluation-harness, and of XNLI's kind; numbered as found."""

import os
from collections.abc import Callable
from functools import cache

import pytest
from tests.conftest import spec_of

from afrieval._util.errors import UserError
from afrieval.languages import ENGLISH
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.paper import paper_prompts
from afrieval.tasks.prompts.prompts import Prompt, answers, load_prompts, prompt_languages, render

DATA = os.environ.get("AFRIEVAL_DATA", "")
AFRISENTI, NOLLYSENTI, AFRIHATE, XNLI = (spec_of(t) for t in ("afrisenti", "nollysenti", "afrihate", "xnli"))
SENTIMENT = [AFRISENTI, NOLLYSENTI]
CLASSIFYING = [*SENTIMENT, AFRIHATE]
LANGUAGES = [(spec, language) for spec in SENTIMENT for language in spec.languages]


@cache
def papers(spec: str, language: str, uncleaned: bool = False) -> dict[int, Prompt]:
    return paper_prompts(spec_of(spec), language, uncleaned)


def shown(spec: TaskSpec, prompt: Prompt, language: str) -> str:
    """A prompt whose row has no words of its own."""
    document = Document(0, dict.fromkeys(spec.fields, "70001"), tuple(spec.labels), 0)
    return render(prompt, document, language)


@pytest.mark.parametrize("file", prompt_languages(XNLI))
def test_finding_02_each_number_of_xnli_is_the_word_of_its_own_class(file: str) -> None:
    rows = [{"premise": "p", "hypothesis": "h", "label": number} for number in (0, 1, 2)]
    found = documents(XNLI, rows, "a test", "test")
    for prompt in load_prompts(XNLI, file).values():
        words = [answers(prompt, d, "text")[int(d.gold or 0)] for d in found]
        classes = ("entailment", "neutral", "contradiction")
        assert words == (["A", "B", "C"] if prompt.lettered else [prompt.labels[name] for name in classes])


@pytest.mark.parametrize(("spec", "language"), LANGUAGES, ids=lambda value: getattr(value, "name", value))
def test_finding_22_no_blank_stands_before_the_answer(spec: TaskSpec, language: str) -> None:
    """Prompts 4 and 5 of AfriSenti and 3 to 5 of NollySenti end in one or in a line end, and a blank is added."""
    found = papers(spec.name, language, uncleaned=True)
    blanks = [number for number, prompt in found.items() if shown(spec, prompt, language)[-1].isspace()]
    assert blanks == ([4, 5] if spec is AFRISENTI else [3, 4, 5])
    for prompt in [*papers(spec.name, language).values(), *load_prompts(spec, ENGLISH).values()]:
        assert not shown(spec, prompt, language)[-1].isspace()


@pytest.mark.parametrize("language", NOLLYSENTI.languages)
def test_finding_23_no_backslash_is_asked(language: str) -> None:
    found = papers("nollysenti", language, uncleaned=True)
    assert [number for number, prompt in found.items() if "\\" in prompt.template] == [1, 2]
    assert not any("\\" in prompt.template for prompt in papers("nollysenti", language).values())


@pytest.mark.parametrize(("spec", "language"), LANGUAGES, ids=lambda value: getattr(value, "name", value))
def test_finding_25_labels_are_scored_as_they_are_shown_after_a_cue(spec: TaskSpec, language: str) -> None:
    """The paper shows Positive and scores positive, except in prompt 5, and has no cue in the first prompts."""
    for number, prompt in papers(spec.name, language, uncleaned=True).items():
        text = shown(spec, prompt, language)
        assert all(word in text for word in prompt.labels.values()) == (number == 5)
    cleaned, own = papers(spec.name, language), load_prompts(spec, ENGLISH)
    for prompt in [*cleaned.values(), *own.values()]:
        text = shown(spec, prompt, language)
        assert text.endswith(":") and all(word in text for word in prompt.labels.values())


@pytest.mark.parametrize("spec", CLASSIFYING, ids=lambda spec: spec.name)
@pytest.mark.parametrize("coded", [str.upper, lambda label: f"label {label}"])
def test_finding_36_a_file_with_another_coding_is_refused(spec: TaskSpec, coded: Callable[[str], str]) -> None:
    """Its labels are shown; no answer is counted as wrong because its label is spelt in another way."""
    columns = spec.field_columns.values()
    rows = [{**dict.fromkeys(columns, "x"), spec.answer_columns[0]: coded(label)} for label in spec.labels]
    with pytest.raises(UserError, match=f"no row has a gold answer.*{coded(spec.labels[0])}"):
        documents(spec, rows, "a test", "test")


@pytest.mark.data
@pytest.mark.parametrize(("spec", "language"), LANGUAGES, ids=lambda value: getattr(value, "name", value))
def test_findings_20_and_36_examples_are_of_one_split_and_have_known_labels(spec: TaskSpec, language: str) -> None:
    """Also in Oromo and Tigrinya, whose data was published without a training split."""
    assert spec.data.fewshot == "validation"
    split = load_split(spec, language, "validation", DATA)
    assert split and len(split.documents) >= 100 and all(d.gold is not None for d in split.documents)
