"""Runs and published scores in one table."""

from tests.analysis.cells import scored

from afrieval.analysis.published import PublishedRow
from afrieval.report.leaderboard import published_tables

ROWS = [
    PublishedRow("afrimmlu", "big", "1", 0, {"eng": 90.0, "yor": 60.0, "hau": 40.0}, 50.0, 2),
    PublishedRow("afrimmlu", "big", "2", 0, {"eng": 90.0, "yor": 30.0, "hau": 30.0}, 33.0, 3),
]
INCONSISTENT = "Inconsistent: big, prompt 2, prints an average of 33.0; the mean of its scores is 30.0."


def test_the_best_mean_is_first_and_all_are_over_the_same_languages() -> None:
    units = [scored([1.0, 0.0], task="afrimmlu", language=code, prompt=n) for code in ("yor", "hau") for n in (1, 2)]
    units += [scored([1.0], task="afrimmlu", language="swa")]
    (table,) = published_tables([u for u in units if u.language != "swa"], ROWS)
    assert table.cells() == [["m", "run", "0", "2", "50.0", "50.0"], ["big", "published", "0", "2", "50.0", "40.0"]]
    assert table.notes[0] == "Means over the 2 languages that all of them have: hau yor."
    assert table.notes[-1] == INCONSISTENT


def test_a_table_alone_has_the_averages_that_it_prints() -> None:
    standing, averages = published_tables([], ROWS)
    assert standing.kind == "standing" and averages.title == "afrimmlu: published averages"
    assert averages.cells() == [["big", "1", "2", "50.0", "50.0"], ["big", "2", "2", "30.0", "33.0"]]
    assert averages.notes[-1] == INCONSISTENT
    assert published_tables([], ROWS[:1])[1].notes[-1] == "All printed averages agree with it to 0.1."


def test_models_without_a_language_in_common_have_no_table() -> None:
    assert published_tables([scored([1.0], task="afrimmlu", language="swa")], ROWS) == []
