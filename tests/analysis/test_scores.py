"""Numbers of cells and comparisons against ones worked out by hand."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.cells import scored
from tests.results.test_run_folder import line

from afrieval.analysis.means import means
from afrieval.analysis.scores import ByQuestion, by_language, by_question, question_positions
from afrieval.results.cell_scores import CellScores
from afrieval.results.sample_columns import cell_scores
from afrieval.results.summary import harness_results, summary_row
from afrieval.scoring.statistics.intervals import clustered_wilson, wilson


def sample(doc_id: int, acc: float | None, **changes: Any) -> dict[str, Any]:
    measures = None if acc is None else {"acc": [acc], "acc_norm": [1 - acc]}
    resps = [[[-1.0, False, 1]]] * 4 if measures else []
    return line(doc_id, measures, "afrimmlu", resps=resps, n_choices=4, **changes)


def cell(scores: list[float | None], **changes: Any) -> CellScores:
    return cell_scores("name", [sample(i, acc, **changes) for i, acc in enumerate(scores)])


def test_a_document_without_gold_is_counted_and_not_scored() -> None:
    samples = [sample(0, 1.0), sample(1, 0.0, defect="equal"), sample(2, None, defect="no gold")]
    scores = cell_scores("c", samples)
    assert (scores.n, scores.rows, scores.n_defect, scores.score, scores.chance) == (2, 3, 2, 0.5, 0.25)
    row = summary_row(scores)
    assert row["score"] == 0.5 and row["acc_norm"] == 0.5 and (row["low"], row["high"]) == wilson(1, 2)
    assert "acc_tokens" not in row


def test_bad_rows_are_counted_among_the_documents_of_the_table() -> None:
    """Prompt 1 ran in full and has a row without gold; prompt 2 ran on three rows, which are sound."""
    whole = cell_scores("c", [sample(0, 1.0), sample(1, 0.0), sample(2, 1.0), sample(3, None, defect="no gold")])
    (both,) = by_language([whole, cell([1.0, 1.0, 1.0], prompt=2)])
    assert (both.n, both.n_defect) == (3, 0)
    (alone,) = by_language([whole])
    assert (alone.n, alone.n_defect) == (3, 1)


def test_a_cell_without_any_score_has_no_number() -> None:
    empty = cell([None, None])
    assert empty.n == 0 and summary_row(empty)["score"] is None
    assert by_language([empty]) == []


def test_one_prompt_has_wilsons_interval_and_several_one_with_documents_as_clusters() -> None:
    one, two = cell([1.0, 0.0, 0.0, 1.0]), cell([1.0, 1.0, 0.0, 0.0], prompt=2)
    (single,) = by_language([one])
    assert single.score == 0.5 and single.interval == wilson(2, 4) and single.prompts == [1]
    (both,) = by_language([two, one])
    assert both.score == 0.5 and both.prompts == [1, 2] and both.n == 4
    assert both.interval == clustered_wilson(np.array([1.0, 0.5, 0.0, 0.5]), 2)
    assert both.others == {"acc_norm": 0.5}


def test_results_have_the_harness_form() -> None:
    results = json.loads(json.dumps(harness_results([replace(cell([1.0, 0.0, 1.0]), shots=3)], {"afrimmlu": 2})))
    metrics = results["results"]["name"]
    assert metrics["acc,none"] == pytest.approx(2 / 3)
    assert metrics["acc_stderr,none"] == pytest.approx(np.std([1, 0, 1], ddof=1) / np.sqrt(3))
    assert results["n-shot"]["name"] == 3 and results["versions"]["name"] == 2
    assert results["n-samples"]["name"] == {"original": 3, "effective": 3}
    single = harness_results([cell([1.0])], {"afrimmlu": 1})["results"]["name"]
    assert single["acc_stderr,none"] == "N/A"


def test_the_mean_is_that_of_the_rows_above_it() -> None:
    """Also where one prompt ran on more documents than another."""
    cells = [cell([1.0, 0.0, 1.0, 1.0]), cell([1.0, 1.0], prompt=2), cell([0.0, 1.0, 1.0], language="swa")]
    units = [scored(c.values.tolist(), task=c.task, language=c.language, prompt=c.prompt) for c in cells]
    (mean,) = means(units, ["Africa"])
    assert mean.score == pytest.approx(np.mean([s.score for s in by_language(cells)]))


ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 2), st.sampled_from([0.0, 1.0, 1 / 3])), min_size=1)
Rows = list[tuple[int, int, float]]


def of_rows(rows: Rows) -> ByQuestion:
    return by_question(*(np.array(of) for of in zip(*rows, strict=True)))


@settings(max_examples=50)
@given(st.lists(ROWS, min_size=2, max_size=4))
def test_scores_by_question_and_their_places_are_those_of_plain_maps(languages: list[Rows]) -> None:
    """Of a question that a language has twice, the last score counts; places are in the order of first use."""
    arrays, plain = [*map(of_rows, languages)], [{row[:2]: row[2] for row in rows} for rows in languages]
    columns, n = question_positions(arrays)
    order = [*dict.fromkeys(question for of in plain for question in of)]
    assert n == len(order) and [of.tolist() for of in columns] == [[order.index(q) for q in of] for of in plain]
    assert [of.times(2.0).scores.tolist() for of in arrays] == [[2.0 * v for v in of.values()] for of in plain]
    assert arrays[0] == of_rows(languages[0])


def test_the_same_questions_are_one_array() -> None:
    one, other = (of_rows([(1, 0, value), (2, 0, 1.0)]) for value in (0.0, 1.0))
    assert one.codes is other.codes and question_positions([one, other])[1] == 2
