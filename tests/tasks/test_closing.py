"""The sentence that closes worked solutions is learned from them, and only where they agree."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.scoring.extract.number import read_number
from afrieval.tasks.data.documents import Document, documents
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import closing_lead_in

COT = load_task("afrimgsm_cot")
CLOSINGS = {
    "yor": ("Ìdáhùn náà ni {}.", "Ìdáhùn náà ni {answer}"),
    "amh": ("መልሱ {} ነው።", "መልሱ {answer} ነው"),
    "zul": ("Impendulo ngu-{}.", "Impendulo ngu-{answer}"),
    "sna": ("Mhinduro i{}", "Mhinduro i{answer}"),
    "fra": ("La réponse est {} !", "La réponse est {answer}"),
    "orm": ("Deebiin {}dha.", "Deebiin {answer}dha"),
}


def solved(closing: str, numbers: list[int]) -> list[Document]:
    return [
        Document(i, {}, (), n, worked=f"5 + {n - 5} = {n}. 1.5 x 2 = 3.0. {closing.format(n)}")
        for i, n in enumerate(numbers)
    ]


@pytest.mark.parametrize(("closing", "lead_in"), CLOSINGS.values(), ids=CLOSINGS)
def test_the_last_sentence_of_most_solutions_leads_to_the_answer(closing: str, lead_in: str) -> None:
    rows = solved(closing, [18, 2125, 7, 9])
    odd = replace(rows[0], worked="It is 18.")
    assert closing_lead_in(rows) == closing_lead_in([*rows, odd, Document(9, {}, (), 3)]) == lead_in
    assert read_number(f"9 x 2. {closing.format(64)}\n7", [lead_in]) == 64


@pytest.mark.parametrize(
    "worked",
    [
        ["The answer is 8.", "The answer is 8."],
        ["The answer is 8.", "The answer is 8.", "So 8.", "That makes 8.", "8."],
        ["8.", "8.", "8."],
        ["The answer is 9.", "The answer is 9.", "The answer is 9."],
        ["The answer is 8. Well done.", "The answer is 8. Well done.", "The answer is 8. Well done."],
        ["The answer is $8.", "The answer is $8.", "The answer is $8."],
        ["none", "none", "none"],
        [],
    ],
)
def test_where_solutions_disagree_nothing_is_learned(worked: list[str]) -> None:
    assert closing_lead_in([Document(i, {}, (), 8, worked=text) for i, text in enumerate(worked)]) == ""


@given(st.lists(st.text(), max_size=5), st.integers(0, 99))
def test_any_solutions_give_words_around_the_answer_or_none(worked: list[str], gold: int) -> None:
    found = closing_lead_in([Document(i, {}, (), gold, worked=text) for i, text in enumerate(worked)])
    assert not found or "{answer}" in found


def test_a_run_looks_for_the_sentence_of_the_few_shot_rows() -> None:
    """Rows as published: both texts begin with a heading, and the solution is in the column of the answer."""
    rows = [
        {"question": f"Ìbéèrè: Kí ni {n} + 1?", "answer": f"Ìdáhùn: {n} + 1 = {n + 1}. Èsì rẹ̀ jẹ́ {n + 1}.",
         "answer_number": n + 1, "equation_solution": f"{n} + 1 = {n + 1}"}
        for n in range(8)
    ]  # fmt: skip
    found = documents(COT, rows, "yor train", "train")
    assert found[0].worked.startswith("0 + 1") and closing_lead_in(found) == "Èsì rẹ̀ jẹ́ {answer}"
