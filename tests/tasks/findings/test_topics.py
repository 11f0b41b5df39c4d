"""Defects of the published tasks on topics and intents: SIB-200, MasakhaNEWS and InjongoIntent; numbered as found."""

import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.conftest import spec_of
from tests.tasks.contract import Splits, data_splits, flat, placeholder, sample_splits

from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.paper import paper_prompts
from afrieval.tasks.prompts.prompts import Prompt, choice_texts, load_prompts, prompt_languages, render

DATA = os.environ.get("AFRIEVAL_DATA", "")
SIB, NEWS, HEADLINES, INTENTS = map(spec_of, ("sib200", "masakhanews", "masakhanews_headline", "injongo_intent"))
OF_PAPER = [SIB, HEADLINES, INTENTS]


@cache
def every_prompt(task: str) -> list[tuple[str, Prompt]]:
    """All prompts of a task, those of the paper in every language, with the language that they are asked in."""
    spec = spec_of(task)
    ours = [(file, prompt) for file in prompt_languages(spec) for prompt in load_prompts(spec, file).values()]
    return ours + [(code, prompt) for code in spec.languages for prompt in paper_prompts(spec, code).values()]


def shown(spec: TaskSpec, prompt: Prompt, language: str) -> str:
    return render(prompt, placeholder(spec, 0), language)


@pytest.mark.parametrize("spec", [SIB, NEWS, HEADLINES], ids=lambda spec: spec.name)
def test_finding_04_the_topics_that_are_listed_are_those_that_are_scored(spec: TaskSpec) -> None:
    """Prompt 4 of MasakhaNEWS lists geography, which is not scored, and leaves out business, which is."""
    for language, prompt in every_prompt(spec.name):
        text = shown(spec, prompt, language)
        assert all(word in text for word in choice_texts(prompt, placeholder(spec, 0))), f"{prompt.title}: {text}"
        others = {"geography", "travel"} if "business" in spec.labels else {"business", "religion"}
        assert not others & set(re.findall(r"\w+", text)), prompt.title


def test_finding_04_the_published_prompt_still_has_it() -> None:
    text = paper_prompts(HEADLINES, "hau", uncleaned=True)[4].template
    assert "geography" in text and "business" not in text


@pytest.mark.parametrize("spec", [SIB, NEWS, HEADLINES, INTENTS], ids=lambda spec: spec.name)
def test_finding_20_examples_are_from_one_split_in_every_language(spec: TaskSpec) -> None:
    """InjongoIntent has no validation split in English, so the published English examples are from train."""
    assert spec.data.fewshot and spec.data.fewshot != spec.data.evaluate
    patterns = spec.data.files[spec.data.fewshot]
    names = {"train": "train", "validation": "dev|validation"}
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        assert isinstance(pattern, str) and re.search(names[spec.data.fewshot], pattern), pattern


@pytest.mark.parametrize("spec", OF_PAPER, ids=lambda spec: spec.name)
def test_findings_22_and_23_a_prompt_of_the_paper_ends_with_its_last_word(spec: TaskSpec) -> None:
    """Neither with blanks or empty lines, nor with a cue after a backslash."""
    for language, prompt in every_prompt(spec.name):
        text = shown(spec, prompt, language)
        assert text == text.strip() and "\\" not in text and prompt.delimiter == " ", prompt.title


@pytest.mark.parametrize("spec", [SIB, HEADLINES], ids=lambda spec: spec.name)
def test_findings_22_and_23_the_published_prompts_still_have_them(spec: TaskSpec) -> None:
    texts = {number: prompt.template for number, prompt in paper_prompts(spec, "yor", uncleaned=True).items()}
    assert all(text.endswith("\n\n") for text in texts.values())
    assert [number for number, text in texts.items() if "\\category" in text] == [3, 4, 5]
    assert [number for number, prompt in paper_prompts(spec, "yor").items() if "\ncategory:" in prompt.template] == [
        3,
        4,
        5,
    ]


def test_finding_24_a_blank_follows_the_name_of_the_language() -> None:
    prompts = {code: paper_prompts(INTENTS, code)[4].template for code in INTENTS.languages}
    assert all(re.search(r"[a-z] text: '", text) for text in prompts.values())


@pytest.mark.parametrize("language", sorted({*NEWS.languages}))
def test_finding_28_the_whole_article_is_shown(language: str) -> None:
    """AfroBench shows headlines; so does `masakhanews_headline`, which says so."""
    article = Document(0, {"headline": "h1", "text": "t1 t2"}, tuple(NEWS.labels), 0)
    files = [file for file in prompt_languages(NEWS) if file in ("eng", language)]
    for prompt in (prompt for file in files for prompt in load_prompts(NEWS, file).values()):
        assert "h1\nt1 t2\n" in render(prompt, article, language)
    assert set(HEADLINES.fields) == {"headline"} and "headline" in HEADLINES.description


@pytest.mark.parametrize("spec", [SIB, NEWS, INTENTS], ids=lambda spec: spec.name)
def test_finding_36_another_coding_of_the_answers_is_an_error(spec: TaskSpec) -> None:
    """Numbers in the order of the labels are understood; other names, in all rows, are refused."""
    column = spec.answer_columns[0]
    rows = [{**dict.fromkeys([*map(str, spec.fields.values()), *spec.key], "x"), column: n} for n in range(3)]
    assert [d.gold for d in documents(spec, rows, "a test", "test")] == [0, 1, 2]
    with pytest.raises(Exception, match="no row has a gold answer"):
        documents(spec, [{**row, column: f"Label {row[column]}"} for row in rows], "a test", "test")


@pytest.mark.data
@pytest.mark.parametrize("spec", [SIB, NEWS, INTENTS], ids=lambda spec: spec.name)
def test_finding_36_all_answers_of_the_real_data_are_labels(spec: TaskSpec) -> None:
    """Spelled as the task file spells them."""
    found: dict[str, Splits] = {code: data_splits(spec, code, [spec.data.evaluate], DATA) for code in spec.languages}
    assert any(found.values())
    assert not [(code, d.id) for code, splits in found.items() for d in flat(splits) if d.gold is None]


def test_a_folder_without_a_language_is_no_error_and_no_other_language_s_rows(tmp_path: Path) -> None:
    """The excerpt of InjongoIntent in Swahili is not taken for another language."""
    (tmp_path / INTENTS.data.hub).mkdir(parents=True)
    row = '{"intent": "alarm", "text": "x"}\n'
    (tmp_path / INTENTS.data.hub / "swa_test.24rows.jsonl").write_text(row, encoding="utf-8")
    assert load_split(INTENTS, "hau", "test", str(tmp_path)) is None
    swahili = load_split(INTENTS, "swa", "test", str(tmp_path))
    assert swahili and [d.gold for d in swahili.documents] == [0]


def test_articles_and_headlines_have_the_same_sample_rows() -> None:
    for language in ("eng", "amh"):
        whole, short = (flat(sample_splits(spec, language)) for spec in (NEWS, HEADLINES))
        assert [replace(d, fields={"headline": d.fields["headline"]}) for d in whole] == short
    assert load_split(NEWS, "eng", "test", SAMPLES)
