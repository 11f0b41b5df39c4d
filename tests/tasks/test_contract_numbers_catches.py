"""The checks of number tasks fail where they must: faults that were found in published AfriMGSM definitions."""

from dataclasses import replace

import pytest
from tests.tasks import contract, contract_numbers
from tests.tasks.contract import Case
from tests.tasks.test_contract_catches import a_case, caught, with_template

from afrieval.tasks.data.documents import Document
from afrieval.tasks.declaration.spec import load_task

DIRECT, WORKED = load_task("afrimgsm"), load_task("afrimgsm_cot")


def train(case: Case) -> list[Document]:
    return contract.sample_splits(case.spec, case.language)["train"]


def test_the_tasks_pass() -> None:
    for spec in (DIRECT, WORKED):
        for file in ("eng", "amh", "zul"):
            case = a_case(spec, 2, file)
            assert contract_numbers.lead_ins_are_read(case) == contract_numbers.lead_in_is_named(case) == []
            assert contract_numbers.examples_are_read_as_their_gold(replace(case, documents=train(case))) == []
            assert contract_numbers.headings_are_cut(case, train(case)) == []


def test_a_heading_cut_by_the_length_of_the_english_one() -> None:
    """21 characters, whatever the language: a translated heading loses too little, or the solution its beginning."""
    case = a_case(WORKED, 1, "swa")
    heading = "Jibu la hatua kwa hatua: "
    short = [replace(d, worked=f"{heading}{d.worked}"[3:]) for d in train(case)]
    assert caught(contract_numbers.headings_are_cut(case, short), "begins with a heading")


@pytest.mark.parametrize("lead_in", ["", "Thou shalt find"])
def test_an_answer_sentence_that_no_language_has(lead_in: str) -> None:
    case = a_case(WORKED, 2, "yor", lead_ins=(lead_in,) if lead_in else ())
    named = contract_numbers.lead_in_is_named(case)
    assert (
        caught(contract_numbers.lead_ins_are_read(case), "no lead_in") if not lead_in else caught(named, "other words")
    )


def test_an_english_answer_sentence_in_every_language() -> None:
    case = a_case(WORKED, 2, "yor", lead_ins=("The answer is",))
    assert caught(contract_numbers.lead_in_is_named(case), "template asks for other words")


def test_a_worked_solution_whose_last_number_is_not_the_answer() -> None:
    case = a_case(WORKED, 1, "eng")
    wrong = [replace(d, worked=f"{d.worked} That took 5 steps.") for d in train(case)]
    without_lead_in = replace(case, documents=wrong, prompt=replace(case.prompt, lead_ins=("Thus",)))
    assert caught(contract_numbers.examples_are_read_as_their_gold(without_lead_in), "is not read as")


def test_a_prompt_in_which_nothing_stands_before_the_question() -> None:
    """A model without chat template could not be stopped at its next question, whose last number would be read."""
    case = with_template(a_case(DIRECT, 1), "Question: {{ question }}", "{{ question }}")
    assert caught(contract_numbers.has_a_question_label(case), "no words stand before the question")


def test_line_ends_that_are_two_characters() -> None:
    case = with_template(a_case(WORKED, 1), "Question:", "\\nQuestion:")
    assert caught(contract.clean(case), "a backslash")
