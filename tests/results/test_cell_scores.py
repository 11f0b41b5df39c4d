"""Cells: arrays that are alike are one; IFEval's accuracies against sums and formulas."""

import gc
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.results.test_run_folder import line

from afrieval.results import document_columns as module
from afrieval.results.cell_scores import OF_LINES
from afrieval.results.document_columns import SampleColumn, shared
from afrieval.results.sample_columns import cell_scores
from afrieval.results.summary import harness_results, summary_row
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.scoring.metrics import metric
from afrieval.scoring.statistics.intervals import Interval, linear_values, standard_error, wilson

BY_INSTRUCTION = metric("inst_level_strict_acc")
LISTS = st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=4), min_size=2, max_size=30)


def sample(doc_id: int, strict: list[float], loose: list[float]) -> dict[str, object]:
    scores = dict(zip(FOLLOWED, (min(strict), min(loose), strict, loose), strict=True))
    measures: Any = {name: [sum(of), len(of)] if isinstance(of, list) else [of] for name, of in scores.items()}
    return line(doc_id, measures, "meta_ifeval") | scores


def cochran(lists: list[list[float]]) -> float:
    """The error of a proportion in cluster sampling, term by term: sum (a - p m)^2 / (n (n - 1) mean(m)^2)."""
    n, total = len(lists), sum(map(len, lists))
    p = sum(map(sum, lists)) / total
    spread = sum((sum(each) - p * len(each)) ** 2 for each in lists)
    return math.sqrt(spread / (n * (n - 1) * (total / n) ** 2))


@given(LISTS)
def test_the_mean_is_over_all_instructions_and_the_error_is_that_of_clusters(lists: list[list[float]]) -> None:
    flat = [one for each in lists for one in each]
    values = linear_values(BY_INSTRUCTION, np.array([[sum(each), len(each)] for each in lists], dtype=np.float64))
    assert values.mean() == pytest.approx(sum(flat) / len(flat))
    assert standard_error(values) == pytest.approx(cochran(lists), abs=1e-12)


STRICT = [[1.0, 0.0], [1.0], [0.0, 0.0, 1.0], [1.0, 1.0]]
LOOSE = [[1.0, 1.0], [1.0], [0.0, 0.0, 1.0], [1.0, 1.0]]


def test_a_cell_has_the_four_accuracies_and_the_two_means() -> None:
    cell = cell_scores(
        "meta_ifeval_eng_eng_1", [sample(i, *both) for i, both in enumerate(zip(STRICT, LOOSE, strict=True))]
    )
    assert (cell.main, cell.score, cell.interval) == ("prompt_level_strict_acc", 0.5, wilson(2, 4))
    row = summary_row(cell)
    expected = dict(zip(FOLLOWED, (2 / 4, 3 / 4, 5 / 8, 6 / 8), strict=True))
    assert {name: row[name] for name in FOLLOWED} == pytest.approx(expected)
    assert row["ifeval_recipe_mean"] == pytest.approx((4 / 8 + 5 / 8) / 2)
    assert row["ifeval_meta_mean"] == pytest.approx((4 / 8 + 6 / 8 + 5 / 8 + 6 / 8) / 4)
    results = harness_results([cell], {"meta_ifeval": 1})["results"][cell.name]
    assert {name: results[f"{name},none"] for name in FOLLOWED} == pytest.approx(expected)
    assert results["inst_level_strict_acc_stderr,none"] == pytest.approx(cochran(STRICT))


def wilson_of_means(strict: list[list[float]], loose: list[list[float]], names: tuple[str, ...]) -> Interval:
    """The interval of a mean over accuracies, from Korn & Graubard's effective number of answers, term by term."""

    def of_prompts(name: str) -> list[float]:
        lists = strict if "strict" in name else loose
        if name.startswith("prompt"):
            return [min(each) for each in lists]
        total = sum(map(len, lists))
        share = sum(map(sum, lists)) / total
        return [share + (sum(each) - share * len(each)) / (total / len(lists)) for each in lists]

    values = [math.fsum(of) / len(names) for of in zip(*map(of_prompts, names), strict=True)]
    n, answers = len(values), sum(map(len, strict))
    p = math.fsum(values) / n
    if p < 1e-12 or p > 1 - 1e-12:
        return wilson(round(p) * n, n)
    variance = math.fsum((value - p) ** 2 for value in values) / (n - 1) / n
    independent = p * (1 - p) / variance if variance else math.inf
    effective = min(max(independent, 1.0), answers) * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, n - 1)) ** 2
    return wilson(p * effective, effective)


MEANS = {
    "inst_level_strict_acc": ("inst_level_strict_acc",),
    "ifeval_recipe_mean": ("prompt_level_strict_acc", "inst_level_strict_acc"),
    "ifeval_meta_mean": FOLLOWED,
}


@settings(max_examples=40)
@given(st.lists(st.lists(st.sampled_from([(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)]), min_size=1, max_size=3), min_size=2))
def test_intervals_are_those_of_clusters(pairs: list[list[tuple[float, float]]]) -> None:
    strict, loose = ([[pair[way] for pair in of] for of in pairs] for way in (0, 1))
    cell = cell_scores("c", [sample(i, *both) for i, both in enumerate(zip(strict, loose, strict=True))])
    for name, of in MEANS.items():
        assert cell.with_metric(name).interval == pytest.approx(wilson_of_means(strict, loose, of), abs=1e-9)


def test_a_described_number_of_each_line_keeps_its_type_when_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    confidence = SampleColumn("confidence", "number", "how sure the model is", lambda line: line.get("confidence"))
    monkeypatch.setitem(OF_LINES, "verdicts", confidence)
    cell = cell_scores("c", [sample(0, [1.0], [1.0]) | {"confidence": 0.75}, sample(1, [1.0], [0.0])])
    assert cell.verdicts.tolist() == [0.75, pytest.approx(math.nan, nan_ok=True)]
    assert cell.take(np.array([0])).verdicts.tolist() == [0.75]
    assert cell.golds.dtype == np.int64 and cell.golds.tolist() == [-1, -1]


def test_arrays_that_are_alike_are_one() -> None:
    one, other = shared(np.array([1, 2])), shared(np.array([1, 2]))
    assert one is other and not one.flags.writeable


@pytest.mark.parametrize(
    "other", [np.array([1, 3]), np.array([1.0, 2.0]), np.array([[1, 2]]), np.array([1, 2], np.int32)]
)
def test_others_are_not(other: np.ndarray) -> None:
    assert shared(other) is not shared(np.array([1, 2])) and shared(other).dtype == other.dtype


def test_arrays_whose_hashes_are_the_same_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "hash", lambda _: 0, raising=False)
    one, other = shared(np.array([1, 2])), shared(np.array([5, 6]))
    assert one.tolist() == [1, 2] and other.tolist() == [5, 6]


def test_nothing_is_kept_that_nobody_uses() -> None:
    kept = shared(np.arange(1_000)[10:20])
    assert kept.base is None
    before = len(module._arrays)
    del kept
    gc.collect()
    assert len(module._arrays) < before
