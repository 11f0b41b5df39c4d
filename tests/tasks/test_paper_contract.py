"""The contract over the prompts of the papers, cleaned, in every language; what they keep of the paper is named."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from tests.conftest import PAPERS
from tests.tasks import contract, contract_numbers
from tests.tasks.contract import Case, Complaints

from afrieval.languages import ENGLISH
from afrieval.tasks.data.documents import Document
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import has_split
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.paper import paper_prompts
from afrieval.tasks.prompts.prompts import Prompt

DATA = os.environ.get("AFRIEVAL_DATA", "")
FIRST = 50
spec_of = cache(load_task)

# What is left as the paper has it: (check, task, number) to the part of the complaint that is expected.
KEPT = {
    ("uses_every_field", "afrimmlu", 4): "subject",  # the prompt speaks of "the subject matter" only
    ("names_what_is_scored", "naijarc", 3): "choices are headed by ['Option A: ', ",
    ("names_what_is_scored", "belebele", 3): "choices are headed by ['Option A: ', ",  # the letters follow a word
    ("names_what_is_scored", "mmmlu", 3): "choices are headed by ['Option A: ', ",
    **{("labels_differ", "injongo_intent", n): "label time 'time' and label timezone" for n in range(1, 6)},
}


@cache
def prompts(task: str, language: str) -> dict[int, Prompt]:
    return paper_prompts(spec_of(task), language)


@cache
def documents(task: str, language: str, source: str) -> list[Document]:
    spec = spec_of(task)
    if source == SAMPLES:
        near = (contract.sample_splits(spec, code) for code in (language, ENGLISH, *spec.languages))
        return contract.flat(next(splits for splits in near if splits))
    return contract.data_splits(spec, language, [spec.data.evaluate], source)[spec.data.evaluate][:FIRST]


def case(task: str, language: str, number: int, source: str = SAMPLES) -> Case:
    return Case(spec_of(task), prompts(task, language)[number], language, documents(task, language, source))


def places(source: str = "") -> Iterator[Any]:
    for task in PAPERS:
        for language in spec_of(task).languages:
            if prompts(task, language) and (not source or has_split(spec_of(task), language, "test", source)):
                yield pytest.param(task, language, id=f"{task}-{language}")


def check(of: Callable[[Case], Complaints], each: Case) -> None:
    kept = KEPT.get((of.__name__, each.spec.name, each.prompt.number))
    complaints = of(each)
    assert bool(kept) <= bool(complaints), f"{each.at()} is no longer an exception"
    if unexpected := [c for c in complaints if not kept or kept not in c]:
        pytest.fail("\n".join(unexpected[:5]), pytrace=False)


def labels_differ(each: Case) -> Complaints:
    return contract.labels_differ(each, prompts(each.spec.name, each.language))


CHECKS = (
    contract.renders,
    contract.uses_every_field,
    contract.tells_documents_apart,
    contract.names_what_is_scored,
)


@pytest.mark.parametrize(("task", "language"), list(places()))
def test_prompts_of_the_paper_keep_the_contract_on_samples(task: str, language: str) -> None:
    for number in prompts(task, language):
        for of in (*CHECKS, contract.clean):
            check(of, case(task, language, number))


@pytest.mark.data
@pytest.mark.parametrize(("task", "language"), list(places(DATA)))
def test_they_keep_it_on_real_data(task: str, language: str) -> None:
    for number in prompts(task, language):
        for of in CHECKS:
            check(of, case(task, language, number, DATA))


@pytest.mark.parametrize("task", PAPERS)
def test_examples_look_as_they_are_scored_and_labels_differ(task: str) -> None:
    for number in prompts(task, "yor"):
        check(contract.few_shot_answers_look_scored, case(task, "yor", number))
        check(labels_differ, case(task, "yor", number))


@pytest.mark.parametrize("task", [task for task in PAPERS if spec_of(task).kind == "number"])
def test_a_model_is_stopped_where_it_begins_another_question(task: str) -> None:
    for number in prompts(task, "yor"):
        check(contract_numbers.has_a_question_label, case(task, "yor", number))


@pytest.mark.parametrize("task", PAPERS)
def test_prompts_of_a_paper_differ(task: str) -> None:
    texts = [prompt.template for prompt in prompts(task, "yor").values()]
    assert len(set(texts)) == len(texts)
