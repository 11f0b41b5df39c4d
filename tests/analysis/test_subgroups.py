"""Scores of categories, their subcategories and their subjects."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from tests.analysis.cells import scored
from tests.results.test_derived import DECLARED

from afrieval._util.errors import UserError
from afrieval.analysis.subgroups import outlines, trees
from afrieval.results.cell_scores import CellScores
from afrieval.results.derived import with_groups
from afrieval.results.document_columns import Labels
from afrieval.results.schema import Declared
from afrieval.scoring.statistics.intervals import wilson
from afrieval.scoring.statistics.score_intervals import macro

SUBJECTS = ("maths", "music", "physics")  # sorted, as samples are read


def quiz(values: list[float], subjects: list[int], **changes: Any) -> CellScores:
    """A cell whose documents are of these subjects, by number."""
    labels = Labels(np.array(subjects), SUBJECTS)
    fields = with_groups({"subject": labels}, DECLARED, None)
    return scored(values, task="quiz", declared=DECLARED, fields=fields, parts=labels, **changes)


CELL = quiz([1, 1, 0, 1, 0, 0, 0], [0, 0, 0, 1, 2, 2, 1])


def test_each_group_is_followed_by_its_own_in_the_order_of_the_task_file() -> None:
    (tree,) = trees([CELL], "subject")
    found = [(list(branch.path.values()), branch.score, branch.n) for branch in tree.branches]
    assert found == [
        ([], 3 / 7, 7),
        ([], pytest.approx((2 / 3 + 1 / 2 + 0) / 3), 7),
        (["all"], 3 / 7, 7),
        (["all", "science"], 2 / 5, 5),
        (["all", "science", "physics"], 0, 2),
        (["all", "science", "maths"], pytest.approx(2 / 3), 3),
        (["all", "arts"], 1 / 2, 2),
        (["all", "arts", "music"], 1 / 2, 2),
    ]


def test_every_score_has_its_interval() -> None:
    (tree,) = trees([CELL], "subject")
    micro, of_macro, *groups = tree.branches
    assert micro.interval == wilson(3, 7) and groups[1].interval == wilson(2, 5) and of_macro.parts == 3
    expected = macro(CELL.values, CELL.parts.codes if CELL.parts else np.zeros(0, dtype=np.int64))
    assert expected and of_macro.interval == expected.interval


def test_a_tree_ends_at_the_field_that_is_asked_for() -> None:
    (tree,) = trees([CELL], "area")
    assert tree.levels == ["branch", "area"] and [len(b.path) for b in tree.branches] == [0, 0, 1, 2, 2]


def test_prompts_are_averaged_in_macro_means_too() -> None:
    other = quiz([0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 2, 2, 1], prompt=2)
    (tree,) = trees([CELL, other], "branch")
    assert tree.branches[0].score == pytest.approx((3 / 7 + 4 / 7) / 2)
    assert tree.branches[1].score == pytest.approx((1 / 3 + 3 / 4 + 1 / 2) / 3) and tree.branches[1].interval


def test_after_a_run_of_several_languages_only_the_largest_groups_are_shown() -> None:
    assert [tree.levels for tree in outlines([CELL])] == [["branch", "area", "subject"]]
    both = outlines([CELL, quiz([1], [0], language="hau")])
    assert [(tree.dimensions["language"], tree.levels) for tree in both] == [("yor", ["branch"]), ("hau", ["branch"])]
    assert outlines([scored([1.0])]) == []


def test_after_a_run_groups_of_single_values_stand_for_them_and_only_the_first_table_has_the_whole() -> None:
    codes = Labels(np.array([0, 1, 0, 1, 0, 0, 0]), ("A", "S"))
    named = {"label": {"of": "code", "groups": {"sensitive": ["S"], "agnostic": ["A"]}}}
    declared = cast(Declared, {**DECLARED, "grouped_fields": {**named, **DECLARED["grouped_fields"]}})
    fields = with_groups({**CELL.fields, "code": codes}, declared, None)
    by_subject, by_label = outlines([replace(CELL, declared=declared, fields=fields)])
    assert by_subject.levels[-1] == "subject" and by_subject.branches[0].path == {}
    assert by_label.levels == ["label"] and by_label.n == 7
    assert [(branch.path["label"], branch.n) for branch in by_label.branches] == [("sensitive", 2), ("agnostic", 5)]


def test_parts_of_a_macro_mean_need_no_groups() -> None:
    declared = cast(Declared, {"macro": "subject"})
    (tree,) = outlines([replace(CELL, declared=declared)])
    assert tree.levels == ["subject"] and [b.path.get("subject") for b in tree.branches] == [None, None, *SUBJECTS]


def test_a_field_without_groups_is_named() -> None:
    with pytest.raises(UserError, match="no task here can be broken down by 'topic'"):
        trees([CELL], "topic")
