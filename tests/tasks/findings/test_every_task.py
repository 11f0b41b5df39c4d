"""Defects of published African tasks that could be in any task, looked for in each of ours; numbered as found.

Findings 2, 9, 10, 21 to 23, 25 and 26 are rules of the contract (tests/tasks/contract.py), which all tasks keep. The
tests of a single data set's defects are in the other files of this folder.
"""

import re
import sys
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from tests.conftest import TEMPLATED, spec_of
from tests.tasks.small_task import cell_of

from afrieval._util.errors import UserError
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.models.base import UnknownTokenizer
from afrieval.tasks.answers.choices import LETTERS
from afrieval.tasks.cells.harness_tasks import InMemoryTask
from afrieval.tasks.cells.limits import generation
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.splits import Split, load_split
from afrieval.tasks.declaration.spec import translated
from afrieval.tasks.declaration.task_scoring import by_likelihood
from afrieval.tasks.prompts.prompts import answers, load_prompts, render

SPECS = {name: spec_of(name) for name in TEMPLATED}
# Tasks with one split: their other rows serve as examples.
SHARED_SPLIT = {"afrimed_qa", "aya_dolly", "aya_human", "belebele", "blend_choices", "blend_short"}
SHARED_SPLIT |= {"blend_short_english", "global_piqa", "ntrex_from_eng", "ntrex_to_eng", "proverbeval_meaning"}
CHOOSING = [name for name, spec in SPECS.items() if spec.scoring.answer.has_choices]


def sample_language(task: str) -> str:
    there = {path.stem for path in SPECS[task].samples_folder.glob("*.jsonl")} & set(SPECS[task].languages)
    return ENGLISH if ENGLISH in there else min(there)


@cache
def asked(task: str, form: str, number: int = 1, shots: int = 0) -> TaskCell:
    spec, language = SPECS[task], sample_language(task)
    split = load_split(spec, language, spec.data.evaluate, "samples")
    pool = load_split(spec, language, spec.data.fewshot, "samples") if spec.data.fewshot else None
    assert split
    return cell_of(spec, split.documents, form, language, number, pool, shots=shots)


def built(questions: TaskCell) -> InMemoryTask:
    """Returns the harness' task with its requests."""
    ends = generation(questions, UnknownTokenizer()) if questions.generates else None
    task = InMemoryTask(questions, questions.scorable, ends)
    task.build_all_requests()
    return task


@pytest.mark.parametrize("task", CHOOSING)
def test_finding_08_what_the_answer_form_says_is_scored(task: str) -> None:
    """A prompt that asks for a letter is scored by letters, one that shows words by those words."""
    for form in filter(by_likelihood, SPECS[task].answer_forms):
        prompts = load_prompts(SPECS[task], ENGLISH)
        lettered = [n for n, prompt in prompts.items() if prompt.lettered]
        questions = asked(task, form, lettered[0] if lettered and form == "letter" else 1)
        for document in questions.scorable:
            texts = answers(questions.prompt, document, form)
            letters = list(LETTERS[: len(document.choices)])
            assert (texts == letters) == (form == "letter" or questions.prompt.lettered)
            shown = questions.text(document)
            assert SPECS[task].blank or all(text in shown for text in texts), (
                "nothing is scored that the prompt does not show"
            )


def test_finding_08_likelihoods_are_also_normalised() -> None:
    """Raw likelihoods of option texts favour short ones."""
    for spec in (SPECS[task] for task in CHOOSING):
        if "text" in spec.answer_forms and not spec.metrics:
            names = {metric.name for metric in spec.scoring.metrics_of("text")}
            assert {"acc_norm", "acc_bytes", "acc_tokens"} <= names, spec.name


def test_finding_18_building_a_task_loads_no_metric_from_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "evaluate", None)  # the library of `hf_evaluate: true`; an import of it fails
    for task, form in [(name, of) for name in TEMPLATED for of in SPECS[name].answer_forms]:
        assert built(asked(task, form)).instances, task


def test_finding_19_no_question_is_its_own_example() -> None:
    """Also where the few-shot split is the evaluated one."""
    for task, spec in [(name, spec) for name, spec in SPECS.items() if spec.data.fewshot]:
        questions = asked(task, spec.answer_forms[0], shots=2)
        for document in questions.scorable:
            examples = questions.examples(document)
            assert len(examples) == questions.shots >= 2, task
            assert all((e.fields, e.choices) != (document.fields, document.choices) for e in examples), task
            assert spec.data.fewshot != spec.data.evaluate or document.id not in [e.id for e in examples], task
    assert {name for name, spec in SPECS.items() if spec.data.fewshot == spec.data.evaluate} == SHARED_SPLIT


def test_finding_24_a_or_an_suits_every_language() -> None:
    """ "a English sentence", or "an Hausa sentence"."""
    names = "|".join(re.escape(of.name) for of in LANGUAGES.values())
    for task, spec in SPECS.items():
        document = Document(0, dict.fromkeys(spec.fields, "x"), tuple(spec.labels) or tuple("pqrs"), 0)
        for prompt, language in product(load_prompts(spec, ENGLISH).values(), spec.languages):
            for article, name in re.findall(rf"\b([Aa]n?) ({names})\b", render(prompt, document, language)):
                vowel = name[0] in "AEIO" or (name[0] == "U" and not name.startswith("Uni"))
                assert article.lower() == ("an" if vowel else "a"), f"{task}, {prompt.title}: {article} {name}"


def test_finding_26_a_translated_test_set_is_not_called_by_the_original_s_language() -> None:
    specs = [translated(spec) for spec in SPECS.values() if spec.translate]
    for spec, prompt in [(of, prompt) for of in specs for prompt in load_prompts(of, ENGLISH).values()]:
        document = Document(0, dict.fromkeys(spec.fields, "x"), tuple(spec.labels) or tuple("pqrs"), 0)
        text = render(prompt, document, spec.text_language or "yor")
        assert "Yoruba" not in text and spec.text_language == ENGLISH, spec.name


def test_finding_27_generated_answers_end() -> None:
    """A model without chat template goes on with questions that it makes up, unless a text stops it.

    Where the task says how answers end, as published, nothing is added. An answer of one line ends with it.
    """
    for task, spec in [(name, of) for name, of in SPECS.items() if "generate" in of.answer_forms]:
        numbers = [1] if spec.generation else load_prompts(spec, ENGLISH)
        for ends in [generation(asked(task, "generate", number), UnknownTokenizer()) for number in numbers]:
            if spec.generation:
                declared = spec.generation.max_tokens, spec.generation.stop
                assert (ends.max_tokens, list(ends.stop)) == declared, task
            else:
                of_form = ends.stop or spec.kind == "open"  # whose answers have no form without examples
                assert of_form and all(stop.strip(" ") for stop in ends.stop) and ends.max_tokens >= 32, task
            if spec.kind in ("summary", "restoration", "translation") and not task.startswith("afridocmt"):
                assert ends.stop == ("\n",), task


@pytest.mark.parametrize(
    ("task", "metric", "elsewhere"),
    [
        ("xlsum", "rouge_l", {"arb", "eng", "fra", "por"}),
        ("adr", "chrf", set()),
        ("diacritics", "chrf", {"fra", "por"}),
        ("diacritics_mafand", "chrf", set()),
    ],
)
def test_findings_14_and_33_means_have_the_task_s_own_metric_and_african_languages(
    task: str, metric: str, elsewhere: set[str]
) -> None:
    """Published groups have the means of a metric that their tasks lack, and Telugu among African languages."""
    assert SPECS[task].scoring.metrics[0].name == metric
    assert {code for code in SPECS[task].languages if not LANGUAGES[code].african} == elsewhere


@pytest.mark.parametrize("task", [name for name in CHOOSING if SPECS[name].labels])
def test_finding_36_a_label_that_is_unknown_is_not_counted_as_wrong(task: str) -> None:
    """It is marked, and neither scored nor an example; a file that has no other labels is refused."""
    spec = SPECS[task]
    fields = dict.fromkeys(spec.field_columns.values(), "x")
    first = spec.answer_columns[0]
    rows = [{**fields, first: label} for label in (spec.labels[0], "No such label")]
    known, unknown = documents(spec, rows, "a test", spec.data.evaluate)
    assert (known.gold, known.defect) == (0, "") and unknown.gold is None and unknown.defect
    questions = asked(task, spec.answer_forms[0])
    split = Split([known, unknown], "", {})
    assert replace(questions, data=split).scorable == [known]
    with pytest.raises(UserError, match=r"no row has a gold answer; column .* has .Label "):
        documents(spec, [{**fields, first: f"Label {label}"} for label in spec.labels], "a test", spec.data.evaluate)
