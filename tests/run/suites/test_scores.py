"""Derived metrics of suites: which cells they are made of, their scores and intervals, and why they are absent."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score
from tests.analysis.cells import scored as scored_cell

from afrieval.results.cell_scores import CellScores
from afrieval.run.suites.derived_scores import DerivedScore, derived_scores, references_of, selections, tasks_of
from afrieval.scoring.base import Metric

RNG = np.random.default_rng(7)
LOSS = Metric("loss", lambda response, question: None, bounds=(0.0, np.inf), interval="bootstrap")
ATTACK: Any = {"attack": {"how": "auc", "of": ["forget.loss", "holdout.loss"]}}
LEAK: Any = ATTACK | {"leak": {"how": "privleak", "of": "attack", "reference": "retain"}}
QUALITY: Any = {"quality": {"how": "ks_test", "of": "forget.loss", "reference": "retain"}}
OF_PAIRS: Any = {"pairs": {"how": "auc_of_differences", "of": ["forget.loss", "holdout.loss"], "reference": "retain"}}


def cell(task: str, values: Any, data: str = "", **changes: Any) -> CellScores:
    return scored_cell([*values], task, of=LOSS, language="eng", comparable_on={"data": data or task}, **changes)


def scored(declared: Any, cells: list[CellScores], *reference: CellScores) -> list[DerivedScore]:
    found = {of.name: of for of in reference}
    return derived_scores(declared, cells, {"retain": lambda own: found.get(own.name)} if reference else {})


def test_what_a_derived_metric_needs() -> None:
    assert tasks_of("leak", LEAK) == ["forget", "holdout"]
    assert (references_of("leak", LEAK), references_of("attack", LEAK)) == (["retain"], [])


def test_the_score_is_that_of_scikit_learn_and_the_interval_has_it_inside() -> None:
    low, high = RNG.normal(size=60), RNG.normal(1, 1, size=40)
    (found,) = scored(ATTACK, [cell("forget", low), cell("holdout", high)])
    expected = roc_auc_score([0] * 60 + [1] * 40, [*low, *high])
    assert found.score == pytest.approx(expected) and found.n == 100
    assert found.interval and found.interval[0] < expected < found.interval[1]
    error = np.sqrt(expected * (1 - expected) / 40)  # Hanley & McNeil's is a little smaller
    assert 0.5 * error < (found.interval[1] - found.interval[0]) / 4 < 1.2 * error


def test_documents_that_runs_share_are_drawn_together() -> None:
    low, high = RNG.normal(size=50), RNG.normal(size=50)
    own = [cell("forget", low), cell("holdout", high)]
    same = scored(LEAK, own, *own)[1]
    assert same.score == 0 and same.interval is None and same.n == 100  # nothing varies
    others = [cell("forget", RNG.permutation(low)), cell("holdout", RNG.permutation(high))]
    other = scored(LEAK, own, *others)[1]
    assert other.score == pytest.approx(0, abs=1e-9) and other.interval and other.interval[0] < 0 < other.interval[1]


def test_documents_that_tasks_share_are_drawn_together() -> None:
    values, declared = RNG.random(30), {"x": {"how": "mean", "of": ["a.loss", "b.loss"]}}
    together = scored(declared, [cell("a", values, "rows"), cell("b", 1 - values, "rows")])[0]
    apart = scored(declared, [cell("a", values, "rows"), cell("b", 1 - values, "other rows")])[0]
    assert together.score == pytest.approx(0.5) and together.interval is None and together.n == 30
    assert apart.interval is not None and apart.n == 60


def test_the_ks_test_is_that_of_scipy_and_says_if_documents_are_others() -> None:
    own, other = RNG.random(40), RNG.random(30) + 0.2
    (found,) = scored(QUALITY, [cell("forget", own)], cell("forget", other))
    assert found.score == stats.ks_2samp(own, other).pvalue and found.interval is None
    assert found.notes == ["the reference retain has 30 documents of forget, this run 40; they are not matched"]


def test_pairs_need_the_same_documents() -> None:
    own = [cell("forget", [1.0, 2.0]), cell("holdout", [3.0, 3.0])]
    (found,) = scored(OF_PAIRS, own, cell("forget", [0.0, 3.0]), cell("holdout", [2.0, 2.0]))
    assert found.score == 0.75  # 1 and -1 against 1 and 1; ties count half
    (absent,) = scored(OF_PAIRS, own, cell("forget", [0.0]), cell("holdout", [2.0, 2.0]))
    assert (absent.score, absent.reason) == (None, "the reference run has other documents")


@pytest.mark.parametrize(
    ("own", "reference", "reason"),
    [
        (["forget"], ["forget"], "holdout was not run"),
        (["forget", "holdout"], [], "it needs --reference retain=RUN"),
        (["forget", "holdout"], ["forget"], "the reference retain has no holdout"),
    ],
)
def test_what_is_absent_has_a_reason(own: list[str], reference: list[str], reason: str) -> None:
    found = scored(LEAK, [cell(t, [1.0, 2.0]) for t in own], *(cell(t, [1.0, 2.0]) for t in reference))
    assert (found[-1].name, found[-1].score, found[-1].interval, found[-1].reason) == ("leak", None, None, reason)


def test_a_metric_that_is_not_there_is_absent() -> None:
    (found,) = scored({"x": {"how": "mean", "of": ["forget.zlib"]}}, [cell("forget", [1.0])])
    assert found.reason == "the run has no forget.zlib"


def test_what_is_not_defined_is_absent_and_over_forgetting_is_said() -> None:
    own, unseen = [cell("forget", [5.0, 6.0]), cell("holdout", [1.0, 2.0])], [cell("forget", [1.0, 1.0])]
    attack, leak = scored(LEAK, own, *unseen, cell("holdout", [2.0, 2.0]))
    assert attack.score == 0 and "over-forgetting" in attack.notes[0]
    assert leak.score is None and leak.reason == "it is not defined: a denominator is 0"


def test_each_prompt_has_a_row_and_a_task_with_one_prompt_is_in_all() -> None:
    cells = [cell("forget", [1.0], prompt=1), cell("forget", [2.0], prompt=2), cell("holdout", [3.0], prompt=1)]
    found = selections(["forget", "holdout"], cells)
    assert [{c.name for c in of.values()} for of in found] == [
        {"forget_eng_eng_1", "holdout_eng_eng_1"},
        {"forget_eng_eng_2", "holdout_eng_eng_1"},
    ]
    several = [*cells, cell("holdout", [3.0], prompt=3)]  # no set has both tasks but that of prompt 1
    assert [{c.prompt for c in of.values()} for of in selections(["forget", "holdout"], several)] == [{1}]
    assert selections(["other"], cells) == [{}]
