"""Accuracy with labels made equally frequent: what is added to the likelihoods of a label does not matter."""

from unittest.mock import Mock

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from afrieval.scoring.base import Likelihood, Question
from afrieval.scoring.metrics.accuracy import acc_matched
from afrieval.scoring.responses import of_likelihoods, of_text

N, K = 60, 3
METRIC = acc_matched()


def drawn(seed: int, lengths: list[int]) -> np.ndarray:
    """Right labels in the first column, then log-likelihoods that fall with the length and rise if right."""
    rng = np.random.default_rng(seed)
    gold = rng.permutation(np.repeat(range(K), N // K))
    totals = rng.normal(0, 1, (N, K)) - 2.0 * np.array(lengths)
    totals[np.arange(N), gold] += 1.5
    return np.column_stack([gold, totals])


@pytest.mark.parametrize("seed", range(5))
def test_each_label_gets_its_share_and_the_total_is_the_highest(seed: int) -> None:
    measures = drawn(seed, [1, 9, 2])
    _, places = linear_sum_assignment(np.repeat(measures[:, 1:], N // K, axis=1), maximize=True)
    assert METRIC.apply_cell_normalisation(measures)[:, 0].tolist() == (places // (N // K) == measures[:, 0]).tolist()


def test_length_does_not_matter() -> None:
    short, long = (METRIC.apply_cell_normalisation(drawn(1, lengths)) for lengths in ([1, 1, 1], [4, 12, 3]))
    assert np.array_equal(short, long) and 0.5 < short.mean() < 0.9
    raw = drawn(1, [4, 12, 3])
    assert not np.any(raw[:, 1:].argmax(axis=1) == 1), "the longest is never picked by the sum"


def test_the_order_of_documents_does_not_matter() -> None:
    measures = drawn(2, [1, 5, 2])
    order = np.random.default_rng(0).permutation(N)
    assert np.array_equal(
        METRIC.apply_cell_normalisation(measures[order]), METRIC.apply_cell_normalisation(measures)[order]
    )


def test_an_impossible_label_makes_no_ties_between_the_others() -> None:
    measures = drawn(3, [1, 1, 1])
    measures[:, 0] = 1.0
    measures[0] = [1.0, -9.0, -1.0, -1e9]
    assert METRIC.apply_cell_normalisation(measures)[0, 0] == 1.0


def test_sweeps_end_where_ties_keep_labels_from_being_equally_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Mock(wraps=np.quantile)
    monkeypatch.setattr(np, "quantile", watched)
    measures = np.array([[0.0, -1.0, -2.0, -2.0]] * 10)
    assert METRIC.apply_cell_normalisation(measures).sum() == 10 and watched.call_count < 5 * K


def test_few_documents_and_impossible_labels() -> None:
    assert METRIC.apply_cell_normalisation(np.array([[2.0, -1.0, -2.0, -3.0]])).shape == (1, 1)
    question = Question(0, ["x", "y"], ["x", "y"])
    measure = METRIC.measure(of_likelihoods([Likelihood(-np.inf, False), Likelihood(-1.0, True)]), question)
    assert measure == [0.0, -1e9, -1.0]
    written = of_text("x", question, lambda text, question, asked: 0, None)  # type: ignore[arg-type]
    assert METRIC.measure(written, question) is None
