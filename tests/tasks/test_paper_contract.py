"""The contract over the prompts of the papers, cleaned, in every language; what they keep of the paper is named."""

import os
from collections.abc import Callable
from functools import cache

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
from afrieval.tasks.prompts.prompts import Prompt, PromptFiles

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


@cache
def prompt_files(task: str) -> PromptFiles:
    return PromptFiles(spec_of(task))


def cases(task: str, language: str = "yor", source: str = SAMPLES) -> list[Case]:
    rows = documents(task, language, source)
    return [Case(spec_of(task), p, language, rows, prompt_files(task)) for p in prompts(task, language).values()]


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


def check_all(task: str, source: str) -> None:
    for language in spec_of(task).languages:
        if not prompts(task, language) or (source and not has_split(spec_of(task), language, "test", source)):
            continue
        for each in cases(task, language, source or SAMPLES):
            for of in CHECKS if source else (*CHECKS, contract.clean):
                check(of, each)


@pytest.mark.parametrize("task", PAPERS)
def test_prompts_of_the_paper_keep_the_contract_on_samples(task: str) -> None:
    check_all(task, "")


@pytest.mark.data
@pytest.mark.parametrize("task", PAPERS)
def test_they_keep_it_on_real_data(task: str) -> None:
    check_all(task, DATA)


@pytest.mark.parametrize("task", PAPERS)
def test_examples_look_as_they_are_scored_and_labels_differ(task: str) -> None:
    for each in cases(task):
        check(contract.few_shot_answers_look_scored, each)
        check(labels_differ, each)
        if each.spec.kind == "number":  # a model is stopped where it begins another question
            check(contract_numbers.has_a_question_label, each)
    texts = [each.prompt.template for each in cases(task)]
    assert len(set(texts)) == len(texts)
