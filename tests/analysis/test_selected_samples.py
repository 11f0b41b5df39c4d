"""Which samples are shown is a matter of their kinds and numbers alone."""

import numpy as np
from tests.analysis.cells import scored

from afrieval.analysis.selected_samples import GAINED, LOST, MEASURED, RIGHT, WRONG, can_be_right, selections
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.labels import NOT_PARSED
from afrieval.scoring.metrics import metric


def both(english: list[float], native: list[float]) -> list[CellScores]:
    return [
        scored(english),
        scored(native, prompt_language="native"),
    ]


def test_flips_come_first_and_one_of_each_kind_is_taken_in_turn() -> None:
    english = [1.0, 1, 1, 1, 0, 0, 0, 0, 1, 1]
    native = [1.0, 1, 0, 0, 1, 1, 0, 0, 1, 1]
    [found] = selections(both(english, native), 4)
    assert found.counts == {LOST: 2, GAINED: 2, WRONG: 2, RIGHT: 4}
    assert list(found.chosen) == [LOST, GAINED, WRONG, RIGHT]
    assert [len(rows) for rows in found.chosen.values()] == [1, 1, 1, 1]
    assert found.n == 4


def test_few_documents_are_all_shown_and_the_first_of_all_is_a_flip() -> None:
    [found] = selections(both([1, 0], [0, 0]), 5)
    assert found.chosen == {LOST: [0], WRONG: [1]}
    [found] = selections(both([1, 0], [0, 0]), 1)
    assert found.chosen == {LOST: [0]}


def test_rows_of_a_kind_are_spread_over_the_test_set() -> None:
    [found] = selections([scored([0.0] * 100)], 4)
    assert found.chosen == {WRONG: [12, 37, 62, 87]}


def test_documents_that_one_prompt_lacks_are_not_shown() -> None:
    cells = [scored([1, 0, 0], ids=[2, 4, 6]), scored([1, 1], ids=[4, 6], prompt=2)]
    [found] = selections(cells, 5)
    assert found.chosen == {GAINED: [4, 6]}


def test_prompts_of_one_number_are_compared_before_two_numbers() -> None:
    cells = [
        scored([1], prompt=1),
        scored([1], prompt=2),
        scored([1], prompt=2, prompt_language="native"),
        scored([1], prompt=3),
    ]
    [found] = selections(cells, 5)
    assert [(c.prompt_language, c.prompt) for c in found.cells] == [("eng", 2), ("native", 2)]
    [found] = selections([cells[3], cells[0], cells[1]], 5)
    assert [c.prompt for c in found.cells] == [1, 2]


def test_unparsed_answers_are_a_kind_unless_they_are_right() -> None:
    known = metric("exact_match")
    measures = {"exact_match": np.array([[0.0], [0.0], [1.0]]), "unparsed": np.array([[1.0], [0.0], [1.0]])}
    cell = scored(
        [0, 0, 1], of=known, answer_form="generate", measures=measures,
        metrics={"exact_match": known, "unparsed": metric("unparsed")},
    )  # fmt: skip
    [found] = selections([cell], 5)
    assert found.chosen == {NOT_PARSED: [0], WRONG: [1], RIGHT: [2]}


def test_answers_that_are_partly_right_count_from_half_on() -> None:
    known = metric("token_f1")
    cell = scored([0.2, 0.5, 0.9], of=known, answer_form="generate")
    [found] = selections([cell], 5)
    assert found.chosen == {WRONG: [0], RIGHT: [1, 2]}


def test_scores_of_whole_sets_are_taken_by_document() -> None:
    known = metric("span_f1")
    cell = scored([[1, 0, 0, 1], [0, 0, 2, 1], [1, 0, 0, 1]], of=known, answer_form="generate")
    [found] = selections([cell], 5)
    assert found.chosen == {WRONG: [1], RIGHT: [0, 2]}


def test_texts_whose_likelihood_is_measured_are_neither_right_nor_wrong() -> None:
    cell = scored([0.5, 0.4], n_choices=np.zeros(2, dtype=np.int64))
    assert not can_be_right(cell)
    [found] = selections([cell], 1)
    assert (found.counts, found.chosen) == ({MEASURED: 2}, {MEASURED: [1]})


def test_each_model_task_language_and_number_of_shots_has_its_own() -> None:
    cells = [scored([1]), scored([1], model="other"), scored([1], language="hau"), scored([1], shots=5)]
    assert len(selections(cells, 5)) == 4
    assert selections([], 5) == []
