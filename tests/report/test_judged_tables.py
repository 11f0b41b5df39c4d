"""Tables of judged answers: scores next to what people say, where a judge is not validated, and what may mislead it."""

from pathlib import Path

from tests.conftest import Cli
from tests.report.judged_runs import GIVEN, judged_run, said

from afrieval.report.judged_tables import judged_tables
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_folder import RunFolder


def cells(folder: Path) -> list[CellScores]:
    run = RunFolder(folder)
    return [run.scores(name) for name in run.names]


def test_scores_of_judge_and_people_by_hand(tmp_path: Path) -> None:
    scores, misled = judged_tables(cells(judged_run(tmp_path / "run", GIVEN)))
    hausa, yoruba = scores.records()
    assert [hausa[name] for name in ("judged", "n", "n_unparsed", "people", "n_rated")] == [8 / 13, 14, 1, 0.5, 12]
    assert [yoruba[name] for name in ("judged", "n", "n_unparsed", "people", "n_rated")] == [1.25 / 3, 4, 1, 0.25, 1]
    assert round(yoruba["length_correlation"], 6) == -1
    assert scores.findings == ["Not validated in Yoruba: people rated fewer than 10 answers."]
    found = {(row["language"], row["answers"]): (row["n"], row["judged"], row["others"]) for row in misled.records()}
    assert found == {
        ("hau", "in another language"): (1, 0.5, 7.5 / 12),
        ("hau", "cut off"): (1, 0.75, 7.25 / 12),
        ("yor", "refused"): (1, 0.0, 1.25 / 2),
    }


def test_a_judge_without_replies_or_ratings(tmp_path: Path) -> None:
    (scores,) = judged_tables(cells(judged_run(tmp_path / "run", {"hau": [said(None), said(None)]})))
    assert scores.rows == [["hau", None, None, 2, 2, None]]
    assert scores.findings == ["Not validated in Hausa: people rated fewer than 10 answers."]


def test_people_alone(tmp_path: Path) -> None:
    (scores,) = judged_tables(cells(judged_run(tmp_path / "run", {"hau": [said(None, "4", "5")]}, judged={})))
    assert scores.title == "open: rated by people" and scores.rows == [["hau", 0.875, 1]] and not scores.findings


def test_commands_show_them(cli: Cli, tmp_path: Path) -> None:
    runs = [judged_run(tmp_path / model, GIVEN, model) for model in ("small", "other")]
    out = cli("show", runs[0]).out
    assert "open: judged by tiny\n" in out and "Not validated in Yoruba: people rated" in out
    out = cli("compare", *runs).out
    assert "language  model  judge" in out and max(map(len, out.splitlines())) <= 80
