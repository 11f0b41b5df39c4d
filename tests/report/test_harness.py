"""Scores of harness tasks in a table: nothing is cut, groups follow their tasks."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report import screen

from afrieval.languages import LANGUAGES
from afrieval.report.score_tables import harness_table
from afrieval.report.values import number
from afrieval.results.run_folder import harness_scores
from afrieval.run.harness.harness_scores import HarnessScore, HarnessTaskScores, around, task_scores, with_groups
from afrieval.scoring.statistics.intervals import Interval, wilson

ONE = HarnessScore("task", "", "acc", "none", 0.5, 0.1, Interval(0.3, 0.7), 25, 0, True)


def printed(scores: list[HarnessScore]) -> str:
    return screen.printed(harness_table(scores, cleaned=False))


names = st.from_regex(r"[a-z]{1,12}([_-][a-z0-9]{1,12}){0,6}", fullmatch=True)
scores = st.builds(
    HarnessScore,
    task=names,
    language=st.sampled_from(["", "xxx", *LANGUAGES]),
    metric=st.sampled_from(["acc", "exact_match", "word_perplexity", "bits_per_byte"]),
    filter=st.sampled_from(["none", "strict-match", "flexible-extract", "remove_whitespace"]),
    value=st.floats(0, 1e9),
    standard_error=st.none(),
    interval=st.none() | st.just(Interval(0.123, 0.877)) | st.just(Interval(12.3, 45.6)),
    n=st.integers(1, 99999),
    shots=st.none() | st.integers(0, 25),
    higher_is_better=st.sampled_from([None, True, False]),
    members=st.integers(0, 2),
)


@given(st.lists(scores, min_size=1, max_size=4))
def test_nothing_is_cut(rows: list[HarnessScore]) -> None:
    text = printed(rows)
    assert all(len(line) <= 80 for line in text.splitlines()) and "…" not in text
    for row in rows:
        shots = "" if row.shots is None else f" +{row.shots}"
        assert re.search(rf" {re.escape(number(row.value))} .* {row.n}{shots}\b", text)
        for part in re.findall("[a-z0-9]+", row.task + " " + row.metric):
            assert part in text


def test_signs_are_explained() -> None:
    rows = [ONE, replace(ONE, metric="perplexity", higher_is_better=False, interval=None), replace(ONE, members=2)]
    text = re.sub(r"\s+", " ", printed(rows))
    assert "perplexity ↓" in text and "↓ lower is better." in text and "none: the harness" in text
    assert "↓" not in printed([ONE]) and "group" not in printed([ONE])


def test_a_negative_bound_is_no_dash() -> None:
    assert "-0.200 to 0.400" in printed([replace(ONE, interval=Interval(-0.2, 0.4))])


@pytest.mark.parametrize(
    ("values", "value", "error", "interval"),
    [
        ([1, 0, 1, 1], 0.75, 0.25, wilson(3, 4)),
        ([1.0, 0.0], 0.5, None, wilson(1, 2)),
        ([1, 0, 1, 1], 0.6, 0.1, around(0.6, 0.1)),  # no mean: an F1, say
        ([0.5, 0.25], 0.375, 0.125, around(0.375, 0.125)),
        ([[0, 1], [1, 1]], 0.5, None, None),
    ],
)
def test_intervals(values: list[object], value: float, error: float | None, interval: Interval | None) -> None:
    samples = [{"m": v, "filter": "none", "doc_id": i} for i, v in enumerate(values)]
    samples += [{"m": 1, "filter": "other", "doc_id": 0}]
    metric = {"metric": "m", "filter": "none", "value": value, "standard_error": error, "higher_is_better": True}
    record: Any = {"task": "t", "language": "", "shots": 0, "metrics": [metric]}
    (score,) = task_scores(harness_scores(record, samples)).scores
    assert score.interval == interval and score.n == len(values)


def test_groups_come_after_their_last_task_and_inner_ones_first() -> None:
    def task(name: str, value: float, n: int) -> HarnessTaskScores:
        metric = {"metric": "acc", "filter": "none", "value": value, "standard_error": None, "higher_is_better": True}
        row = {"acc,none": value, "acc_stderr,none": "N/A", "sample_len": n}
        record: Any = {"task": name, "language": "", "shots": 0, "metrics": [metric], "harness": {"results": row}}
        return task_scores(harness_scores(record, []))

    def group(*tasks: str) -> Any:
        mean = {"metric": "acc", "filter_list": None, "weight_by_size": True}
        return {"alias": "x", "version": "1", "children": [], "tasks": list(tasks), "aggregate": [mean]}

    groups = {"all": group("a", "b", "c"), "inner": group("c", "b"), "other": group("a", "lacking")}
    found = with_groups([task("a", 0.2, 10), task("b", 0.5, 10), task("c", 0.8, 30)], groups)
    assert [s.task for s in found] == ["a", "b", "c", "inner", "all"]
    assert found[3].value == pytest.approx((0.5 * 10 + 0.8 * 30) / 40) and found[3].n == 40
    assert found[4].members == 3 and found[4].interval is None


def test_a_macro_mean_stands_where_it_differs_and_has_its_own_error() -> None:
    def task(name: str, value: float, n: int, metric: str = "acc") -> HarnessTaskScores:
        error = (value * (1 - value) / n) ** 0.5
        score = HarnessScore(name, "", metric, "none", value, error, around(value, error), n, 0, True)
        row = {f"{metric},none": value, f"{metric}_stderr,none": error, "sample_len": n}
        record: Any = {"task": name, "shots": 0, "harness": {"results": row}}
        return HarnessTaskScores(record, [score])

    def macros(tasks: list[HarnessTaskScores], by_size: bool = True) -> list[HarnessScore]:
        mean = {"metric": "acc", "filter_list": None, "weight_by_size": by_size}
        names = [t.record["task"] for t in tasks]
        group: Any = {"alias": "x", "version": "1", "children": [], "tasks": names, "aggregate": [mean]}
        return [s for s in with_groups(tasks, {"all": group}) if s.macro]

    uneven = [task("a", 0.2, 10), task("b", 0.5, 1000)]
    (found,) = macros(uneven)
    drawn = np.random.default_rng(0).binomial([10, 1000], [0.2, 0.5], size=(200_000, 2)) / [10, 1000]
    assert found.value == pytest.approx(0.35)
    assert found.standard_error == pytest.approx(drawn.mean(axis=1).std(), rel=0.02)
    assert "acc, macro" in printed([found]) and "have the same weight" in re.sub(r"\s+", " ", printed([found]))
    assert not macros([task("a", 0.2, 10), task("b", 0.5, 10)]), "the same as the group's own"
    assert not macros(uneven, by_size=False)
    assert not macros([uneven[0], task("b", 0.5, 1000, metric="f1")]), "a mean over some of the tasks is none"
