"""Verdicts are careful: an order that is not arbitrary, lengths that differ and few rows prove nothing."""

from typing import Any

import numpy as np
import pytest

from afrieval.addons.contamination.findings import memorisation_tables
from afrieval.results.cell_scores import CellScores
from afrieval.results.sample_columns import cell_scores

METRICS = {
    "completion": ["completion", "extraction", "completion_unseen", "completion_gain", "extraction_unseen"],
    "membership": ["membership_auc", "length_auc"],
    "order": ["order_gain"],
}
DERIVED = {
    "order_p": {"how": "order_p", "of": "order_gain"},
    "order_visible": {"how": "order_visible", "of": "order_gain"},
}


def cell(
    part: str,
    measures: list[dict[str, list[float]]],
    language: str = "yor",
    by: tuple[str, ...] = (),
    alike: float = 1.0,
) -> CellScores:
    task = f"memorisation_rows_{part}"
    place = {"task": task, "language": language, "prompt": 0, "prompt_language": "eng", "defect": "", "n_choices": None}
    lines: list[dict[str, Any]] = [
        {
            "doc_id": i,
            **place,
            "metrics": [*each],
            "measures": each,
            "resps": [[[-1.0]]],
            **{k: v[0] for k, v in each.items()},
        }
        for i, each in enumerate(measures)
    ]
    declared: Any = {
        "metrics": METRICS[part],
        "derived": DERIVED if part == "order" else {},
        "memorisation": {"of": "rows", "part": part, "sorted_by": {language: list(by)}, "alike": {language: alike}},
    }
    return cell_scores(task, lines, declared)


def order(gain: float, alike: float = 1.0, n: int = 20, language: str = "yor", by: tuple[str, ...] = ()) -> CellScores:
    likelihoods = np.random.default_rng(n).normal(size=(n, 16))
    likelihoods[:, 0] += gain
    return cell("order", [{"order_gain": [100.0, *each]} for each in likelihoods.tolist()], language, by, alike)


def membership(shift: float, length: float = 0.0, n_unseen: int = 20, language: str = "yor") -> CellScores:
    rng = np.random.default_rng(0)
    rows = [*((0.0, 0.0, 0.0) for _ in range(100)), *((shift, length, 1.0) for _ in range(n_unseen))]
    return cell(
        "membership",
        [{"membership_auc": [float(rng.normal(a)), u], "length_auc": [float(rng.normal(b)), u]} for a, b, u in rows],
        language,
    )


def found(*cells: CellScores) -> list[dict[str, Any]]:
    """The rows of the one table of some cells."""
    (table,) = memorisation_tables(cells)
    return table.records()


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (order(2.0), "evidence"),
        (order(0.45), "no evidence"),  # p = .03: too little to accuse a model
        (order(0.0), "no evidence"),
        (order(-2.0), "no evidence"),
        (order(2.0, alike=0.19), "not arbitrary"),
        (order(2.0, alike=0.2), "evidence"),
        (order(0.0, alike=0.001), "no evidence"),
        (order(9.0, n=1), "too few rows"),
    ],
)
def test_verdicts_on_the_order(given: CellScores, verdict: str) -> None:
    (row,) = found(given)
    assert row["verdict"] == verdict and (row["detectable"] is None) == (verdict == "too few rows")


def test_p_values_are_adjusted_for_the_number_of_languages() -> None:
    cells = [order(1.0, language=code) for code in ("yor", "hau", "swa")]
    (alone,), (first, *_) = found(cells[0]), found(*cells)
    p = alone["p_adjusted"]
    assert p < 0.05 < first["p_adjusted"] == pytest.approx(3 * p) and first["verdict"] == "no evidence"
    assert first["detectable"] > alone["detectable"]


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (membership(3.0), "likelier"),
        (membership(0.0), "no evidence"),
        (membership(-3.0), "no evidence"),
        (membership(1.5, length=3.0), "as length"),
        (membership(1.5, length=-3.0), "as length"),
    ],
)
def test_verdicts_on_rows(given: CellScores, verdict: str) -> None:
    (row,) = found(given)
    assert row["verdict"] == verdict and (row["n"], row["n_unseen"]) == (100, 20) and row["completed"] is None
    assert row["length"] >= 0.5


def test_without_unseen_rows_the_share_that_is_completed_is_left() -> None:
    (row,) = found(cell("completion", [{"completion": [0.5, 0.0], "extraction": [0.25, 0.0]}] * 3))
    assert [row[name] for name in ("completed", "auc", "n", "n_unseen")] == [0.5, None, 3, 0]
    assert row["verdict"] == "too few unseen"


def test_the_share_that_is_completed_is_of_each_side() -> None:
    rows = [([0.9, 0.0], [0.5, 0.0]), ([0.7, 0.0], [0.5, 0.0]), ([0.1, 1.0], [0.0, 1.0]), ([0.3, 1.0], [0.0, 1.0])]
    measures = [{name: b if name.startswith("extraction") else a for name in METRICS["completion"]} for a, b in rows]
    given = cell("completion", measures)
    (row,) = found(given)
    assert [row["completed"], row["completed_unseen"]] == pytest.approx([0.8, 0.2])
    assert given.with_metric("completion_gain").score == pytest.approx(0.6)
    assert [given.with_metric(f"extraction{of}").score for of in ("", "_unseen")] == [0.5, 0.0]


def test_tables_of_tasks_and_other_cells() -> None:
    cells = [membership(3.0), order(2.0, by=("answer",))]
    rows, orders = memorisation_tables([*cells, "a published row"])
    assert [rows.kind, orders.kind] == ["memorisation_rows", "memorisation_order"]
    assert orders.records()[0]["sorted_by"] == ["answer"] and orders.cells()[0][6] == "answer"
    assert rows.records()[0] | {"task": "rows", "language": "yor", "completed": None} == rows.records()[0]
    assert memorisation_tables([]) == []
