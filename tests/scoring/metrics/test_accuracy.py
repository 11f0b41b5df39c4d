"""Accuracies by likelihood and its normalisations: by hand, against the harness, with labels made equally frequent."""

from collections.abc import Sequence
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from afrieval.scoring.base import Likelihood, Question
from afrieval.scoring.metrics import metric
from afrieval.scoring.metrics.accuracy import acc_matched
from afrieval.scoring.responses import of_likelihoods, of_text, scored

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


ACCURACIES = ("acc", "acc_norm", "acc_bytes", "acc_tokens")


def score(given: Sequence[Likelihood], names: Sequence[str], choices: Sequence[str], gold: int) -> dict[str, float]:
    found = scored(of_likelihoods(given), Question(gold, choices, names), [metric(name) for name in ACCURACIES])
    return {name: value for name, (value,) in found.measures.items()}


def test_each_accuracy_by_hand() -> None:
    answers = [Likelihood(-4.5, False, 1), Likelihood(-6.0, False, 3), Likelihood(-6.5, True, 2)]
    texts = ["abcde", "ጥያቄጥያቄ", "ab"]  # 5, 6, 2 characters; 5, 18, 2 bytes
    # sums -4.5 -6 -6.5: first; per character -0.9 -1 -3.25: first; per byte -0.9 -0.33 -3.25: second; per token: second
    assert score(answers, texts, texts, 0) == {"acc": 1.0, "acc_norm": 1.0, "acc_bytes": 0.0, "acc_tokens": 0.0}
    assert score(answers, texts, texts, 1) == {"acc": 0.0, "acc_norm": 0.0, "acc_bytes": 1.0, "acc_tokens": 1.0}


def test_equal_texts_are_both_right_and_the_first_of_equal_values_wins() -> None:
    answers = [Likelihood(-1.0, False, 1)] * 3
    assert score(answers, ["x", "y", "x"], ["x", "y", "x"], 2)["acc"] == 1.0
    assert score(answers, ["A", "B", "C"], ["x", "y", "x"], 2)["acc"] == 1.0
    assert score(answers, ["A", "B", "C"], ["x", "y", "z"], 2)["acc"] == 0.0


def test_a_backend_that_tells_no_tokens() -> None:
    assert set(score([Likelihood(-1.0, False), Likelihood(-2.0, False)], ["a", "b"], ["a", "b"], 0)) == {
        "acc",
        "acc_norm",
        "acc_bytes",
    }


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(-500, -0.01), st.integers(1, 30)), min_size=2, max_size=10), st.data())
def test_one_choice_is_right_and_shifting_changes_nothing_for_equal_lengths(
    drawn: list[tuple[float, int]], data: st.DataObject
) -> None:
    answers = [Likelihood(value, False, tokens) for value, tokens in drawn]
    texts = [chr(ord("a") + i) for i in range(len(drawn))]
    for name in ACCURACIES:
        assert sum(score(answers, texts, texts, gold)[name] for gold in range(len(drawn))) == 1.0
    gold = data.draw(st.integers(0, len(drawn) - 1))
    scores = score(answers, texts, texts, gold)
    assert scores["acc"] == scores["acc_norm"] == scores["acc_bytes"]


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8),
            st.integers(-99 * 8, -8).map(lambda n: n / 8),  # equal or clearly different: ties have a test of their own
        ),
        min_size=2,
        max_size=6,
        unique_by=lambda pair: pair[0],
    )
)
def test_equals_the_harness_where_it_has_the_metric(drawn: list[tuple[str, float]]) -> None:
    """The harness' argmax over lls, lls per character and per byte, written out with numpy."""
    texts, values = [t for t, _ in drawn], np.array([v for _, v in drawn])
    ours = score([Likelihood(v, False, 1) for v in values], texts, texts, 0)
    lengths = {
        "acc": np.ones(len(texts)),
        "acc_norm": np.array([len(t) for t in texts]),
        "acc_bytes": np.array([len(t.encode()) for t in texts]),
    }
    for name, length in lengths.items():
        assert ours[name] == float(np.argmax(values / length) == 0)
