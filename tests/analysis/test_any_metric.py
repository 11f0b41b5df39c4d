"""Scores that are no means: prompts, languages and differences by the same code, against what is worked out apart."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.analysis.cells import scored

from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.means import means
from afrieval.analysis.scores import averaged, by_language, over_prompts
from afrieval.analysis.subgroups import parts
from afrieval.report.contrast_tables import sentence
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Labels
from afrieval.scoring.base import Array, Metric
from afrieval.scoring.metrics import metric

F1 = metric({"name": "f1", "average": "macro"})
LOSS = replace(metric("acc"), name="loss", higher_is_better=False, bounds=(0.0, np.inf), interval="bootstrap")
RATIO = metric("inst_level_strict_acc")
N = 120


def classified(rng: np.random.Generator, right: float, n: int = N) -> Array:
    """Gold and picked class of documents, the same gold in every call with the same n."""
    gold = np.random.default_rng(0).choice(3, n, p=[0.6, 0.3, 0.1])
    return np.column_stack([gold, np.where(rng.random(n) < right, gold, rng.integers(0, 3, n))]).astype(np.float64)


def cell(measures: Array, of: Metric = F1, **changes: Any) -> CellScores:
    made = scored(measures.tolist(), of=of, **changes)
    text = "native" if made.prompt_language == "native" else "p"
    return replace(made, comparable_on={**made.comparable_on, "prompt text": text})


def score(measures: Array, of: Metric = F1) -> float:
    return float(of.score(measures, np.ones((1, len(measures))))[0])


def test_the_mean_over_prompts_is_that_of_their_scores() -> None:
    rng = np.random.default_rng(1)
    sides = [classified(rng, right) for right in (0.5, 0.7)]
    one, two = cell(sides[0]), cell(sides[1][:100], prompt=2)
    (language,) = by_language([one, two])
    assert language.score == pytest.approx((score(sides[0][:100]) + score(sides[1][:100])) / 2)
    assert language.n == 100 and language.interval and language.interval.low < language.score < language.interval.high
    (spread,) = over_prompts([one, two])
    assert spread.score == pytest.approx(language.score) and (spread.best.prompt, spread.worst.prompt) == (2, 1)


def test_a_mean_over_languages_is_that_of_their_scores() -> None:
    rng = np.random.default_rng(2)
    sides = {code: classified(rng, right) for code, right in (("yor", 0.4), ("hau", 0.6), ("swa", 0.7))}
    (found,) = means([cell(measures, language=code) for code, measures in sides.items()], ["Africa"])
    assert found.score == pytest.approx(np.mean([score(measures) for measures in sides.values()]))
    assert found.interval and 0 <= found.interval.low < found.score < found.interval.high <= 1


def test_a_mean_of_losses_is_not_cut_at_one() -> None:
    rng = np.random.default_rng(3)
    cells = [cell(rng.exponential(5, (N, 1)), LOSS, language=code) for code in ("yor", "hau", "swa")]
    (found,) = means(cells, ["Africa"])
    assert found.score > 3 and found.interval and found.interval.high > found.score
    (spread,) = over_prompts([cell(np.full((9, 1), 2.0), LOSS), cell(np.full((9, 1), 3.0), LOSS, prompt=2)])
    assert (spread.best.prompt, spread.best.score, spread.worst.prompt, spread.spread) == (1, 2.0, 2, 1.0), (
        "less is better"
    )


def test_a_difference_beyond_chance_is_found_and_chance_is_not() -> None:
    rng = np.random.default_rng(4)
    low = classified(rng, 0.3)
    for right, verdict in ((0.8, 1), (0.3, 0)):
        high = classified(rng, right)
        ((row,),) = (c.rows for c in contrasts([cell(low), cell(high, prompt_language="native")], "prompt_language", 1))
        assert (row.first, row.second) == pytest.approx((score(low), score(high)))
        assert row.verdict == verdict and row.interval and row.interval.low < row.difference < row.interval.high
        differ = int(np.any(low != high, axis=1).sum())
        assert 0 < row.gained + row.lost <= differ, "documents with the same answer are neither"


def test_the_interval_of_a_difference_is_paired() -> None:
    """Both sides right on the same documents: the difference varies less than either score."""
    rng = np.random.default_rng(5)
    one = classified(rng, 0.5)
    other = one.copy()
    other[:6, 1] = other[:6, 0]
    first, second = cell(one), cell(other, prompt_language="native")
    ((row,),) = (c.rows for c in contrasts([first, second], "prompt_language", 1))
    alone = first.interval
    assert row.interval and alone and row.interval.high - row.interval.low < 0.5 * (alone.high - alone.low)
    assert row.lost == 0


def test_of_a_ratio_with_one_answer_per_document_all_is_as_of_a_mean() -> None:
    rng = np.random.default_rng(6)
    sides = [rng.binomial(1, p, N).astype(float) for p in (0.4, 0.55)]
    as_ratio = [np.column_stack([values, np.ones(N)]) for values in sides]
    rows = []
    for of, measures in ((metric("acc"), [v[:, None] for v in sides]), (RATIO, as_ratio)):
        cells = [cell(measures[0], of), cell(measures[1], of, prompt_language="native")]
        rows.append(contrasts(cells, "prompt_language", 1)[0].rows[0])
    mean, ratio = rows
    assert (mean.first, mean.second, mean.gained, mean.lost) == (ratio.first, ratio.second, ratio.gained, ratio.lost)
    assert mean.p == pytest.approx(ratio.p, abs=0.02) and mean.detectable == pytest.approx(ratio.detectable, rel=0.05)
    assert mean.interval == pytest.approx(ratio.interval, abs=0.02)


def test_less_of_what_is_bad_helps() -> None:
    many, few = np.ones((40, 1)), np.zeros((40, 1))
    of = metric("unparsed")
    (found,) = contrasts([cell(many, of), cell(few, of, prompt_language="native")], "prompt_language", 1)
    assert sentence(found, of) == "Native prompts help in Yoruba."


def test_other_metrics_are_refused() -> None:
    (found,) = contrasts(
        [cell(np.ones((4, 1)), metric("acc")), scored([1.0] * 4, model="n", of="acc_norm")], "model", 1
    )
    assert found.refused == ["Yoruba (yor), prompt 1: one has acc, the other acc_norm"]


def test_a_part_has_the_score_of_its_documents() -> None:
    measures = classified(np.random.default_rng(7), 0.5)
    subjects = Labels(np.arange(N) % 2, ("a", "b"))
    one = replace(cell(measures), fields={"subject": subjects}, declared={"breakdowns": ["subject"]})
    (tree,) = parts([one], "subject")
    assert [(dict(part.path), part.n) for part in tree.branches] == [({"subject": "a"}, 60), ({"subject": "b"}, 60)]
    assert [part.score for part in tree.branches] == pytest.approx([score(measures[::2]), score(measures[1::2])])


def test_an_average_of_one_prompt_is_its_cell() -> None:
    one = cell(classified(np.random.default_rng(8), 0.5))
    average = averaged([one])
    assert (average.score, average.interval) == (one.score, one.interval)
