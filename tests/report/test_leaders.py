"""A comparison of three models or more begins with who is best, as far as anything is concluded."""

from tests.analysis.cells import scored

from afrieval.report.standing_words import leader_tables
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import Selection

GOOD, WEAK = [1.0] * 90 + [0.0] * 10, [1.0] * 40 + [0.0] * 60
MODELS = {"weak": WEAK, "good": GOOD, "alike": GOOD[::-1]}


def cells(**changes: object) -> list[CellScores]:
    return [scored(of, model=m, language=code, **changes) for m, of in MODELS.items() for code in ("hau", "yor")]  # type: ignore[arg-type]


def test_the_best_are_named_first_and_in_each_language() -> None:
    (table,) = leader_tables(cells())
    over, each = table.findings
    assert over.startswith("Over 2 African languages, good is best, ") and "; alike cannot be told apart" in over
    assert each == "One model is clearly the best in none of 2 languages."
    assert [(row[0], row[1], row[-1]) for row in table.cells()] == [
        ("Hausa", "good", "alike"), ("Yoruba", "good", "alike"),
    ]  # fmt: skip


def test_two_models_have_their_difference_alone() -> None:
    assert leader_tables([cell for cell in cells() if cell.model != "weak"]) == []


def test_nothing_is_concluded_from_the_first_rows() -> None:
    (table,) = leader_tables(cells(selection=Selection("first", 100, 200)))
    assert table.rows == [] and table.findings[0].endswith("nothing is concluded.")


def test_nobody_is_named_as_the_best_at_chance() -> None:
    cells = [scored([1.0, 0.0, 0.0, 0.0] * 25, model=model) for model in "abc"]
    (table,) = leader_tables(cells)
    assert table.cells()[0][:2] == ["Yoruba", "none"] and "not above chance (25.0)" in table.cells()[0][-1]
