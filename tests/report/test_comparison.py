"""Spread over prompts, means over languages, breakdowns and trees of parts as tables."""

import csv
import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.analysis.cells import scored
from tests.analysis.test_subgroups import CELL, quiz
from tests.report.screen import printed

from afrieval.analysis.means import Mean
from afrieval.analysis.run_contrasts import all_contrasts, average_differences
from afrieval.analysis.scores import averaged
from afrieval.analysis.subgroups import trees
from afrieval.report import comparison
from afrieval.report.comparison import (
    breakdown_tables,
    comparison_tables,
    confusion_table,
    mean_table,
    spread_table,
    tree_tables,
)
from afrieval.report.contrast_tables import average_difference_tables
from afrieval.report.formats import html, latex, markdown
from afrieval.report.score_tables import naming_rows
from afrieval.report.table import Table
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval
from afrieval.tasks.declaration.known_facts import PublishedScores

PLACE = {"prompt_language": "eng", "model": "m", "shots": 0, "answer_form": "text"}
CHRF = Metric("chrf", measure=lambda response, question: None, bounds=(0.0, 100.0))


def mean(members: list[str], **changes: Any) -> Mean:
    given: dict[str, Any] = {"grouping": "Africa", "name": "Africa", "score": 0.5, "interval": Interval(0.4, 0.6)}
    given |= {"dimensions": PLACE, "alone": [], "differing": 0}
    return Mean(task="belebele", members=members, **given | changes)


def test_what_languages_do_not_share_is_said() -> None:
    notes = " ".join(mean_table("belebele", [mean(["afr", "yor"], alone=["afr"], differing=5)]).notes)
    assert "Not known to share questions with the other languages: Afrikaans." in notes
    assert "5 questions have different right answers in some languages" in notes
    families = [mean(["yor"]), mean(["afr"], grouping="family", name="Indo-European", alone=["afr"])]
    assert "Not known" not in " ".join(mean_table("belebele", families).notes)


def test_means_over_other_languages_are_not_to_be_compared() -> None:
    kinds = [mean(["yor", "zul"]), mean(["yor"], dimensions=PLACE | {"prompt_language": "native"}, interval=None)]
    table = mean_table("belebele", kinds)
    assert "Do not compare means over different languages." in table.notes
    assert table.cells() == [
        ["Africa", "English", "50.0", "40.0-60.0", "2", "Yoruba and Zulu"],
        ["Africa", "native", "50.0", "none", "1", "Yoruba"],
    ]
    assert "Do not compare" not in " ".join(mean_table("belebele", kinds[:1]).notes)


def test_all_of_many_members_are_named_below() -> None:
    codes = ["amh", "hau", "swa", "yor", "zul"]
    table = mean_table("belebele", [mean(codes)])
    assert table.cells()[0][-1] == "Amharic, Hausa, Swahili and 2 more"


def test_scores_that_are_no_shares() -> None:
    of_prompts = averaged([scored([score], prompt=n, of=CHRF) for n, score in ((1, 40.74), (2, 45.26))])
    assert spread_table("t", [of_prompts]).cells() == [["Yoruba", "45.3", "2", "43.0", "40.7", "1", "4.5"]]
    found = mean_table("t", [mean(["yor", "zul"], score=45.26, interval=Interval(30.0, 60.0))], CHRF)
    assert found.cells()[0][1:3] == ["45.3", "30.0-60.0"] and found.title == "t, chrf: means over languages"


def test_a_task_has_its_tables_together() -> None:
    units = [scored([1.0, 0.0], task=task, prompt=n) for task in ("a", "b") for n in (1, 2)]
    assert [t.title for t in comparison_tables(units, [], ["Africa"], None)] == [
        "a: prompts", "a: means over languages", "b: prompts", "b: means over languages",
    ]  # fmt: skip


def test_a_metric_that_was_asked_for_is_named() -> None:
    cells = [scored([1.0, 0.0], language=code) for code in ("yor", "zul")]
    (table,) = comparison_tables(cells, [], ["Africa"], None, "acc_norm")
    assert table.title.endswith("means over languages, acc_norm") and table.records()[0]["metric"] == "acc_norm"


def test_of_many_labels_the_most_frequent_mistakes_are_shown() -> None:
    counts = np.diag([9] * 13 + [0])[:13]
    counts[3, 4], counts[5, 13] = 2, 7
    names = [f"intent {i}" for i in range(13)]
    table = confusion_table([scored([1], declared={"labels": names})], counts)
    assert table.cells() == [["intent 5", "none", "7"], ["intent 3", "intent 4", "2"]]
    few = confusion_table([scored([1], declared={"labels": names[:2]})], np.array([[3, 1, 0], [0, 2, 1]]))
    assert few.cells() == [["intent 0", "3", "1", "0"], ["intent 1", "0", "2", "1"]]


@pytest.fixture(scope="module")
def table() -> Table:
    (found,) = tree_tables(trees([CELL], "subject"))
    return found


def test_a_terminal_shows_groups_indented(table: Table) -> None:
    lines = [line.replace("\xa0", " ").rstrip() for line in printed(table).splitlines()]
    assert lines[0] == "quiz: by subject" and lines[1].split(maxsplit=3)[:3] == ["branch,", "area,", "subject"]
    names = [line[:20].rstrip() for line in lines[3:] if line][:-2]
    assert names == ["micro", "macro, mean of 3", "all", "  science", "    physics", "    maths", "  arts", "    music"]
    assert any(line.startswith("micro: all questions have the same weight") for line in lines)


def test_programs_get_a_column_for_each_level(table: Table) -> None:
    rows = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert [(r["average"], r["branch"], r["area"], r["subject"]) for r in rows[:5]] == [
        ("micro", "", "", ""), ("macro", "", "", ""), ("", "all", "", ""), ("", "all", "science", ""),
        ("", "all", "science", "physics"),
    ]  # fmt: skip
    assert float(rows[3]["score"]) == 0.4 and rows[3]["n"] == "5" and float(rows[3]["interval high"]) < 0.8


def test_indentation_survives_in_documents(table: Table) -> None:
    assert "| \xa0\xa0\xa0\xa0physics | 0.0 |" in markdown(table)
    assert ">\xa0\xa0\xa0\xa0physics</td>" in html([table]) and "\n~~~~physics & 0.0 &" in latex(table)


def test_languages_stand_in_one_table() -> None:
    cells = [CELL, quiz([1.0, 0.0], [0, 1], language="hau")]
    (table,) = breakdown_tables(cells, "branch")
    assert [row[:2] for row in table.cells()] == [
        ["Yoruba", "micro"], ["Yoruba", "macro, mean of 3"], ["Yoruba", "all"],
        ["Hausa", "micro"], ["Hausa", "macro, mean of 2"], ["Hausa", "all"],
    ]  # fmt: skip
    assert list(table.ends) == [2]


def test_published_scores_stand_next_to_those_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = PublishedScores(5, "5-shot, somehow", "a page", 60.0, {"area": {"science": 99.0}}, n=7)
    monkeypatch.setattr(comparison, "published_for", lambda tree, names: {"Them": scores})
    (table,) = tree_tables(trees([CELL], "area"))
    rows = [[cell.strip("\xa0") for cell in row] for row in table.cells()]
    assert [[row[0], *row[4:]] for row in rows] == [
        ["micro", "60.0", "-17.1", "yes"], ["macro, mean of 3", "", "", ""], ["all", "", "", ""],
        ["science", "99.0", "-59.0", "no"], ["arts", "", "", ""],
    ]  # fmt: skip
    said = " ".join(table.notes)
    assert "Them: 5-shot, somehow (a page)" in said and "Different here: 0-shot." in said
    assert table.records()[0]["published Them"] == 0.6 and table.records()[0]["in interval Them"] == "yes"


def test_several_published_scores_have_their_names_as_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    both = {name: PublishedScores(0, "0-shot", "a page", 50.0) for name in ("First", "Second")}
    monkeypatch.setattr(comparison, "published_for", lambda tree, names: both)
    (table,) = tree_tables(trees([CELL], "area"))
    assert table.heads[4:] == ["First", "Second"] and table.cells()[0][4:] == ["50.0", "50.0"]
    assert table.records()[0]["in interval Second"] == "yes"


def test_models_of_one_language_are_told_apart_by_their_names_alone() -> None:
    cells = [CELL, quiz([1.0, 0.0], [0, 1], model="other")]
    (table,) = breakdown_tables(cells, "branch")
    assert table.heads == ["model", "branch", "score", "95% CI", "n"]


STAR = "*: machine-written prompts, not yet reviewed by two speakers."


@pytest.mark.parametrize("turned", [False, True])
def test_stars_of_unreviewed_prompts_do_not_depend_on_the_order_of_runs(turned: bool) -> None:
    values, kinds = [1.0, 0.0] * 20, ("eng", "native")
    cells = [
        scored(values, language=code, prompt=prompt, prompt_language=kind, model=model, declared=declared)
        for model, of, declared in (("a", kinds, {"unreviewed": {"hau": True}}), ("b", ("eng",), {"unreviewed": {}}))
        for kind in of
        for code in ("yor", "hau")
        for prompt in (1, 2)
    ]
    cells = [replace(cell, comparable_on={}) for cell in cells]
    cells = cells[::-1] if turned else cells
    found = all_contrasts(cells, [], None, 1)
    tables = naming_rows(comparison_tables(cells, found, ["Africa"], None), cells)
    stars = {table.kind: "*" in str(table.cells()) for table in tables if "native" in str(table.rows) + table.title}
    assert stars == {"contrast": True, "prompts": True, "means": True}
    assert all((STAR in table.signs) == ("*" in str(table.cells())) for table in tables)


def test_two_models_on_native_prompts_have_stars() -> None:
    declared: Any = {"unreviewed": {"yor": "human"}}
    plain: Any = {"prompt_language": "native", "comparable_on": {}, "declared": declared}
    cells = [scored([1.0, 0.0] * 20, prompt=p, model=m, **plain) for m in "ab" for p in (1, 2)]
    found = all_contrasts(cells, [], None, 1)
    for table in naming_rows(comparison_tables(cells, found, ["Africa"], None), cells):
        assert table.cells()[0][0] in ("Yoruba*", "Africa*")
        assert table.signs[-1] == "*: human-written prompts, not yet reviewed by two speakers."


def test_the_average_of_two_models_on_native_prompts_has_a_star() -> None:
    cells = [
        scored([1.0, 0.0] * 20, prompt_language=kind, language=code, model=m, declared={"unreviewed": {"yor": True}})
        for kind in ("eng", "native")
        for code in ("yor", "hau")
        for m in "ab"
    ]
    (table,) = average_difference_tables(average_differences(all_contrasts(cells, [], ["model"], 1)))
    assert [row[0] for row in table.cells()] == ["English", "native*"] and STAR in table.legend
    assert table.findings[1].startswith("b against a, native prompts, on average over 2 African languages: no detect")


CODES = ("yor", "hau", "swa", "zul", "ibo")


def averages_of(first: float, second: float) -> Table:
    """Of two models that are right in these shares of 200 questions, in five languages of two tasks."""
    sides = [(m, s, code, task) for m, s in (("a", first), ("b", second)) for code in CODES for task in ("sib200", "x")]
    cells = [
        scored(
            np.random.default_rng(at).permutation(np.arange(200) < 200 * share).tolist(), task, model=m, language=code
        )
        for at, (m, share, code, task) in enumerate(sides)
    ]
    (table,) = average_difference_tables(average_differences(all_contrasts(cells, [], None, 1)))
    return table


def test_two_models_are_compared_on_average() -> None:
    """No language shows a difference that all of them show together."""
    table = averages_of(0.5, 0.58)
    over = "on average over 2 tasks and 5 African languages"
    assert table.findings[0].startswith(f"b scores higher than a {over} (+8.0 points, 95% CI ")
    (row,) = table.records()
    low, high = row["interval"]
    assert (row["first_score"], row["second_score"]) == pytest.approx((0.5, 0.58))
    assert 0 < low < 0.08 < high and row["p"] < 0.05 and row["n"] == 200 and row["members"] == sorted(CODES)
    error = np.sqrt((0.5**2 + 0.58 * 0.42) / 200 / 10)  # ten pairs of 200 independent answers each
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.35)
    assert row["detectable"] == pytest.approx(2.8 * error, rel=0.35)
    assert f"b against a {over}: no detectable difference (+1.0 points" in averages_of(0.5, 0.51).findings[0]
    assert f"b against a {over}: the better one is not above chance (25.0)" in averages_of(0.15, 0.24).findings[0]


def test_nothing_is_averaged_over_one_language_or_three_models() -> None:
    cells = [scored([1.0, 0.0] * 20, model=model) for model in "abc"]
    assert average_differences(all_contrasts(cells[:2], [], None, 1)) == []
    more = [replace(cell, language=code) for cell in cells for code in ("yor", "hau")]
    assert average_differences(all_contrasts(more, [], None, 1)) == []
