"""Judged answers: scores next to what people say, what may mislead a judge, pages, and scores that do not rank."""

import re
from dataclasses import replace
from pathlib import Path

from tests.conftest import Cli
from tests.report.html.small_runs import text, two_models
from tests.report.judged_runs import GIVEN, JUDGE, RATED, judged_run, said

from afrieval.exchange.discovery import read_inputs
from afrieval.report.html.report import MOST, judged, report
from afrieval.report.judged_tables import judged_tables
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_files import cell_names, sample_path, write_samples
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import read_samples, verdict, without_texts
from afrieval.scoring.metrics.flags import answered
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


def titles(html: str) -> list[str]:
    return re.findall("<h4>(.*?)</h4>", html)


def test_the_answers_on_which_they_differ_most_are_side_by_side(tmp_path: Path) -> None:
    page = report(read_inputs([judged_run(tmp_path / model, GIVEN, model) for model in ("small", "other")])).decode()
    view = page.partition('id="view=judged"')[2].partition('<section class="view"')[0]
    assert "Not validated in Yoruba" in view and view.count("answers on which people differ most") == 1
    shown = titles(view)
    assert shown[:4] == [
        f"Document {row}, {model}, English prompt 1" for model in ("small", "other") for row in (0, 12)
    ]
    assert len(shown) == MOST and shown[4].startswith("Document 11, small")
    first = view.partition("<h4>")[2].partition("</article>")[0]
    assert "Ìbéèrè 0 &lt;b&gt;ni&lt;/b&gt;?" in first and '<pre dir="auto" lang="ha">Ìdáhùn 0</pre>' in first
    assert "<strong>5</strong>: excellent" in first and "It is &lt;i&gt;excellent&lt;/i&gt;." in first
    assert "<strong>1</strong>: useless</dd><dd><strong>2</strong>: weak" in first
    assert "Amina" not in view, "pages are passed on, and names are personal"


def test_answers_stored_without_texts_are_not_shown(tmp_path: Path) -> None:
    folder = judged_run(tmp_path / "run", GIVEN)
    for name in cell_names(folder):
        path = sample_path(folder, name)
        write_samples(folder, name, list(map(without_texts, read_samples(path))))
    view = judged(read_inputs([folder]))
    assert "judged by tiny" in view and "<article" not in view


def test_no_view_without_judged_answers(tmp_path: Path) -> None:
    assert not judged(two_models(tmp_path))


def test_samples_say_what_judge_and_people_said(cli: Cli, tmp_path: Path) -> None:
    folder = judged_run(tmp_path / "run", {"hau": [said("4", "3", "5"), said(None)]})
    out = cli("samples", folder).out
    assert "  judge_tiny: 4, It is <i>good</i>.\n  rated: Amina 3, Bello 5\n" in out
    assert "  judge_tiny: unparsed, It is <i>not parsed</i>.\n" in out and out.count("rated:") == 1


UNRATED = {code: [said(level) for level, _, _ in of] for code, of in GIVEN.items()}


def test_a_report_shows_corrected_scores_where_there_are_some(tmp_path: Path) -> None:
    runs = [judged_run(tmp_path / name, of, name, main="answered") for name, of in (("a", GIVEN), ("b", UNRATED))]
    page = report(read_inputs(runs)).decode()
    overview = page.partition('id="view=overview"')[2].partition('<section class="view"')[0]
    corrected, own = (
        overview.partition(f"open, {name}: all languages")[2].partition("</table>")[0]
        for name in ("corrected_tiny", "answered")
    )
    assert "Hausa" in corrected and "Yoruba" not in corrected and "100.0" not in corrected
    assert "Hausa" in own and "Yoruba" in own and own.count("100.0") >= 3
    assert re.search(r'class="[^"]*\bh\d', corrected) and not re.search(r'class="[^"]*\bh\d', own)
    said_of = text(overview)
    assert "Scores by answered alone, which does not say how good answers are" in said_of
    assert "only a judge or people can tell how good they are" in said_of
    assert "✓" not in page, "an answer with content is not a right one"


def test_several_models_are_named(cli: Cli, tmp_path: Path) -> None:
    """Also where only one of them is judged, or rated."""
    one = judged_run(tmp_path / "one", {"hau": [said("4", "5")]}, "one", main="answered")
    other = judged_run(tmp_path / "two", {"hau": [said(None, "1")]}, "two", main="answered", judged={})
    out = cli("compare", one, other).out
    judged, rated = (" ".join(out.partition(title)[2].split()) for title in ("judged by tiny\n", "rated by people\n"))
    assert "Hausa one 75.0" in judged and "Hausa two 0.0" in rated
    assert "open, answered: means over languages" in out


def test_an_answer_with_content_is_not_called_right(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "one", {"hau": [said("4")]}, main="answered")
    (line,) = read_samples(next(run.glob("samples_*")))
    assert verdict(line, answered()) == "answered 1"
