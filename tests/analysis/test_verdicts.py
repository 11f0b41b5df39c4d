"""Verdicts: what takes no reading is no effect of the prompt language, and nobody is best by it."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.cells import on_boards, scored
from tests.conftest import Cli
from tests.report.html.small_runs import small_run

from afrieval.analysis.contrasts import Contrast, contrasts
from afrieval.analysis.scores import PromptMean
from afrieval.analysis.standings import in_languages, over_languages
from afrieval.analysis.verdicts import (
    OWN,
    Floor,
    ScoredRows,
    concluding,
    floor,
    marks,
    not_above,
    one_answer,
    reading,
    rows_of,
    under_mean,
)
from afrieval.exchange.discovery import gathered, paths_below, read_inputs
from afrieval.report.contrast_tables import contrast_table
from afrieval.report.html.report import report
from afrieval.report.native import native_tables
from afrieval.report.verdict_words import one_answer_notes, rare_notes
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import Selection
from afrieval.results.run_files import read_run, write_run
from afrieval.scoring.metrics import metric
from afrieval.scoring.statistics.intervals import Interval

LABELS = ["negative", "neutral", "positive"]
UNEVEN = np.repeat([0, 1, 2], [134, 22, 44])


def labelled(picks: Any, golds: Any = UNEVEN, baselines: Any = None, **changes: Any) -> CellScores:
    """A cell of a task with labels, in which these were picked."""
    declared = {"labels": LABELS, "baselines": {"yor": baselines or {}}}
    given: Any = {"golds": golds, "picked": picks, "n_choices": np.full(len(golds), 3), "declared": declared}
    return scored((picks == golds).astype(float).tolist(), **given, **changes)


def compared(english: Any, native: Any, **changes: Any) -> Contrast:
    sides = [
        labelled(picks, prompt_language=written, **changes) for picks, written in ((english, "eng"), (native, "native"))
    ]
    sides = [replace(cell, comparable_on={"prompt text": cell.prompt_language}) for cell in sides]
    (found,) = contrasts(sides, "prompt_language", 1)
    return found


@given(st.integers(0, 2), st.integers(0, 2))
def test_a_label_that_is_always_picked_is_no_effect_of_the_prompt_language(one: int, other: int) -> None:
    found = compared(np.full(200, one), np.full(200, other))
    (row,) = found.rows
    assert found.balanced and not found.is_score
    assert (row.first, row.second) == pytest.approx((1 / 3, 1 / 3)) and row.p > 0.5 and not row.differs


def test_each_label_has_the_same_weight() -> None:
    """A third of the neutral tweets counts as much as a third of the negative ones."""
    picks = np.where(UNEVEN == 1, 1, 0)
    (row,) = compared(np.full(200, 0), picks).rows
    assert row.second == pytest.approx((1 + 1 + 0) / 3) and row.gained == 22
    assert row.interval and row.interval.low > 0 and row.verdict == 1
    assert row.sides[1].interval and row.sides[1].interval.low < 2 / 3 < row.sides[1].interval.high


def test_labels_that_are_even_leave_the_score_as_it_is() -> None:
    golds = np.arange(60) % 3
    found = compared(np.zeros(60, dtype=int), golds, golds=golds)
    assert found.is_score and not found.balanced and found.rows[0].second == 1.0


def test_a_difference_below_what_length_gives_is_no_verdict() -> None:
    golds = np.arange(300) % 3
    guessed, told = np.zeros(300, dtype=int), np.where(np.arange(300) < 150, golds, 0)  # 33 and 67 % right
    for length, verdict in ((0.5, 1), (0.63, 0), (0.7, 0)):
        known = {"length": {"acc": 0.9, "balanced": length}}
        found = compared(guessed, told, golds=golds, baselines=known)
        (row,) = found.rows
        assert row.differs and row.verdict == verdict
        assert row.floor == (None if verdict else Floor("length", length))
    text = "the better side is not above what the length of the text alone gives (70.0) in Yoruba"
    assert text in contrast_table(found).findings[0]
    cells = [cell for side in row.sides for cell in side.cells]
    (table,) = native_tables(cells, [found])
    assert "not above what the length of the text alone gives (70.0)" in table.cells()[0]
    assert "the better side is not above" in table.findings[0] and "help" not in table.findings[0]


MATCHED: Any = {"contrast": "acc_matched", "metrics": {name: metric(name) for name in ("acc", "acc_matched")}}


def test_a_preference_for_a_label_hides_and_makes_up_no_reading() -> None:
    """One model picks a label whatever it reads; the other reads nothing, where that label is often right."""
    even, knows = np.arange(300) % 3, np.where(np.arange(300) % 10 < 7, 1.0, 0.0)
    raw = (even == 0).astype(float)
    partial = labelled(np.zeros(300), even, **MATCHED, measures={"acc": raw[:, None], "acc_matched": knows[:, None]})
    assert not_above(PromptMean([partial])) == Floor("chance", 1 / 3, reads="acc_matched")
    assert not_above(reading([partial])) is None
    by_length: Any = {
        "declared": {**partial.declared, "baselines": {"yor": {"length": {"acc": 0.75, "balanced": 0.4}}}}
    }
    alone = PromptMean([replace(partial, **by_length).with_metric("acc_matched")])
    assert not_above(alone) == Floor("length", 0.75), "which is no exception by the same metric"
    guesses = (np.arange(200) % 3 == UNEVEN).astype(float)  # what making labels equally frequent leaves
    measures = {"acc": (UNEVEN == 0).astype(float)[:, None], "acc_matched": guesses[:, None]}
    constant = labelled(
        np.zeros(200), **MATCHED, measures=measures, baselines={"length": {"acc": 0.6, "balanced": 0.4}}
    )
    assert not_above(PromptMean([constant])) is None, "67 % are more than lengths give"
    assert not_above(reading([constant])) == Floor("length", 0.4)


def test_without_baselines_the_most_frequent_answer_is_known() -> None:
    options = scored([1.0] * 90 + [0.0] * 110, golds=np.where(np.arange(200) < 80, 3, np.arange(200) % 3))
    assert floor(PromptMean([options])) == Floor("majority", 0.4)
    assert not_above(PromptMean([options])) == Floor("majority", 0.4), "45 % of 200 are not above 40"
    assert not_above(PromptMean([replace(options, measures={"acc": np.ones((200, 1))})])) is None
    loss = scored([0.5] * 20, of="loss", n_choices=np.zeros(20, dtype=int))
    assert floor(PromptMean([loss])) is None and not_above(PromptMean([loss])) is None


def test_a_baseline_has_the_score_that_tables_have() -> None:
    """The most frequent label has 34 of these 100 rows, but a third of all."""
    golds = np.repeat([0, 1, 2], [34, 33, 33])
    known = {"majority": {"acc": 0.335, "balanced": 1 / 3}}
    assert floor(PromptMean([labelled(golds, golds, known)])) == Floor("majority", 0.335)
    assert floor(PromptMean([labelled(golds, golds)])) == Floor("majority", 0.34)


def test_the_best_of_many_models_must_be_above_chance_by_more() -> None:
    values = [1.0] * 35 + [0.0] * 65
    one = in_languages({"a": [scored(values)]})["yor"].standings[0]
    many = in_languages({str(m): [scored(values if m == 0 else [0.0] * 100, model=str(m))] for m in range(9)})[
        "yor"
    ].standings
    assert one.floor is None and many[0].side == "0" and many[0].floor == Floor("chance", 0.25)


def test_a_mean_over_languages_is_held_against_the_mean_of_floors() -> None:
    floors = [Floor("length", 0.75), Floor("chance", 0.25)]
    assert under_mean(floors, 0.6, Interval(0.5, 0.8), False, 0.0) == Floor("several", 0.5)
    assert under_mean(floors, 0.6, Interval(0.51, 0.8), False, 0.0) is None
    unknown = [*floors, None]  # such as that of answers in numbers
    assert under_mean(unknown, 0.6, Interval(0.2, 1), False, 0.0) == Floor("several", 1 / 3)
    assert under_mean(unknown, 0.6, Interval(0.34, 1), False, 0.0) is None
    assert under_mean(unknown, 0.6, Interval(0, 1), False, -math.inf) is None, "there is no lowest score"
    assert under_mean([None, None], 0.0, Interval(0, 1), True, 0.0) == Floor("lowest", 0.0, open=True)
    assert under_mean([None, None], 0.1, Interval(0, 1), True, 0.0) is None


def test_nearly_all_answers_the_same_is_said() -> None:
    most = np.where(np.arange(200) < 190, 2, 0)
    assert one_answer(labelled(most)) == (2, 0.95) and one_answer(labelled(UNEVEN)) is None
    said = "Nearly all answers are the same with 1 of 2 prompts, such as Yoruba, English prompt 1: positive (95%)."
    assert one_answer_notes([labelled(most), labelled(UNEVEN)]) == [said] and one_answer_notes([labelled(UNEVEN)]) == []


def test_an_interval_that_a_rare_label_makes_too_narrow_is_marked() -> None:
    f1 = metric({"name": "f1", "average": "macro"})
    rare = np.repeat([0, 1], [197, 3])
    pairs = np.column_stack([rare, rare]).astype(float)
    cell = scored(pairs.tolist(), of=f1, golds=rare)
    assert "fewer than 10 rows in Yoruba" in rare_notes([cell])[0]
    assert rare_notes([replace(cell, golds=np.arange(200) % 2)]) == [] == rare_notes([labelled(rare, rare)])


SAMPLE, FIRST = Selection("sample", 50, 204), Selection("first", 50, 204)


def on_rows(
    model: str = "m", share: float = 0.5, n: int = 50, data: str = "d", own: bool = False, **more: Any
) -> CellScores:
    language = more.setdefault("language", "yor")
    declared = {"sample_rows": {language: own}}
    must = {"data": data, "prompt text": "p"}
    return scored(
        [float(at < share * n) for at in range(n)], model=model, comparable_on=must, declared=declared, **more
    )


def test_rows_in_words() -> None:
    every = [on_rows("a"), on_rows("b"), on_rows("c", data="0123456789abc"), on_rows("d", own=True, data="x")]
    every += [on_rows("e", selection=SAMPLE, path=Path("e/1")), on_rows("f", selection=FIRST, path=Path("f/1"))]
    assert rows_of(every) == [
        ScoredRows(), ScoredRows(), ScoredRows("other data (01234567)", False), ScoredRows(OWN, False),
        ScoredRows("sample of 50 rows"), ScoredRows("first 50 rows: for debugging", False),
    ]  # fmt: skip
    small = on_rows("e", selection=Selection("all", 40, 40), language="hau", path=Path("e/2"))
    assert rows_of([every[4], small]) == [ScoredRows("sample of 50 rows")] * 2, "a run has one selection"
    assert [words.partition(":")[0] for words in marks(every)] == [
        "Other data (01234567)", OWN.replace("the", "The", 1), "First 50 rows",
    ]  # fmt: skip


def test_scores_on_other_rows_or_data_are_in_no_mean_with_others_and_have_no_rank() -> None:
    """One model has prompt 1 on the data, and prompts 2 to 4 on other rows or data: its score is that of prompt 1."""
    found = on_boards([
        on_rows("a", 0.4), on_rows("b", 0.9), on_rows("a", 1.0, prompt=2, own=True),
        on_rows("a", 1.0, prompt=3, data="other"), on_rows("a", 1.0, prompt=4, selection=FIRST, path=Path("f/1")),
    ])  # fmt: skip
    standings = found.pairs["afrixnli", "yor"].standings
    assert [(s.side.name, s.side.rows.words, round(s.score, 9)) for s in standings if s.rank] == [
        ("b", "", 0.9), ("a", "", 0.4)
    ]  # fmt: skip
    others = [s for s in standings if not s.rank]
    assert len(others) == 3 and all(not s.side.rows.concludes and s.score == 1 for s in others)
    assert [s.side.name for s in found.averages[0].standings if s.rank] == ["b", "a"]
    assert found.languages["yor"].standings[0].side.name == "b"


def test_a_sample_has_a_rank_by_the_questions_that_it_shares_and_is_an_entry_of_its_own() -> None:
    whole, some = on_rows("a", 0.4, n=200), on_rows("b", 0.9, selection=SAMPLE, path=Path("b/1"))
    standings = on_boards([whole, some]).pairs["afrixnli", "yor"].standings
    assert [(s.side.name, s.side.rows.words, s.rank is not None) for s in standings] == [
        ("b", "sample of 50 rows", True), ("a", "", True)
    ]  # fmt: skip


def test_of_two_runs_of_a_model_all_rows_beat_a_sample_and_both_beat_the_suite_s_own(tmp_path: Path) -> None:
    small_run(tmp_path / "real", "one")
    own = small_run(tmp_path / "samples", "one", picks=1)
    record = read_run(own)
    record["visits"][-1]["config"] = {"data": {"source": "samples"}}  # as older versions say it
    record["identity"]["tasks"]["afrixnli"]["data"] = {code: {"test": "0" * 64} for code in ("yor", "hau")}
    write_run(own, dict(record))
    found = gathered(tmp_path, paths_below(tmp_path))
    assert {c.folder for c in found.cells} == {tmp_path / "real"}
    assert [(of.path, of.reason) for of in found.left_out] == [
        ("samples", f"4 cells of it: real has the same, on all rows instead of {OWN}")
    ]


def own_run(folder: Path, model: str, **changes: Any) -> Path:
    """Writes a run on the suite's own rows."""
    run = small_run(folder, model, **changes)
    record = read_run(run)
    record["declared"]["afrixnli"]["sample_rows"] = {"yor": True, "hau": True}
    write_run(run, dict(record))
    return run


def test_a_report_ranks_only_sides_with_the_same_data_and_rows() -> None:
    own = {"a": [on_rows("a", 0.2, own=True)], "b": [on_rows("b", 0.9, own=True)]}
    for entry in in_languages(own)["yor"].standings:
        assert not entry.rank and not entry.concludes
    assert [mean.rank for mean in over_languages(own).standings] == [None, None]
    sides = {
        "a": [on_rows("a")],
        "b": [on_rows("b")],
        "c": [on_rows("c", data="other")],
        "d": [on_rows("d", 1.0, own=True)],
    }
    assert concluding(sides) == ["a", "b"]
    first, *_, last = in_languages(sides)["yor"].standings
    assert first.rank == (1, 2) and last.side in ("c", "d") and last.rank is None


def test_pages_of_the_suite_s_own_rows_say_so_and_name_no_best_model(tmp_path: Path, cli: Cli) -> None:
    runs = [own_run(tmp_path / "runs" / name, name, picks=at) for at, name in enumerate(("a", "b"))]
    page = report(read_inputs(runs)).decode()
    assert "The suite&#39;s own sample rows, written by hand: a, afrixnli; b, afrixnli." in page
    assert "best in each language" not in page and "clearly the best" not in page and "rank 1" not in page
    cli("leaderboard", tmp_path / "runs", "-o", tmp_path / "site").ok()
    index = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert "Best model in each language" not in index and "Never ranked" in index and "written by hand" in index
