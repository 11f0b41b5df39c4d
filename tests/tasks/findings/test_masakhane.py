"""Defects of published tasks on MasakhaNER and MasakhaPOS, looked for in ours; numbered as found."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import REAL_DATA, spec_of

from afrieval.languages import ENGLISH
from afrieval.scoring.base import ExtractionContext, Question
from afrieval.scoring.tagging import NONE
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.prompts.prompts import load_prompts, prompt_languages, render

NER, POS = spec_of("masakhaner"), spec_of("masakhapos")
TASKS = pytest.mark.parametrize("spec", [NER, POS], ids=lambda spec: spec.name)
SAMPLES = ("hau", "pcm", "swa", "yor", "zul")
TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"  # of Universal Dependencies


def extracted(spec: Any, text: str) -> Any:
    return spec.scoring.extract(text, Question(None, names=spec.scoring.names), ExtractionContext())


def each_prompt(spec: Any) -> Iterator[tuple[str, str]]:
    """Yields the language of each prompt, and its text for a document without words."""
    for language in prompt_languages(spec):
        for prompt in load_prompts(spec, language).values():
            document = Document(0, dict.fromkeys(spec.fields, "70001"), (), None)
            yield language, f"{prompt.system}\n{render(prompt, document, 'yor')}"


def documents(spec: Any, language: str, source: str) -> list[Document]:
    found = load_split(spec, language, "test", source)
    return found.documents if found else []


@TASKS
@pytest.mark.parametrize("language", SAMPLES)
def test_findings_05_to_07_an_echo_is_the_whole_answer_whatever_the_tokens(spec: Any, language: str) -> None:
    """Sample rows have apostrophes, quotes, commas and points in words, which test_every_task.py of scoring echoes."""
    texts = " ".join(d.fields["text"] for d in documents(spec, language, "samples"))
    assert all(mark in texts for mark in ("J. D.", '"', "Ochieng'", " , "))


@TASKS
def test_finding_07_the_format_that_a_prompt_shows_is_parsed(spec: Any) -> None:
    """AfroBench's first prompt asks for another separator than its examples show."""
    shown = r"PER: \w+ \w+|LOC: Mombasa" if spec is NER else r"\w+ PROPN|[.,] PUNCT"
    for language, text in each_prompt(spec):
        parsed = [extracted(spec, example) for example in re.findall(shown, text)]
        assert (spec is POS or NONE in text.split()) and "$" not in text
        assert None not in parsed and (language == ENGLISH or parsed), (language, text)


@TASKS
def test_finding_24_a_prompt_names_the_tags_that_are_scored_and_no_other(spec: Any) -> None:
    """AfroBench's list of tags lacks a quotation mark."""
    expected = sorted(spec.scoring.names) if spec is NER else TAGS.split()
    for language, text in each_prompt(spec):
        named = {word for word in re.findall(r"\b[A-Z]+\b", text) if word in expected or len(word) > 2}
        assert sorted(named - {"UPOS"}) == expected, (language, text)
        assert text.count('"') % 2 == 0 and text.count("(") == text.count(")")


def test_the_tags_are_those_of_universal_dependencies() -> None:
    assert sorted(set(POS.tags) - {"_"}) == TAGS.split()


@pytest.mark.data
@TASKS
def test_all_tags_of_the_data_are_declared(spec: Any) -> None:
    """MasakhaNER has dates too, and MasakhaPOS no tag but the seventeen."""
    found = {tag for path in (Path(str(REAL_DATA)) / spec.data.hub).rglob("*.txt") for tag in _tags(path)}
    assert found == set(spec.tags) - {"_"}


def _tags(path: Path) -> set[str]:
    return {line.split(" ")[1] for line in path.read_text(encoding="utf-8").splitlines() if line}
