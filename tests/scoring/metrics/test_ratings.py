"""F1 and correlation of numbers for labels against scikit-learn and scipy, and by hand."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr
from sklearn.metrics import f1_score

from afrieval.scoring.base import Question, Response
from afrieval.scoring.metrics import metric

LABELS = ["anger", "fear", "joy"]
Rows = Sequence[list[int]]


def score(spec: Any, golds: Rows, given: Sequence[list[int] | None], times: list[int] | None = None) -> float:
    """Returns a score; each document counts as often as `times` says."""
    found = metric(spec)
    pairs = [(Response(None if of is None else dict(zip(LABELS, of, strict=True))), gold) for of, gold in
             zip(given, golds, strict=True)]  # fmt: skip
    measures = [found.measure(response, Question(dict(zip(LABELS, gold, strict=True)))) for response, gold in pairs]
    return float(found.score(np.array(measures), np.array([times or [1] * len(golds)], dtype=float))[0])


def drawn(highest: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[int]]:
    rng = np.random.default_rng(highest)
    golds, given = rng.integers(0, highest + 1, (2, 60, len(LABELS)))
    return golds, np.where(rng.random(golds.shape) < 0.4, golds, given), rng.integers(0, 4, 60).tolist()


def test_f1_is_scikit_learns_with_any_weights_and_unparsed_answers_name_nothing() -> None:
    golds, given, times = drawn(1)
    answers = [None if i % 9 == 0 else row for i, row in enumerate(given.tolist())]
    given[::9] = 0
    y, found = np.repeat(golds, times, axis=0), np.repeat(given, times, axis=0)
    for spec, theirs in [
        ("label_f1", f1_score(y, found, average="macro")),
        ({"name": "label_f1", "average": "micro"}, f1_score(y, found, average="micro")),
        *(({"name": "label_f1", "label": label}, f1_score(y[:, i], found[:, i])) for i, label in enumerate(LABELS)),
    ]:
        assert score(spec, golds.tolist(), answers, times) == pytest.approx(theirs)
    exact = np.mean((golds == given).all(axis=1) & (np.arange(60) % 9 > 0))
    assert score("exact_match", golds.tolist(), answers) == pytest.approx(exact)


def test_labels_that_do_not_occur_are_left_out_of_f1() -> None:
    assert score("label_f1", [[1, 0, 0], [1, 1, 0]], [[1, 0, 0], [1, 0, 0]]) == 0.5
    assert score("label_f1", [[0, 0, 0]], [[0, 0, 0]]) == 1.0
    assert score("label_f1", [[0, 0, 0]], [None]) == 0.0


def test_correlation_is_scipys_with_any_weights() -> None:
    golds, given, times = drawn(3)
    y, found = np.repeat(golds, times, axis=0), np.repeat(given, times, axis=0)
    each = [pearsonr(y[:, i], found[:, i])[0] for i in range(len(LABELS))]
    assert score("pearson", golds.tolist(), given.tolist(), times) == pytest.approx(np.mean(each))
    for label, r in zip(LABELS, each, strict=True):
        assert score({"name": "pearson", "label": label}, golds.tolist(), given.tolist(), times) == pytest.approx(r)


def test_undefined_correlations() -> None:
    golds = [[0, 3, 1], [0, 1, 1], [0, 0, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert score("pearson", golds, golds) == 1.0  # of the only label whose right numbers differ
        assert score("pearson", golds, [[0, 2, 0]] * 3) == 0.0
        assert score("pearson", [[1, 1, 1]] * 3, golds) == 0.0
        assert [score("pearson", [golds[0]], [of]) for of in (golds[0], golds[1], None)] == [1.0, 0.0, 0.0]
        assert score("pearson", [[0, 0, 0]], [None]) == 0.0
    # An unparsed answer stands for zeros.
    assert score("pearson", golds, [golds[0], golds[1], None]) == pytest.approx(pearsonr([3, 1, 0], [3, 1, 0])[0])


def test_a_label_that_a_language_does_not_have() -> None:
    found = metric({"name": "label_f1", "label": "disgust", "without": ["eng"]})
    assert "disgust" in found.missing("eng") and not found.missing("hau") and not found.missing("")
    assert metric("label_f1").measure(Response("x"), Question("x")) is None
