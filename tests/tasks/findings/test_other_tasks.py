"""Defects of published IrokoBench, sentiment, topic and intent tasks, looked for in ours; numbered as found."""

import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.conftest import spec_of
from tests.tasks.contract import Splits, data_splits, flat, placeholder, sample_splits

from afrieval.languages import ENGLISH
from afrieval.scoring.extract.number import read_number
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.paper import paper_prompts
from afrieval.tasks.prompts.prompts import Prompt, load_prompts, prompt_languages, render

DATA = os.environ.get("AFRIEVAL_DATA", "")
MGSM, COT, NLI = map(spec_of, ("afrimgsm", "afrimgsm_cot", "afrixnli"))
SIB, NEWS, HEADLINES, INTENTS = map(spec_of, ("sib200", "masakhanews", "masakhanews_headline", "injongo_intent"))
SENTIMENT = [spec_of("afrisenti"), spec_of("nollysenti")]
LANGUAGES = [(spec, language) for spec in SENTIMENT for language in spec.languages]


@cache
def every_prompt(task: str) -> list[tuple[str, Prompt]]:
    """All prompts of a task, those of the paper in every language, with the language that they are asked in."""
    spec = spec_of(task)
    ours = [(file, prompt) for file in prompt_languages(spec) for prompt in load_prompts(spec, file).values()]
    return ours + [(code, prompt) for code in spec.languages for prompt in paper_prompts(spec, code).values()]


@pytest.mark.parametrize("spec", [NLI, spec_of("xnli")], ids=lambda spec: spec.name)
def test_finding_02_numbers_are_the_data_set_s(spec: TaskSpec) -> None:
    rows = [{"premise": "p", "hypothesis": "h", "label": number} for number in (0, 1, 2)]
    names = [spec.labels[d.gold] for d in documents(spec, rows, "a test", "test") if d.gold is not None]
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


def test_finding_27_run_on_text_does_not_change_the_number() -> None:
    """The last number of all text that a model goes on to write is another question's."""
    text = "The answer is 18.\n\nQuestion: Ada has 7 hens. Bola has 5.\nAnswer: 12"
    prompt = load_prompts(MGSM, ENGLISH)[1]
    assert read_number(text, prompt.lead_ins) == 18


@pytest.mark.parametrize("spec", [SIB, NEWS, HEADLINES], ids=lambda spec: spec.name)
def test_finding_04_the_topics_that_are_listed_are_those_that_are_scored(spec: TaskSpec) -> None:
    """Prompt 4 of MasakhaNEWS lists geography, which is not scored, and leaves out business, which is."""
    for language, prompt in every_prompt(spec.name):
        text = render(prompt, placeholder(spec, 0), language)
        others = {"geography", "travel"} if "business" in spec.labels else {"business", "religion"}
        assert not others & set(re.findall(r"\w+", text)), prompt.title


def test_finding_24_a_blank_follows_the_name_of_the_language() -> None:
    prompts = {code: paper_prompts(INTENTS, code)[4].template for code in INTENTS.languages}
    assert all(re.search(r"[a-z] text: '", text) for text in prompts.values())


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


@pytest.mark.parametrize("spec", SENTIMENT, ids=lambda spec: spec.name)
def test_finding_25_labels_are_asked_for_by_a_cue(spec: TaskSpec) -> None:
    """The paper has none in its first prompts; that labels are scored as they are shown is in the contract."""
    for language, prompt in every_prompt(spec.name):
        assert prompt.language != ENGLISH or render(prompt, placeholder(spec, 0), language).endswith(":"), prompt.title


@pytest.mark.data
@pytest.mark.parametrize(("spec", "language"), LANGUAGES, ids=lambda value: getattr(value, "name", value))
def test_findings_20_and_36_examples_are_of_one_split_and_have_known_labels(spec: TaskSpec, language: str) -> None:
    """Also in Oromo and Tigrinya, whose data was published without a training split."""
    assert spec.data.fewshot == "validation"
    split = load_split(spec, language, "validation", DATA)
    assert split and len(split.documents) >= 100 and all(d.gold is not None for d in split.documents)
