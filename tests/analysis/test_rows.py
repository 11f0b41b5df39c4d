"""The rows that scores are on: what is never averaged together, and what is never ranked."""

from pathlib import Path
from typing import Any

from tests.analysis.cells import scored
from tests.conftest import Cli
from tests.report.html.small_runs import small_run

from afrieval.analysis.best import in_languages, over_languages
from afrieval.analysis.inputs import Gathered
from afrieval.analysis.leaderboard import Leaderboard, leaderboard
from afrieval.analysis.verdicts import OWN, ScoredRows, concluding, marks, rows_of
from afrieval.exchange.discovery import found_below, gathered, read_inputs
from afrieval.report.html.report import report
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import Selection
from afrieval.results.run_files import read_run, write_run

SAMPLE, FIRST = Selection("sample", 50, 204), Selection("first", 50, 204)


def cell(
    model: str = "m", share: float = 0.5, n: int = 50, data: str = "d", own: bool = False, **more: Any
) -> CellScores:
    language = more.setdefault("language", "yor")
    declared = {"sample_rows": {language: own}}
    must = {"data": data, "prompt text": "p"}
    return scored(
        [float(at < share * n) for at in range(n)], model=model, comparable_on=must, declared=declared, **more
    )


def board(*cells: CellScores) -> Leaderboard:
    return leaderboard(Gathered(list(cells), [], {}, {}, []))


def test_rows_in_words() -> None:
    every = [cell("a"), cell("b"), cell("c", data="0123456789abc"), cell("d", own=True, data="x")]
    every += [cell("e", selection=SAMPLE, path=Path("e/1")), cell("f", selection=FIRST, path=Path("f/1"))]
    assert rows_of(every) == [
        ScoredRows(), ScoredRows(), ScoredRows("other data (01234567)", False), ScoredRows(OWN, False),
        ScoredRows("sample of 50 rows"), ScoredRows("first 50 rows: for debugging", False),
    ]  # fmt: skip
    small = cell("e", selection=Selection("all", 40, 40), language="hau", path=Path("e/2"))
    assert rows_of([every[4], small]) == [ScoredRows("sample of 50 rows")] * 2, "a run has one selection"
    assert [words.partition(":")[0] for words in marks(every)] == [
        "Other data (01234567)", OWN.replace("the", "The", 1), "First 50 rows",
    ]  # fmt: skip


def test_scores_on_other_rows_or_data_are_in_no_mean_with_others_and_have_no_rank() -> None:
    """One model has prompt 1 on the data, and prompts 2 to 4 on other rows or data: its score is that of prompt 1."""
    found = board(
        cell("a", 0.4), cell("b", 0.9), cell("a", 1.0, prompt=2, own=True), cell("a", 1.0, prompt=3, data="other"),
        cell("a", 1.0, prompt=4, selection=FIRST, path=Path("f/1")),
    )  # fmt: skip
    standings = found.pairs["afrixnli", "yor"].standings
    assert [(s.model.name, s.model.rows.words, round(s.score, 9)) for s in standings if s.rank] == [
        ("b", "", 0.9), ("a", "", 0.4)
    ]  # fmt: skip
    others = [s for s in standings if not s.rank]
    assert len(others) == 3 and all(not s.model.rows.concludes and s.score == 1 for s in others)
    assert [s.model.name for s in found.averages[0].standings if s.rank] == ["b", "a"]
    assert found.languages["yor"].first[0].model.name == "b"


def test_a_sample_has_a_rank_by_the_questions_that_it_shares_and_is_an_entry_of_its_own() -> None:
    whole, some = cell("a", 0.4, n=200), cell("b", 0.9, selection=SAMPLE, path=Path("b/1"))
    standings = board(whole, some).pairs["afrixnli", "yor"].standings
    assert [(s.model.name, s.model.rows.words, s.rank is not None) for s in standings] == [
        ("b", "sample of 50 rows", True), ("a", "", True)
    ]  # fmt: skip


def test_of_two_runs_of_a_model_all_rows_beat_a_sample_and_both_beat_the_suite_s_own(tmp_path: Path) -> None:
    small_run(tmp_path / "real", "one")
    own = small_run(tmp_path / "samples", "one", picks=1)
    record = read_run(own)
    record["visits"][-1]["config"] = {"data": {"source": "samples"}}  # as older versions say it
    record["identity"]["tasks"]["afrixnli"]["data"] = {code: {"test": "0" * 64} for code in ("yor", "hau")}
    write_run(own, dict(record))
    found = gathered(tmp_path, found_below(tmp_path))
    assert {c.folder for c in found.cells} == {tmp_path / "real"}
    assert [(of.place, of.reason) for of in found.left_out] == [
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
    own = {"a": [cell("a", 0.2, own=True)], "b": [cell("b", 0.9, own=True)]}
    for entry in in_languages(own)["yor"]:
        assert not entry.rank and not entry.concludes and not entry.is_highest
    assert [mean.rank for mean in over_languages(own)] == [None, None]
    sides = {"a": [cell("a")], "b": [cell("b")], "c": [cell("c", data="other")], "d": [cell("d", 1.0, own=True)]}
    assert concluding(sides) == ["a", "b"]
    first, *_, last = in_languages(sides)["yor"]
    assert first.rank == (1, 2) and last.side in ("c", "d") and last.rank is None


def test_pages_of_the_suite_s_own_rows_say_so_and_name_no_best_model(tmp_path: Path, cli: Cli) -> None:
    runs = [own_run(tmp_path / "runs" / name, name, picks=at) for at, name in enumerate(("a", "b"))]
    page = report(read_inputs(runs)).decode()
    assert "The suite&#39;s own sample rows, written by hand: a, afrixnli; b, afrixnli." in page
    assert "best in each language" not in page and "clearly the best" not in page and "rank 1" not in page
    done = cli("leaderboard", tmp_path / "runs", "-o", tmp_path / "site")
    assert done.code == 0, done.err
    index = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert "Best model in each language" not in index and "Never ranked" in index and "written by hand" in index
