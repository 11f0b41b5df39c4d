"""Where sides stand in a language and over languages, by hand."""

from dataclasses import replace

import pytest
from tests.analysis.cells import scored

from afrieval.analysis.standings import in_languages, over_languages
from afrieval.results.cell_scores import CellScores

GOOD, WEAK = [1.0] * 90 + [0.0] * 10, [0.0] * 60 + [1.0] * 40


def side(model: str, **of: list[float]) -> list[CellScores]:
    return [scored(values, language=code, model=model) for code, values in of.items()]


def test_the_best_of_a_language_comes_first_with_those_that_cannot_be_told_apart() -> None:
    close = [1.0] * 89 + [0.0] * 11
    found = in_languages({"w": side("w", hau=WEAK), "c": side("c", hau=close), "g": side("g", hau=GOOD, yor=GOOD)})
    assert [(e.side, e.score, e.rank and e.rank.first) for e in found["hau"].standings] == [
        ("g", 0.9, 1), ("c", 0.89, 1), ("w", 0.4, 3)
    ]  # fmt: skip
    assert [(e.side, e.rank) for e in found["yor"].standings] == [("g", None)]  # alone, it has no rank


def test_of_losses_the_lowest_is_best() -> None:
    def lower(cells: list[CellScores]) -> list[CellScores]:
        return [
            replace(c, metrics={n: replace(m, higher_is_better=False) for n, m in c.metrics.items()}) for c in cells
        ]

    found = in_languages({"g": lower(side("g", hau=GOOD)), "w": lower(side("w", hau=WEAK))})
    assert [e.side for e in found["hau"].standings] == ["w", "g"] and found["hau"].standings[0].rank == (1, 1)


def test_a_mean_over_fewer_languages_has_no_rank_and_is_last() -> None:
    some = side("some", hau=GOOD)
    found = over_languages({"some": some, "all": side("all", hau=WEAK, yor=WEAK, eng=GOOD)}).standings
    assert [(s.side, s.whole, s.rank) for s in found] == [("all", True, None), ("some", False, None)]
    assert found[0].languages == ["hau", "yor"] and found[0].score == pytest.approx(0.4)


def test_sides_without_an_african_language_have_no_mean() -> None:
    assert over_languages({"e": side("e", eng=GOOD)}).standings == []
