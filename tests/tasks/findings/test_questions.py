"""Defects of published question answering tasks, looked for in ours; numbered as found."""

import re
from typing import Any

import pytest
from tests.conftest import REAL_DATA, spec_of

from afrieval._util.errors import UserError
from afrieval.languages import ENGLISH
from afrieval.scoring.base import Question, Response
from afrieval.scoring.metrics import metric
from afrieval.tasks.cells.examples import examples, ranking
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.prompts import Prompt, load_prompts, render

AFRIQA, PIVOT, TYDIQA = (spec_of(name) for name in ("afriqa", "afriqa_pivot", "tydiqa"))
NAIJARC, ARC, TRUTH = (spec_of(name) for name in ("naijarc", "uhura_arc_easy", "uhura_truthfulqa"))


def asked(spec: TaskSpec, prompt: Prompt, n_choices: int = 0, language: str = "yor") -> str:
    fields = {name: f"9{at}" for at, name in enumerate(spec.fields)}
    return render(prompt, Document(0, fields, tuple(f"8{at}" for at in range(n_choices)), 0), language)


def of_answer(name: str, given: str, gold: list[str]) -> Any:
    return metric(name).measure(Response(given), Question(gold))


def test_finding_11_punctuation_is_ignored_by_a_declared_rule() -> None:
    """The harness' list of marks to ignore became one text. Ours has no options: the metrics' rule holds."""
    for spec in (AFRIQA, PIVOT, TYDIQA):
        assert spec.metrics is None and {"exact_match", "token_f1"} <= {m.name for m in spec.scoring.metrics}
    for given in ("Doha.", "doha", '"Doha"', "Doha,", " Doha "):
        assert of_answer("exact_match", given, ["Doha"]) == [1.0], given


@pytest.mark.parametrize("gold", ["a Kano", "An", "the", "ሙሳ።", "Ọ̀yọ́", "ní Ìbàdàn", "«Kinshasa»", "1,234"])
def test_finding_12_an_echoed_answer_is_right_in_every_language(gold: str) -> None:
    for name in ("exact_match", "token_f1", "rouge_l"):
        assert of_answer(name, gold, [gold]) == [pytest.approx(1.0)], name


def test_finding_12_words_like_english_articles_are_words() -> None:
    """Hausa a ("in") was removed, so that "a Kano" was "Kano"."""
    assert of_answer("exact_match", "Kano", ["a Kano"]) == [0.0]
    assert 0.0 < of_answer("token_f1", "Kano", ["a Kano"])[0] < 1.0


def test_finding_19_an_example_has_neither_the_question_nor_its_passage() -> None:
    """AfriQA has questions and passages in train and test."""

    def row(number: int, question: str, passage: str) -> Document:
        return Document(number, {"question": question, "passage": passage}, (), ["x"])

    pool = [row(0, "q", "other"), row(1, "other", "p"), row(2, "r", "s"), row(3, "t", "u")]
    ranked = ranking(pool, 1, "data", "train")
    assert {d.id for d in examples(ranked, 2, row(9, "q", "p"), AFRIQA.apart)} == {2, 3}
    with pytest.raises(UserError, match="only 2 examples"):
        examples(ranked, 3, row(9, "q", "p"), AFRIQA.apart)


@pytest.mark.data
def test_finding_19_swahili_has_no_examples_in_afriqa() -> None:
    assert REAL_DATA and load_split(AFRIQA, "yor", "train", REAL_DATA)
    assert load_split(AFRIQA, "swa", "test", REAL_DATA) and load_split(AFRIQA, "swa", "train", REAL_DATA) is None


@pytest.mark.parametrize("spec", [AFRIQA, PIVOT, TYDIQA, NAIJARC, ARC, TRUTH], ids=lambda spec: spec.name)
def test_finding_20_all_languages_have_the_same_splits(spec: TaskSpec) -> None:
    """A split's files differ by language code alone, or by English and French passages; see also test_questions_files.

    Uhura's examples were from train in two languages and from validation in five.
    """
    for files in spec.data.files.values():
        patterns = files if isinstance(files, list) else [files]
        assert not any(re.search(rf"(?<![a-z]){code}(?![a-z])", str(p)) for p in patterns for code in spec.languages)


def test_answers_are_asked_for_in_the_language_that_is_scored() -> None:
    """AfroBench scores English or French answers, and asks for none of them."""
    for spec, expected in ((AFRIQA, "Hausa"), (PIVOT, "English"), (TYDIQA, "Swahili")):
        language = "swa" if spec is TYDIQA else "hau"
        for prompt in load_prompts(spec, ENGLISH).values():
            assert expected in asked(spec, prompt, language=language), prompt.title
    assert "French" in asked(PIVOT, load_prompts(PIVOT, ENGLISH)[1], language="fon")
    assert "(Turanci)" in asked(PIVOT, load_prompts(PIVOT, "hau")[1], language="hau")
    assert PIVOT.answers_in("fon") == "fra" and AFRIQA.answers_in("fon") == "fon"


@pytest.mark.parametrize("language", ["eng", "amh", "zul"])
def test_no_letter_is_right_more_often_than_others(language: str) -> None:
    """TruthfulQA has the right choice first: unshuffled, A would be right always."""
    choices, labels = ["right", "x", "y", "z"], [1, 0, 0, 0]
    given = [{"question": f"q{n}", "mc1_targets.choices": choices, "mc1_targets.labels": labels} for n in range(400)]
    found = documents(TRUTH, given, language, "test")
    assert all(d.choices[d.gold] == "right" for d in found if d.gold is not None)
    assert all(70 < sum(d.gold == letter for d in found) < 130 for letter in range(4))
    assert found == documents(TRUTH, given[:200], language, "test") + found[200:]
