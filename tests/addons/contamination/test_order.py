"""The exchangeability test against an enumeration of all choices, under its null, and with a gain of a known size."""

from itertools import product

import numpy as np
import pytest

from afrieval.addons.contamination.order import exchangeability_p, smallest_gain
from afrieval.scoring.base import Array, Input
from afrieval.scoring.derived import derived
from afrieval.scoring.metrics import metric

SHUFFLES = 15


def enumerated(orders: Array) -> float:
    """The share of all choices of one order per shard whose sum is at least that of the published orders."""
    sums = [sum(choice) for choice in product(*orders.tolist())]
    return float(np.mean(np.array(sums) >= orders[:, 0].sum() - 1e-9))


def given(measures: Array) -> Input:
    known, ones = metric("order_gain"), np.ones((1, len(measures)))
    return Input(known.score(measures, ones), measures[:, 1], ones, measures)


@pytest.mark.parametrize("seed", range(4))
def test_the_p_value_is_that_of_all_choices(seed: int) -> None:
    orders = np.random.default_rng(seed).normal(size=(3, 6))
    assert exchangeability_p(orders) == pytest.approx(enumerated(orders), abs=0.015)


def test_the_best_order_everywhere_has_the_smallest_p_value_that_there_can_be() -> None:
    orders = np.tile(np.arange(4.0)[::-1], (2, 1))
    assert exchangeability_p(orders) == pytest.approx(1 / 4**2, abs=0.01)
    assert exchangeability_p(np.tile(np.arange(4.0), (2, 1))) == 1


def test_equal_orders_prove_nothing() -> None:
    assert exchangeability_p(np.full((5, 16), -1234.5678)) == 1


def test_neither_a_shards_own_likelihood_nor_rounding_matters() -> None:
    orders = np.random.default_rng(1).normal(size=(8, 16))
    assert exchangeability_p(orders) == exchangeability_p(orders + 1e5 * np.arange(8)[:, None])


def test_the_p_value_holds_its_level_whatever_the_distribution() -> None:
    """Under the null, at most a share a of p-values is at most a; here few shards with heavy tails."""
    rng = np.random.default_rng(5)
    found = np.array([exchangeability_p(rng.standard_t(1, (4, 16)), 399) for _ in range(1500)])
    for level in (0.01, 0.05, 0.1, 0.5):
        assert np.mean(found <= level) <= level + 3 * np.sqrt(level * (1 - level) / len(found))
    assert np.mean(found <= 0.5) > 0.45  # and it is not above it for nothing


@pytest.mark.parametrize("n", [10, 60])
def test_the_smallest_visible_gain_is_found_four_times_out_of_five(n: int) -> None:
    rng = np.random.default_rng(n)
    drawn = rng.normal(0, rng.uniform(0.5, 2, (n, 1)), (200, n, 1 + SHUFFLES))
    found, sizes = [], np.full(n, 100.0)
    for orders in drawn:
        gain = smallest_gain(np.column_stack([sizes, orders]))
        orders[:, 0] += gain * 100
        found.append(exchangeability_p(orders, 1999) <= 0.01)
    assert 0.7 < np.mean(found) < 0.9


def test_too_few_shards_show_nothing() -> None:
    measures = np.random.default_rng(0).normal(size=(1, 2 + SHUFFLES))
    assert smallest_gain(measures) == np.inf
    assert smallest_gain(np.repeat(measures, 2, axis=0)) < np.inf
    assert smallest_gain(np.repeat(measures, 2, axis=0), tests=20) == np.inf


def test_the_derived_metrics_have_one_value_for_all_rows_of_weights() -> None:
    measures = np.column_stack([np.full(9, 50.0), np.random.default_rng(2).normal(size=(9, 16))])
    (p,), (visible,) = (derived("x", how).score([given(measures)]) for how in ("order_p", "order_visible"))
    assert p == exchangeability_p(measures[:, 1:]) and visible == smallest_gain(measures)


def test_the_gain_is_per_token() -> None:
    measures = np.array([[100.0, -50.0, -60.0, -62.0], [300.0, -200.0, -199.0, -201.0]])
    known = metric("order_gain")
    assert known.score(measures, np.array([[1.0, 1.0], [1.0, 0.0]])) == pytest.approx([11 / 400, 11 / 100])
