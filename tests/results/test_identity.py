"""Which rows of a test set a cell has, in words and in tables."""

from dataclasses import replace

import pytest
from tests.analysis.cells import scored

from afrieval.report.columns import Column
from afrieval.report.score_tables import naming_rows
from afrieval.report.table import Table
from afrieval.results.identity import Selection, selection, words

FIRST, SAMPLE, ALL = Selection("first", 50, 204), Selection("sample", 50, 204), Selection("all", 204, 204)


def test_words_say_how_many_rows_of_how_many() -> None:
    assert (FIRST.words, SAMPLE.words, ALL.words) == (
        "first 50 of 204 rows: for debugging",
        "sample of 50 of 204 rows",
        "",
    )
    assert words([FIRST, replace(FIRST, test_set=1500)]) == "first 50 of 204 to 1,500 rows: for debugging"
    assert words([ALL, FIRST]) == "in part first 50 of 204 rows: for debugging"
    assert Selection("first", 50).words == "first 50 rows: for debugging"
    assert [each.concludes for each in (FIRST, SAMPLE, ALL)] == [False, True, True]


def test_a_limit_or_sample_that_covers_the_test_set_is_all_of_it() -> None:
    assert selection(204, 204, sampled=False) == selection(204, 204, sampled=True) == ALL
    assert selection(50, 204, sampled=False) == FIRST and selection(50, 204, sampled=True) == SAMPLE
    assert selection(50, 0, sampled=False).concludes, "what is not known is not held against a run"


@pytest.mark.parametrize("about", [{"task": "afrixnli"}, {"task": "afrixnli", "model": "m"}, {}])
def test_titles_and_records_of_tables_say_which_rows_they_are_of(about: dict[str, str]) -> None:
    cells = [scored([1.0], selection=FIRST), scored([1.0], task="sib200", selection=FIRST)]
    (table,) = naming_rows([Table("scores", "Scores", [Column("n")], [[1]], about=about)], cells)
    assert table.title == "Scores, first 50 of 204 rows: for debugging"
    assert table.records()[0]["selection"] == FIRST.words
    other = scored([1.0], model="other", task="belebele", selection=FIRST)
    (table,) = naming_rows([Table("scores", "Scores", [], [], about={"task": "afrixnli", **about})], [other])
    assert table.title == "Scores" and "selection" not in table.about
