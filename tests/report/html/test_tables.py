"""Both kinds of prompts in one row of a model."""

from afrieval.report.columns import Column
from afrieval.report.html.tables import by_prompts
from afrieval.report.table import Table

COLUMNS = [Column("model"), Column("rank", "rank"), Column("prompts", "text", "kind"), Column("mean", "score")]
ROWS = [["a", (1, 2), "native", 0.9], ["a", (1, 2), "English", 0.8], ["p", (3, 3), "published", 0.5]]


def made(rows: list[list[object]], sides: list[tuple[str, str]], published: list[int]) -> tuple[Table, list[list[int]]]:
    columns = [*COLUMNS, Column("source")]
    of_rows = [[*row, f"run-{at}"] for at, row in enumerate(rows)]
    return by_prompts(Table("t", "t", columns, of_rows, dimmed=published), sides, published)


def test_numbers_of_native_prompts_follow_those_of_english_ones() -> None:
    table, rows = made(ROWS[:2], [("a", "native"), ("a", "eng")], [])
    assert table.heads == ["model", "rank", "English", "rank", "native", "source"]
    assert table.cells() == [["a", "1-2", "80.0", "1-2", "90.0", "run-0; run-1"]] and rows == [[1, 0]]


def test_published_scores_are_still_marked() -> None:
    table, rows = made(ROWS, [("a", "native"), ("a", "eng"), ("p", "eng")], [2])
    assert [row[:2] for row in table.cells()] == [["a", ""], ["p", "published"]]
    assert list(table.dimmed) == [1] and rows == [[1, 0], [2]]


def test_a_table_of_one_kind_stays_as_it_is() -> None:
    table, rows = made(ROWS[:1], [("a", "native")], [])
    assert table.heads == ["model", "rank", "prompts", "mean", "source"] and rows == [[0]]
