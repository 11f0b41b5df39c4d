"""Languages whose data has a known defect as a whole: marked in tables, and left out across languages."""

from typing import Any

import pytest
from tests.analysis.cells import scored
from tests.report.screen import printed

from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.entries import defective
from afrieval.analysis.means import means
from afrieval.analysis.scores import by_language
from afrieval.report.comparison import comparison_tables
from afrieval.report.published_tables import published_tables
from afrieval.report.score_tables import defects_of, run_table
from afrieval.results.cell_scores import CellScores
from afrieval.tasks.data.published_files import PublishedRow

SHUFFLED: Any = {"defective": {"lin": "texts are shuffled"}, "parallel": [["eng", "lin", "swa", "yor"]]}


def cells() -> list[CellScores]:
    values = {"lin": [0.0, 0.0, 0.0], "swa": [1.0, 1.0, 0.0], "yor": [1.0, 0.0, 1.0]}
    return [
        scored(
            values[code], language=code, prompt_language=kind, declared=SHUFFLED, comparable_on={"prompt text": kind}
        )
        for code in values
        for kind in ("eng", "native")
    ]


def test_a_mean_leaves_them_out_and_says_so() -> None:
    for mean in means(cells(), ["Africa"]):
        assert mean.members == ["swa", "yor"] and mean.score == pytest.approx(2 / 3)
    (table,) = [t for t in comparison_tables(cells(), [], ["Africa"], None) if t.kind == "means"]
    assert "Left out: Lingala, known defect of its data: texts are shuffled." in table.notes


def test_languages_are_not_compared_with_them() -> None:
    found = contrasts([c for c in cells() if c.prompt_language == "eng"], "language", seed=1)
    compared = {(c.first, c.second) for c in found if c.rows}
    assert compared == {("swa", "yor")}
    assert all("known defect of lin: texts are shuffled" in c.refused[0] for c in found if not c.rows)


def test_prompts_are_compared_within_them_and_marked() -> None:
    found = contrasts(cells(), "prompt_language", seed=1)
    table = comparison_tables(cells(), found, [], None)[0]
    assert [row[0] for row in table.cells()] == ["Lingala†", "Swahili", "Yoruba"]
    assert any(note.startswith("†: Lingala, known defect of its data: texts are shuffled;") for note in table.notes)


def test_the_table_of_a_run_marks_them() -> None:
    scores = by_language(cells())
    text = printed(run_table("run", scores, {}, [(0.0, 1.0)] * len(scores)))
    assert "English 1†" in text and "†: known defect of afrixnli Lingala: texts are shuffled." in text
    assert "†" not in printed(run_table("run", scores[2:], {}, [(0.0, 1.0)] * 4))


def test_nothing_is_marked_without_a_defect() -> None:
    sound = [scored([1.0, 0.0], language=code) for code in ("swa", "yor")]
    assert not defects_of(sound)
    assert "†" not in "".join(map(printed, comparison_tables(sound, [], ["Africa"], None)))


def test_published_scores_of_scrambled_lingala_are_not_averaged_with_ours() -> None:
    rows = [PublishedRow("afrixnli", "big", "1", 0, {"lin": 33.0, "swa": 70.0, "yor": 60.0}, None, 2)]
    own = [scored([1.0, 0.0], task="afrixnli", language=code) for code in ("lin", "swa", "yor")]
    assert list(defective("afrixnli", own, rows)) == ["lin"] and not defective("sib", own, rows)
    (standing,) = published_tables(own, rows)
    assert standing.notes[0] == "Means over the 2 languages that all of them have: swa yor."
    assert any("Left out: Lingala" in note for note in standing.notes)
    assert any("It includes Lingala" in note for note in published_tables([], rows)[-1].notes)
