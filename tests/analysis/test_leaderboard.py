"""Leaderboards: the same pairs for all, English apart, published scores marked."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.analysis.cells import on_boards, scored

from afrieval.analysis.entries import PUBLISHED, tasks_with_entries
from afrieval.analysis.leaderboard import averages, board, common_pairs, of_language, of_task
from afrieval.analysis.published_files import PublishedRow
from afrieval.results.cell_scores import CellScores


def answers(share: float, n: int = 100) -> list[float]:
    return [float(at < share * n) for at in range(n)]


def cells(model: str, shares: Mapping[str, float], task: str = "afrixnli", **changes: Any) -> list[CellScores]:
    return [scored(answers(share), task, language=code, model=model, **changes) for code, share in shares.items()]


def row(model: str, scores: dict[str, float], task: str = "afrixnli", prompt: str = "1") -> PublishedRow:
    return PublishedRow(task, model, prompt, 0, scores, None, 2, source="afrixnli-0shot.csv")


def test_pairs_are_those_with_the_most_models_times_pairs() -> None:
    wide, narrow = {("t", str(at)) for at in range(10)}, {("t", "0"), ("t", "1")}
    assert common_pairs([wide, wide, narrow]) == wide
    assert common_pairs([wide, narrow]) == narrow  # a single model has nothing to be compared with
    assert common_pairs([wide, *[narrow] * 10]) == narrow
    other = {("t", "0"), *(("u", str(at)) for at in range(9))}  # as many pairs, but of another task
    assert common_pairs([other, wide, wide, wide]) == wide
    assert common_pairs([]) == set()
    assert common_pairs([{("t", "a")}, {("t", "b")}]) in ({("t", "a")}, {("t", "b")})


def test_english_and_french_are_in_no_african_mean() -> None:
    own = [
        *cells("a", {"yor": 0.5, "hau": 0.7, "eng": 1.0, "fra": 1.0}),
        *cells("b", {"yor": 0.1, "hau": 0.1, "eng": 1.0}),
    ]
    tasks = tasks_with_entries(own, [])
    suite, afrobench = averages(tasks)
    for found in (suite, afrobench, of_task(tasks[0])):
        assert found.languages == ["hau", "yor"]
    assert [(s.side.name, round(s.score, 9)) for s in suite.standings] == [("a", 60.0), ("b", 10.0)]
    assert [s.rank for s in of_language(tasks, "eng").standings] == [(1, 2), (1, 2)]


def test_portuguese_is_in_the_average_of_afrobench_alone() -> None:
    suite, afrobench = averages(tasks_with_entries(cells("a", {"yor": 0.5, "por": 0.7}), []))[:2]
    assert suite.languages == ["yor"]
    assert afrobench.languages == ["por", "yor"]


def test_a_model_that_lacks_a_pair_is_below_the_others_without_a_rank() -> None:
    own = [*cells("a", {"yor": 0.5, "hau": 0.7}), *cells("b", {"yor": 0.4, "hau": 0.4}), *cells("c", {"hau": 0.9})]
    suite = averages(tasks_with_entries(own, []))[0]
    *whole, last = suite.standings
    assert [(s.side.name, s.whole) for s in whole] == [("a", True), ("b", True)]
    assert (last.side.name, last.whole, last.rank, len(last.pairs), suite.n_pairs) == ("c", False, None, 1, 2)
    assert last.score == pytest.approx(90)


def test_tasks_have_the_same_weight_and_families_their_own_average() -> None:
    first = cells("a", {"yor": 0.2, "ibo": 0.2, "zul": 0.2, "hau": 0.6})
    second = cells("a", {"yor": 1.0}, "afrimmlu")
    suite, _, *families = averages(tasks_with_entries([*first, *second], []))
    assert suite.standings[0].score == pytest.approx((30 + 100) / 2)
    assert [(each.name, each.languages) for each in families] == [("Niger-Congo", ["ibo", "yor", "zul"])]
    assert families[0].standings[0].score == pytest.approx((20 + 100) / 2)


def test_afrobench_takes_the_best_prompt_of_each_task() -> None:
    own = [*cells("a", {"yor": 0.2, "hau": 0.2}), *cells("a", {"yor": 0.6, "hau": 0.4}, prompt=2)]
    suite, afrobench = averages(tasks_with_entries(own, []))[:2]
    assert suite.standings[0].score == pytest.approx(35)
    assert afrobench.standings[0].score == pytest.approx(50)


def test_prompts_in_english_and_native_ones_and_published_scores_are_models_of_their_own() -> None:
    own = [*cells("a", {"yor": 0.5}), *cells("a", {"yor": 0.7}, prompt_language="native")]
    rows = [row("a", {"yor": 90.0}), row("a", {"yor": 80.0}, prompt="2")]
    (task,) = tasks_with_entries(own, rows)
    found = of_language([task], "yor").standings
    kinds = [(s.side.prompt_set, s.side.prompt_language, round(s.score)) for s in found]
    assert kinds == [(PUBLISHED, "eng", 85), ("suite", "native", 70), ("suite", "eng", 50)]
    assert [s.rank for s in found] == [(1, 1), (2, 2), (3, 3)]
    assert [s.n for s in found] == [600, 100, 100]
    assert task.entries[found[0].side]["yor"].source == "afrixnli-0shot.csv"


def test_a_published_accuracy_has_the_interval_of_a_run() -> None:
    own = [scored(answers(0.9, 600), language="yor", model="a")]
    found = of_language(tasks_with_entries(own, [row("p", {"yor": 90.0})]), "yor").standings
    assert found[0].n == found[1].n == 600
    assert found[0].interval == pytest.approx(found[1].interval)


def test_right_answers_alone_are_not_sure_under_any_rule() -> None:
    """Wilson's interval of one right answer begins at 20.7."""
    suite, afrobench = averages(tasks_with_entries([scored([1.0], language="yor", model="a")], []))[:2]
    for found in (suite, afrobench):
        interval = found.standings[0].interval
        assert interval and interval.low < 25


def test_published_prompts_of_papers_and_of_the_suite_are_not_averaged() -> None:
    rows = [
        row("a", {"yor": score}, prompt=p)
        for p, score in (("1", 90.0), ("2", 70.0), ("suite 1", 20.0), ("unknown", 10.0))
    ]
    found = of_language(tasks_with_entries([], rows), "yor").standings
    assert {(s.side.prompt_set, round(s.score)) for s in found} == {
        ("published", 80), ("published, suite's prompts", 20), ("published, prompt unknown", 10)
    }  # fmt: skip
    assert all(s.side.published for s in found)


def test_published_scores_that_are_no_accuracies_have_no_rank() -> None:
    """SIB-200's are weighted F1."""
    rows = [row(model, {"yor": score}, "sib200") for model, score in (("a", 90.0), ("b", 10.0))]
    (task,) = tasks_with_entries([], rows)
    assert task.metric is not None and task.metric.name == "f1_weighted" and not task.is_sure
    found = of_language([task], "yor").standings
    assert [(s.side.name, s.rank, s.interval) for s in found] == [("a", None, None), ("b", None, None)]


def test_a_language_is_averaged_over_tasks_with_known_errors_if_there_are_some() -> None:
    rows = [row("a", {"yor": 50.0}), row("a", {"yor": 90.0}, "sib200")]
    found = of_language(tasks_with_entries([], rows), "yor")
    assert found.tasks == ["afrixnli"]


def test_defects_of_published_data_do_not_concern_runs_alone() -> None:
    """Lingala of AfriXNLI, whose rows in a run may be others; next to published scores, it is left out of both."""
    own = cells("a", {"yor": 0.5, "lin": 0.9})
    assert of_task(tasks_with_entries(own, [])[0]).languages == ["lin", "yor"]
    rows = [row("p", {"yor": 50.0, "lin": 50.0})]
    assert of_task(tasks_with_entries(own, rows)[0]).languages == ["yor"]


def test_the_mean_over_tasks_in_a_language_leaves_out_defective_data_if_there_is_other() -> None:
    declared = {"defective": {"lin": "wrong rows"}}
    own = [*cells("a", {"lin": 0.9}, declared=declared), *cells("a", {"lin": 0.3}, "afrimmlu")]
    assert of_language(tasks_with_entries(own, []), "lin").tasks == ["afrimmlu"]


def test_languages_with_a_known_defect_are_on_their_own_page_only() -> None:
    own = cells("a", {"yor": 0.5, "lin": 0.9}, declared={"defective": {"lin": "wrong rows"}})
    tasks = tasks_with_entries(own, [])
    assert of_task(tasks[0]).languages == ["yor"]
    assert tasks[0].defects["lin"] == "wrong rows"
    assert of_language(tasks, "lin").standings[0].score == pytest.approx(90)


def test_a_task_whose_scores_are_better_the_lower_they_are_is_in_no_average() -> None:
    losses = [scored([3.0 + at, 5.0, 4.0], "texts", of="loss", model=model) for at, model in enumerate("ab")]
    tasks = tasks_with_entries([*cells("a", {"yor": 0.5}), *losses], [])
    assert [task.averaged for task in tasks] == [True, False]
    assert averages(tasks)[0].tasks == ["afrixnli"]
    found = of_task(tasks[1]).standings
    assert [(s.side.name, round(s.score, 3)) for s in found] == [("a", 4.0), ("b", 4.333)]
    assert found[0].interval is not None and found[0].interval.low < 4 < found[0].interval.high


def test_runs_that_differ_in_what_they_ask_are_noted() -> None:
    own = [
        *cells("a", {"yor": 0.5}, comparable_on={"data": "x"}),
        *cells("b", {"yor": 0.5}, comparable_on={"data": "y"}),
    ]
    (task,) = tasks_with_entries(own, [])
    assert task.notes == ["Runs differ in data: compare them with care."]


def test_a_whole_leaderboard() -> None:
    own = [*cells("a", {"yor": 0.5, "hau": 0.7}), *cells("b", {"yor": 0.9, "hau": 0.9})]
    found = on_boards(own)
    assert found.model_names == ["a", "b"]
    assert set(found.pairs) == {("afrixnli", "hau"), ("afrixnli", "yor")}
    assert [model.name for model in found.order] == ["b", "a"]
    assert [s.side.name for s in found.languages["hau"].standings if s.may_be_best] == ["b"]
    mean = found.means["afrixnli"].standings[0]
    assert mean.score == pytest.approx(0.9)
    assert mean.interval is not None and mean.interval.low < 0.9 < mean.interval.high


def test_a_board_of_nothing_is_empty() -> None:
    assert board([], "none", lambda code, defective: True).standings == []


def test_numbers_of_documents_may_differ() -> None:
    short = [scored(answers(1.0, 20), language="yor", model="b")]
    (found,) = [of_language(tasks_with_entries([*cells("a", {"yor": 0.5}), *short], []), "yor")]
    assert [(s.side.name, s.n, s.rank) for s in found.standings] == [("b", 20, (1, 2)), ("a", 100, (1, 2))]
    assert np.isfinite(found.standings[0].score)


def test_forms_of_answers_are_models_only_where_they_differ() -> None:
    """AfriMMLU was run with letters and texts, AfriXNLI with texts alone."""
    own = [
        *cells("a", {"yor": 0.5}, "afrimmlu", answer_form="letter"),
        *cells("a", {"yor": 0.7}, "afrimmlu", answer_form="text"),
        *cells("a", {"yor": 0.9}, answer_form="text"),
    ]
    found = on_boards(own)
    forms = [(s.side.answer_form, round(s.score)) for s in found.averages[0].standings]
    assert forms == [("text", 80), ("letter", 70)]
    assert len(found.pairs["afrimmlu", "yor"].standings) == 2
    assert [s.side.name for s in found.pairs["afrixnli", "yor"].standings] == ["a"]
