"""Judged scores rank nothing; corrected ones are as sure as people's ratings, in differences, means and ranks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.analysis.cells import on_boards, scored

from afrieval.analysis.contrasts import Contrast, contrasts
from afrieval.analysis.entries import tasks_with_entries
from afrieval.analysis.means import of_languages, of_questions, over_languages
from afrieval.analysis.ranks import ranked
from afrieval.analysis.scores import by_language
from afrieval.analysis.standings import in_languages
from afrieval.analysis.subgroups import parts
from afrieval.analysis.suites import suite_averages
from afrieval.analysis.uncertainty import TaskWeight, half_width
from afrieval.report.boards import pair_table, task_table
from afrieval.report.contrast_tables import ALONE, contrast_table, sentence
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Labels
from afrieval.scoring.base import Array, Metric, not_measured
from afrieval.scoring.learned import learned

ANSWERED = Metric("answered", not_measured, ranked=False)
N = 300
CODES = ["hau", "ibo", "swa", "xho", "yor", "zul", "amh", "twi"]


def judged(
    model: str,
    people: Array,
    too_high: float = 0.0,
    rated: Array | None = None,
    seed: int = 0,
    names: tuple[str, ...] = ("judge_a", "people", "corrected_a"),
    **changes: Any,
) -> CellScores:
    """Returns a cell of an open task of which the judge gives some bad answers a 1; the first 60 are rated."""
    by_judge = np.where(np.random.default_rng(seed).random(len(people)) < too_high, 1.0, people)
    here = (np.arange(len(people)) < 60).astype(float) if rated is None else rated
    measures = {
        "answered": np.ones((len(people), 1)),
        "judge_a": by_judge[:, None],
        "people": np.where(here > 0, people, np.nan)[:, None],
        "corrected_a": np.stack([by_judge, here * people, here], axis=1),
    }
    kept = {name: of for name, of in measures.items() if name in ("answered", *names)}
    metrics = {name: ANSWERED if name == "answered" else learned(name) for name in kept}
    open_ = {"n_choices": np.zeros(len(people), dtype=int), "golds": np.full(len(people), -1)}
    given = {**open_, "metrics": metrics, "measures": kept, "model": model, "language": "hau", **changes}
    return scored([1.0] * len(people), "aya", **given)


def drawn(share: float, seed: int) -> Array:
    return (np.random.default_rng(seed).random(N) < share).astype(float)


def compared(cells: list[CellScores], metric: str) -> Contrast:
    (found,) = contrasts([cell.with_metric(metric) for cell in cells], "model", 42)
    return found


def test_a_judge_alone_gives_no_verdict_and_no_rank_however_far_models_are_apart() -> None:
    cells = [judged("a", drawn(0.9, 1)), judged("b", drawn(0.2, 2))]
    by_judge, by_people = (compared(cells, name) for name in ("judge_a", "corrected_a"))
    assert by_judge.rows[0].differs and by_judge.rows[0].verdict == 0 and by_people.rows[0].verdict == -1
    assert sentence(by_judge, by_judge.metric) == "b: judge_a alone, nothing is concluded."
    assert ALONE in contrast_table(by_judge).notes and ALONE not in contrast_table(by_people).notes
    assert sentence(by_people, by_people.metric).startswith("b scores lower in Hausa")
    for name, ranks in (("judge_a", [None, None]), ("corrected_a", [(1, 1), (2, 2)]), ("people", [(1, 1), (2, 2)])):
        sides = {cell.model: [cell.with_metric(name)] for cell in cells}
        assert [*ranked(sides).values()] == ranks
        assert [entry.rank for entry in in_languages(sides)["hau"].standings] == ranks


def test_a_judge_that_favours_a_model_does_not_make_it_better() -> None:
    people = drawn(0.5, 3)
    cells = [judged("a", people), judged("b", people, 0.6)]
    (row,) = compared(cells, "corrected_a").rows
    assert cells[1].with_metric("judge_a").score > 0.75
    assert row.verdict == 0 and row.interval is not None and row.interval.low < 0 < row.interval.high
    assert (row.gained, row.lost) == (int(np.sum(cells[1].measures["judge_a"][:, 0] > people)), 0)


@pytest.mark.parametrize("together", [True, False])
def test_differences_cover_and_find_nothing_where_there_is_nothing(together: bool) -> None:
    rng, covers, finds = np.random.default_rng(4), 0, 0
    for _ in range(150):
        hard, rated = rng.random(N), np.zeros((2, N))
        for at in range(2):
            rated[at, rng.choice(N, 40, replace=False)] = 1
        cells = []
        for at, model in enumerate("ab"):
            people = (np.where(rng.random(N) < 0.7, hard, rng.random(N)) < 0.6).astype(float)
            cells.append(judged(model, people, 0.4 * at, rated[0 if together else at], int(rng.integers(1 << 30))))
        (row,) = compared(cells, "corrected_a").rows
        assert row.interval is not None
        covers, finds = covers + (row.interval.low <= 0 <= row.interval.high), finds + row.differs
    assert covers == 150 - finds and 2 <= finds <= 14


def test_no_ratings_in_common_rows_conclude_nothing() -> None:
    rated = (np.arange(N) >= N - 60).astype(float)
    one, other = judged("a", drawn(0.9, 1), rated=rated), judged("b", drawn(0.1, 2)).take(np.arange(N - 60))
    (row,) = compared([one, other], "corrected_a").rows
    assert (row.interval, row.p, row.verdict) == ((-1, 1), 1, 0)


def test_means_over_languages_are_as_sure_as_ratings_not_as_questions() -> None:
    codes = ["hau", "yor", "ibo"]
    alike = {"parallel": [codes]}
    languages = [judged("a", drawn(0.5, at), language=code, declared=alike) for at, code in enumerate(codes)]
    few = of_languages([cell.with_metric("corrected_a") for cell in languages])
    assert [scores.sure for scores in few.values()] == [60 / N] * 3
    sure = {code: replace(scores, sure=1.0) for code, scores in few.items()}
    halves = [half_width([TaskWeight(1, "d", of)], drawn=False) for of in (few, sure)]
    assert halves[0] / halves[1] == pytest.approx(stats.t.ppf(0.975, 59) / stats.t.ppf(0.975, 299))


def test_means_over_languages_where_people_happen_to_agree_are_not_surer_than_ratings() -> None:
    """Of 97 % harmless answers, 20 ratings in each language are often all the same."""
    rng, covers = np.random.default_rng(5), 0
    for _ in range(60):
        rated = (rng.permutation(N) < 20).astype(np.float64)
        cells = [judged("a", (rng.random(N) < 0.97).astype(float), rated=rated, language=code) for code in CODES]
        found = over_languages([*of_languages([cell.with_metric("corrected_a") for cell in cells]).values()])
        assert found is not None
        covers += found.low <= 0.97 <= found.high
    assert covers >= 56
    alike = judged("a", np.ones(N), rated=(np.arange(N) < 20).astype(float)).with_metric("corrected_a")
    alone, mean = alike.interval, over_languages([of_questions([alike])] * 5)
    assert alone and mean and mean.low <= alone.low + 0.02


def test_a_detectable_difference_is_one_that_few_ratings_find() -> None:
    rng, detectable = np.random.default_rng(6), []
    for true in (0.05, 0.15):  # judges and people agree on both
        sides, rated = [], (rng.permutation(N) < 20).astype(np.float64)
        hard = rng.random(N)
        for model, share in (("a", 0.5), ("b", 0.5 + true)):
            sides.append(judged(model, (hard < share).astype(float), rated=rated))
        (row,) = compared(sides, "corrected_a").rows
        detectable.append(row.detectable)
        assert row.interval and (row.interval.high - row.interval.low) / 2 < row.detectable
    assert detectable[0] == pytest.approx((stats.t.ppf(0.975, 19) + stats.norm.ppf(0.8)) / np.sqrt(20 * 19))
    (row,) = compared(
        [judged(m, drawn(0.5, 1), rated=(np.arange(N) < 1).astype(np.float64)) for m in "ab"], "corrected_a"
    ).rows
    assert row.detectable == 1


def test_parts_with_few_ratings_have_no_corrected_score() -> None:
    declared: Any = {"breakdowns": ["topic"]}
    topics = Labels((np.arange(N) >= 45).astype(np.int64), ("culture", "harm"))  # 45 and 15 of the 60 are rated
    cell = judged("a", drawn(0.5, 1), fields={"topic": topics}, declared=declared)
    trees = {name: parts([cell.with_metric(name)], "topic") for name in ("corrected_a", "people")}
    found = {name: [part.path["topic"] for part in tree.branches] for name, (tree,) in trees.items()}
    assert found == {"corrected_a": ["culture"], "people": ["culture", "harm"]}
    prompts = [judged("a", drawn(0.5, 1), rated=np.roll((np.arange(N) < 60) * 1.0, 50 * at)) for at in (0, 1)]
    prompts = [cell.take(np.arange(55)) for cell in prompts]  # 55 and 5 rated
    (score,) = by_language([replace(cell, prompt=at) for at, cell in enumerate(prompts)])
    assert "judge_a" in score.others and "corrected_a" not in score.others


def test_an_open_task_is_on_boards_by_its_corrected_score_alone() -> None:
    others = [scored([1.0] * 20, model=model) for model in "abc"]
    cells = [judged("a", drawn(0.9, 1)), judged("b", drawn(0.2, 2)), judged("c", drawn(0.9, 3), names=("judge_a",))]
    found = on_boards([*cells, *others])
    aya = next(task for task in found.tasks if task.task == "aya")
    assert aya.metric is not None and aya.metric.name == "corrected_a" and aya.averaged
    assert [(s.side.name, s.rank) for s in found.pairs["aya", "hau"].standings] == [("a", (1, 1)), ("b", (2, 2))]
    assert aya.notes == ["Without a score, since they lack corrected_a: c."]
    assert ("aya", "hau") in found.averages[0].pairs
    one, other, last = (
        next(of for of in suite_averages([*cells, *others]) if of.dimensions["model"] == m) for m in "abc"
    )
    assert [part.metric for part in one.parts] == ["corrected_a", "acc"] and one.parts[0].score > other.parts[0].score
    assert [part.task for part in last.parts] == ["afrixnli"] and last.outside == ["aya"]


def test_without_ratings_an_open_task_is_shown_without_rank_or_average_and_the_page_says_why() -> None:
    cells = [judged(model, drawn(0.9, 1), names=("judge_a",)) for model in "ab"]
    found = on_boards([*cells, *(scored([1.0] * 20, model=model) for model in "ab")])
    assert [s.rank for s in found.pairs["aya", "hau"].standings] == [None, None]
    assert all("aya" not in board.tasks for board in [*found.averages, *found.languages.values()])
    aya = next(task for task in found.tasks if task.task == "aya")
    assert not aya.averaged
    for table in (task_table(found.means["aya"], aya), pair_table(found.pairs["aya", "hau"], aya, "hau")):
        assert table is not None
        assert [note for note in table.notes if "scores by answered alone" in note]


def test_one_judge_for_all_the_one_that_most_models_have() -> None:
    def by(model: str, judge: str, signature: str) -> CellScores:
        cell = judged(model, drawn(0.5, 1), names=("corrected_a",), declared={"signatures": {judge: signature}})
        return replace(
            cell,
            metrics={"answered": ANSWERED, judge: learned(judge)},
            measures={"answered": cell.measures["answered"], judge: cell.measures["corrected_a"]},
        )

    cells = [
        by("a", "corrected_x", "1"),
        by("b", "corrected_x", "1"),
        by("c", "corrected_x", "2"),
        by("d", "corrected_y", "1"),
    ]
    (task,) = tasks_with_entries(cells, [])
    assert {model.name for model, of in task.entries.items()} == {"a", "b"}
    assert task.notes == ["Without a score, since they lack corrected_x: c, d."]


def test_people_who_rate_other_documents_of_each_prompt_have_no_mean_over_prompts() -> None:
    cells = [judged("a", drawn(0.5, 1), rated=np.roll((np.arange(N) < 60) * 1.0, 60 * at), prompt=at) for at in (1, 2)]
    (score,) = by_language([cell.with_metric("judge_a") for cell in cells])
    assert set(score.others) == {"answered", "corrected_a"}
