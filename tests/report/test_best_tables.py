"""Sentences and tables that say who is best."""

from dataclasses import replace

from tests.analysis.cells import scored
from tests.analysis.test_best import GOOD, WEAK

from afrieval.analysis.best import in_languages, over_languages
from afrieval.report.best_tables import all_scores, best_table, findings
from afrieval.report.contrast_tables import ComparableScores, parts


def part_of(*models: tuple[str, list[float]]) -> ComparableScores:
    cells = [scored(v, language=code, model=m) for m, v in models for code in ("hau", "yor")]
    (part,) = parts(cells)
    return part


def test_the_best_is_named_with_its_interval_and_its_rivals() -> None:
    part = part_of(("weak", WEAK), ("good", GOOD), ("alike", GOOD))
    table = best_table(part, in_languages(part.sides))
    assert [row[:2] for row in table.cells()] == [["Hausa", "good"], ["Yoruba", "good"]]
    assert table.cells()[0][2:] == ["90.0", "82.6-94.5", "alike", "100"]
    assert "model" in table.records()[0]  # filters of pages need it


def test_all_ranks_are_in_the_table_of_all_scores() -> None:
    part = part_of(("weak", WEAK), ("good", GOOD))
    rows = all_scores(part, in_languages(part.sides)).cells()
    assert [(row[0], row[1], row[4]) for row in rows[:2]] == [("Hausa", "good", "1"), ("Hausa", "weak", "2")]


def test_findings_say_who_is_best_and_how_sure_that_is() -> None:
    part = part_of(("weak", WEAK), ("good", GOOD))
    said = findings(part, over_languages(part.sides), in_languages(part.sides))
    assert said[0].startswith("afrixnli: good has the highest mean over 2 African languages, 90.0 (95% CI")
    assert said[0].endswith("; all others score significantly lower.")
    assert said[1] == "afrixnli: one model is clearly the best in 2 of 2 languages: good in Hausa and Yoruba."


def test_models_that_lack_languages_are_not_held_against_the_others() -> None:
    apart = parts([scored(v, language=code, model=m) for m, v, code in (("a", GOOD, "hau"), ("b", WEAK, "yor"))])[0]
    said = findings(apart, over_languages(apart.sides), in_languages(apart.sides))
    assert not any("mean over" in text for text in said)
    more = part_of(("weak", WEAK), ("good", WEAK))
    more.sides["some"] = [scored(GOOD, language="hau", model="some")]
    said = findings(more, over_languages(more.sides), in_languages(more.sides))
    assert said[0].startswith("afrixnli: of the 2 models with all languages, weak has the highest mean")


def test_losses_of_others_are_higher() -> None:
    lower = [
        replace(c, metrics={name: replace(m, higher_is_better=False) for name, m in c.metrics.items()})
        for c in (scored(v, language=code, model=m) for m, v in (("w", WEAK), ("g", GOOD)) for code in ("hau", "yor"))
    ]
    (part,) = parts(lower)
    said = findings(part, over_languages(part.sides), in_languages(part.sides))
    assert said[0].endswith("all others score significantly higher.")
    assert "score significantly higher" in best_table(part, in_languages(part.sides)).notes[0]


def test_the_best_is_not_one_that_is_behind_on_shared_documents() -> None:
    few, more = [1.0] * 70 + [0.0] * 30, [1.0] * 100 + [0.0] * 100
    (part,) = parts([scored(v, language="hau", model=m) for m, v in (("few", few), ("more", more))])
    table = best_table(part, in_languages(part.sides))
    assert table.cells()[0][1:3] == ["more", "50.0"]
    assert table.cells()[0][4] == "none"
    assert any(note.startswith("n differs") for note in table.notes)


def test_a_tie_is_said() -> None:
    part = part_of(("one", GOOD), ("two", GOOD))
    said = findings(part, over_languages(part.sides), in_languages(part.sides))
    assert said[0].endswith("; two cannot be told apart from it.")
    assert said[1] == "afrixnli: in none of 2 languages is one model clearly the best."


def test_a_single_model_is_held_against_chance() -> None:
    guessing = part_of(("m", [1.0] * 25 + [0.0] * 75))  # four choices
    said = findings(guessing, over_languages(guessing.sides), in_languages(guessing.sides))
    assert said == ["afrixnli: m is not above chance (25.0) in Hausa and Yoruba."]
    good = part_of(("m", GOOD))
    assert findings(good, over_languages(good.sides), in_languages(good.sides)) == []


def test_sides_are_named_by_what_differs() -> None:
    cells = [scored([1.0], shots=shots, answer_form="text") for shots in (0, 5)]
    other = scored([1.0], task="afrimmlu", answer_form="generate")  # another task is no other side
    assert [list(part.sides) for part in parts([*cells, other])] == [["m, 0-shot", "m, 5-shot"], ["m, 0-shot"]]
