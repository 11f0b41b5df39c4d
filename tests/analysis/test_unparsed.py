"""Unparsed answers decide nothing: a comparison is concluded only if it holds whether they are right or wrong."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.analysis.cells import scored

from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.race import begun, looked_at
from afrieval.analysis.ranks import PERCENT, Contest, Rank, contest, ranked
from afrieval.analysis.run_contrasts import average_differences
from afrieval.analysis.scores import averaged, by_question
from afrieval.analysis.standings import in_languages, over_languages
from afrieval.analysis.unparsed import all_right, are_many, share
from afrieval.analysis.verdicts import Floor, not_above
from afrieval.report.comparison import mean_tables, spread_tables
from afrieval.report.contrast_tables import average_difference_tables, contrast_table
from afrieval.report.score_tables import IN_ANY_CASE, naming_rows, unparsed_notes
from afrieval.report.standing_words import leader_tables
from afrieval.report.verdict_words import OPEN
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.metrics import metric


def answers(right: float, none: float, n: int = 200, of: str = "acc", **changes: Any) -> CellScores:
    """A cell with these shares of right and of unparsed answers; the same seed gives the same questions."""
    order = np.random.default_rng(changes.pop("seed", 0)).permutation(n)
    values, unparsed = np.zeros(n), np.zeros(n)
    values[order[: round(right * n)]] = 1
    unparsed[order[n - round(none * n) :]] = 1
    cell = scored(values.tolist(), of=of, **changes)
    return replace(
        cell,
        metrics={**cell.metrics, "unparsed": metric("unparsed")},
        measures={**cell.measures, "unparsed": unparsed[:, None]},
    )


def models(*sides: tuple[float, float], **changes: Any) -> dict[str, list[CellScores]]:
    return {
        name: [answers(*of, model=name, seed=at, **changes)]
        for at, (name, of) in enumerate(zip("abc", sides, strict=False))
    }


@pytest.mark.parametrize(
    ("first", "second", "verdict", "is_open"),
    [
        ((0.0, 1.0), (0.0, 1.0), 0, True),  # right in 70 and 40 %, but neither is parsed
        ((0.7, 0.0), (0.0, 1.0), 0, True),
        ((0.4, 0.3), (0.65, 0.0), 0, True),  # 57 % of what was parsed, and up to 70 % of all
        ((0.5, 0.3), (0.5, 0.0), 0, True),
        ((0.7, 0.3), (0.4, 0.0), -1, False),  # the better side can only be better still
        ((0.4, 0.03), (0.6, 0.03), 1, False),
        ((0.5, 0.05), (0.5, 0.05), 0, False),
        ((0.4, 0.0), (0.6, 0.0), 1, False),
    ],
)
@pytest.mark.parametrize("of", ["acc", "exact_match"])
def test_a_verdict_holds_in_any_case(
    of: str, first: tuple[float, float], second: tuple[float, float], verdict: int, is_open: bool
) -> None:
    sides = models(first, second, of=of)
    (found,) = contrasts([cell for cells in sides.values() for cell in cells], "model", 1)
    (row,) = found.rows
    assert (row.verdict, row.open, row.concludes) == (verdict, is_open, not is_open)
    text = contrast_table(found).findings[0]
    assert (OPEN in text) == is_open and (not is_open or ("no detectable" not in text and "scores" not in text))


def test_a_few_unparsed_answers_decide_nothing() -> None:
    assert not are_many([answers(0.5, 0.02)]) and are_many([answers(0.5, 0.025)])
    assert share([answers(0.5, 0.02), answers(0.5, 0.1)]) == pytest.approx(0.06)
    assert share([scored([1.0, 0.0])]) == 0.0, "likelihoods have none"
    assert not are_many([answers(0.5, 0.4).with_metric("unparsed")]), "their share itself is sure"


def test_scores_that_are_no_means_are_bounded_too() -> None:
    f1 = metric({"name": "f1", "average": "macro"})
    golds = np.arange(60) % 2
    cell = scored(np.column_stack([golds, np.full(60, -1)]).astype(float).tolist(), of=f1, golds=golds)
    none = {**cell.measures, "unparsed": np.ones((60, 1))}
    average = averaged([replace(cell, measures=none)])
    assert average.score == 0.0 and all_right(average).score == 1.0


@pytest.mark.parametrize(("right", "none", "is_open"), [(20, 100, True), (90, 10, False)])
def test_verdicts_on_scores_that_are_no_means_hold_in_any_case(right: int, none: int, is_open: bool) -> None:
    """Counts of spans have several columns: a side whose unparsed answers are taken as right has one."""

    def spans(model: str, n_right: int, n_unparsed: int) -> CellScores:
        counts = np.tile([0.0, 0.0, 1.0, 0.0], (120, 1))  # one gold span each, missed
        counts[:n_right] = [1.0, 0.0, 0.0, 0.0]
        cell = scored(counts.tolist(), of="span_f1", model=model, golds=np.full(120, -1))
        unparsed = np.arange(120) >= 120 - n_unparsed
        return replace(
            cell,
            metrics={**cell.metrics, "unparsed": metric("unparsed")},
            measures={**cell.measures, "unparsed": unparsed[:, None].astype(float)},
        )

    (found,) = contrasts([spans("a", right, none), spans("b", 60, 0)], "model", 1)
    (row,) = found.rows
    assert row.open == is_open and row.verdict == (0 if is_open else -1)


def test_ranks_hold_in_any_case() -> None:
    sides = models((0.7, 0.0), (0.0, 1.0), (0.4, 0.05))
    assert ranked(sides) == {"a": Rank(1, 2), "b": Rank(1, 3), "c": Rank(2, 3)}
    only = {name: sides[name] for name in "ac"}
    assert ranked(only) == {"a": Rank(1, 1), "c": Rank(2, 2)}
    race = looked_at(begun(3), 200, [contest(list(sides.values()))], margin=50.0)
    assert race.still == [0, 1], "a model that is not read does not leave"
    assert not race.is_decided, "nor is it shown to be close"


def test_a_model_that_is_not_parsed_is_not_below_chance() -> None:
    (cell,) = models((0.0, 1.0))["a"]
    assert not_above(averaged([cell])) == Floor("chance", 0.25, open=True)
    assert not_above(averaged([answers(0.25, 0.0)])) == Floor("chance", 0.25)
    numbers = answers(0.0, 1.0, of="exact_match", n_choices=np.zeros(200, dtype=int), golds=np.full(200, -1))
    assert not_above(averaged([numbers])) == Floor("lowest", 0.0, open=True)


def test_nobody_is_the_best_of_those_that_are_not_parsed() -> None:
    plain: Any = {"of": "exact_match", "n_choices": np.zeros(200, dtype=int), "golds": np.full(200, -1)}
    for sides in (models((0.0, 1.0), (0.0, 1.0)), models((0.0, 1.0), (0.0, 1.0), **plain)):
        assert all(entry.floor for entry in in_languages(sides)["yor"].standings)
        assert all(entry.floor for entry in over_languages(sides).standings)


def test_it_is_said_in_words() -> None:
    sides = models((0.7, 0.021), (0.0, 1.0), (0.4, 0.02))
    cells = [*(cell for cells in sides.values() for cell in cells), answers(0.4, 0.5, model="a", language="hau")]
    text = "Unparsed answers, which count as wrong: b (Yoruba 100.0%) and a (Hausa 50.0%)."
    assert unparsed_notes(cells) == [text, IN_ANY_CASE]
    native = [replace(cell, prompt_language="native") for cell in sides["b"]]
    assert "native prompts (Yoruba 100.0%)" in unparsed_notes([*sides["b"], *native])[0]
    guessed = replace(cells[2], measures={**cells[2].measures, "guessed": np.ones((200, 1))})
    assert unparsed_notes([guessed]) == ["Guessed answers: Yoruba 100.0%."]
    (found,) = contrasts(cells[:2], "model", 1)
    (table,) = naming_rows([contrast_table(found)], cells[:3])
    assert table.notes == ["Unparsed answers, which count as wrong: b (Yoruba 100.0%).", IN_ANY_CASE]


def test_an_average_is_open_if_unparsed_answers_decide_it_in_these_languages() -> None:
    """With few languages, the interval over languages is so wide that it hides what unparsed answers may change."""
    shares = {"hau": (0.42, 0.34, 0.64), "swa": (0.39, 0.29, 0.62), "yor": (0.43, 0.32, 0.51)}
    cells = [
        answers(*of, n=100, model=model, language=code, seed=seed)
        for seed, (code, (right, none, other)) in enumerate(shares.items())
        for model, of in (("a", (right, none)), ("b", (other, 0.0)))
    ]
    (found,) = average_differences(contrasts(cells, "model", 1))
    assert (found.open, found.verdict, found.n) == (True, 0, 100) and found.interval.low < 0 < found.interval.high
    (table,) = average_difference_tables([found])
    assert table.records()[0]["verdict"] == OPEN and OPEN in table.findings[0]


def test_a_mean_over_two_languages_is_above_chance_if_both_are() -> None:
    cells = [
        answers(right, 0.0, model=model, language=code, seed=at)
        for at, (code, rights) in enumerate({"hau": (0.75, 0.35), "yor": (0.6, 0.2)}.items())
        for model, right in zip("ab", rights, strict=True)
    ]
    (found,) = average_differences(contrasts(cells, "model", 1))
    assert found.verdict == -1 and found.floor is None
    sides = {name: [cell for cell in cells if cell.model == name] for name in "ab"}
    assert [bool(entry.floor) for entry in over_languages(sides).standings] == [False, True]


def test_a_race_ends_only_if_unparsed_answers_of_no_side_could_change_it() -> None:
    """A score that is close as it was read may be far ahead with its unparsed answers right."""
    rng, n = np.random.default_rng(0), 3000
    first = np.where(rng.random(n) < 0.6, 100.0, 0.0)
    second = np.where(rng.random(n) < 0.05, 100 - first, first)
    none = (second == 0) & (rng.random(n) < 0.75)
    sides = [by_question(np.arange(n), np.zeros(n, int), scores) for scores in (first, second)]
    for right, within in ((None, True), (np.where(none, 100.0, second), False)):
        entries = [{"hau": sides[0]}, {"hau": replace(sides[1], right=right)}]
        assert looked_at(begun(2), 1, [Contest(1.0, "t", entries, PERCENT)], margin=5.0).within == [True, within]


def test_no_model_is_above_chance_only_as_unparsed_answers_count_as_wrong() -> None:
    cells = [cell for of in models((0.25, 0.0), (0.0, 1.0), (0.2, 0.0)).values() for cell in of]
    (table,) = leader_tables(cells)
    assert table.findings == ["In Yoruba, no model is above chance (25.0), as unparsed answers count as wrong."]
    assert table.rows[0][-1].endswith("as unparsed answers count as wrong")
    (table,) = leader_tables([*cells[::2], answers(0.1, 0.0, model="d")])
    assert table.findings == ["In Yoruba, no model is above chance (25.0)."]


def test_all_models_and_prompts_are_named() -> None:
    many = [answers(0.4, 0.5, model=m, language=code) for m in "abcde" for code in ("hau", "ibo", "swa", "yor")]
    (said, _) = unparsed_notes(many)
    assert all(f"{m} (Hausa 50.0%, Igbo 50.0% and 2 more)" in said for m in "abcde")
    prompts = [answers(0.4, 1.0 * (prompt == 2), prompt=prompt) for prompt in (1, 2)]
    (table, other) = naming_rows([*spread_tables(prompts), *mean_tables(prompts, ["Africa"])], prompts)
    assert "prompt 2 (Yoruba 100.0%)" in table.notes[-1] and "(Yoruba" not in other.notes[-1]
