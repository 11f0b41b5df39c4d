"""Defects of the IrokoBench tasks as published in lm-evaluation-harness; numbered as found."""

import pytest
from tests.conftest import spec_of

from afrieval.languages import ENGLISH
from afrieval.scoring.extract.number import read_number
from afrieval.tasks.data.documents import documents
from afrieval.tasks.prompts.prompts import load_prompts

MGSM, COT, MMLU, NLI = (spec_of(name) for name in ("afrimgsm", "afrimgsm_cot", "afrimmlu", "afrixnli"))


def test_finding_02_numbers_are_the_data_set_s() -> None:
    rows = [{"premise": "p", "hypothesis": "h", "label": number} for number in (0, 1, 2)]
    names = [NLI.labels[d.gold] for d in documents(NLI, rows, "a test", "test") if d.gold is not None]
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
