"""Tables of judged answers: scores next to what people say, where a judge is not validated, and what may mislead it."""

from dataclasses import replace
from pathlib import Path

from tests.report.judged_runs import GIVEN, JUDGE, RATED, judged_run, said

from afrieval.report.judged_tables import judged_tables
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_folder import RunFolder
from afrieval.scoring.statistics.corrected import FEWEST


def cells(folder: Path) -> list[CellScores]:
    run = RunFolder(folder)
    return [run.scores(name) for name in run.names]


def test_scores_of_judge_and_people_by_hand(tmp_path: Path) -> None:
    scores, agreement, misled = judged_tables(cells(judged_run(tmp_path / "run", GIVEN)))
    hausa, yoruba = scores.records()
    assert [hausa[name] for name in ("judged", "n", "n_unparsed", "people", "n_rated")] == [14.75 / 24, 26, 2, 0.5, 24]
    assert [yoruba[name] for name in ("judged", "n", "n_unparsed", "people", "n_rated")] == [1.25 / 3, 4, 1, 0.25, 1]
    low, high = hausa["corrected interval"]
    assert low < hausa["corrected"] < hausa["judged"] and high < 1 and yoruba["corrected"] is None
    assert round(yoruba["length_correlation"], 6) == -1
    assert scores.findings == [
        f"Not validated in Yoruba: people rated fewer than {FEWEST} answers.",
        "Judgements that could not be parsed: 2 of 26 in Hausa, 1 of 4 in Yoruba; the judge's score is of the others.",
    ]
    (agreed,) = agreement.records()  # in Yoruba, nobody can agree
    assert agreed["language"] == "hau" and (agreed["n_alpha"], agreed["n_kappa"]) == (24, 22)
    low, high = agreed["kappa interval"]
    assert -1 < low < agreed["kappa"] < high < 1 and agreed["kappa"] < agreed["alpha"] < 1
    found = {(row["language"], row["answers"]): (row["n"], row["judged"], row["others"]) for row in misled.records()}
    assert found == {
        ("hau", "in another language"): (1, 0.5, 14.25 / 23),
        ("hau", "cut off"): (2, 0.75, 13.25 / 22),
        ("yor", "refused"): (1, 0.0, 1.25 / 2),
    }


def test_ratings_of_several_models_are_taken_together(tmp_path: Path) -> None:
    half = {"hau": RATED}
    every = [cell for model in "ab" for cell in cells(judged_run(tmp_path / model, half, model))]
    scores, *_ = judged_tables([replace(cell, model=str(cell.folder)) for cell in every])
    assert [row["n_rated"] for row in scores.records()] == [12, 12] and len(scores.findings) == 1


def test_a_judge_without_replies_or_ratings(tmp_path: Path) -> None:
    (scores,) = judged_tables(cells(judged_run(tmp_path / "run", {"hau": [said(None), said(None)]})))
    assert scores.rows == [["hau", None, None, 2, 2, None]]
    assert scores.findings[0] == f"Not validated in Hausa: people rated fewer than {FEWEST} answers."


def test_pairs_are_not_validated_by_ratings(tmp_path: Path) -> None:
    said_of = {JUDGE: {"level": "win or loss", "reason": "", "orders": [{"level": "win"}, {"level": "loss"}]}}
    (scores,) = judged_tables(cells(judged_run(tmp_path / "run", {"hau": RATED[2:3] * 30}, judged=said_of)))
    assert scores.records()[0]["judged"] == 0.5 and "n_rated" not in scores.records()[0]
    assert scores.findings == ["Not validated: people do not compare pairs of answers."]


def test_people_alone(tmp_path: Path) -> None:
    (scores,) = judged_tables(cells(judged_run(tmp_path / "run", {"hau": [said(None, "4", "5")]}, judged={})))
    assert scores.title == "open: rated by people" and scores.rows == [["hau", 0.875, 1]] and not scores.findings
