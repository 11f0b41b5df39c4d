"""Scores that do not say how good answers are are named, without colours, and apart from corrected ones."""

import re
from pathlib import Path

from tests.conftest import Cli
from tests.report.html.small_runs import text
from tests.report.judged_runs import GIVEN, judged_run, said

from afrieval.exchange.discovery import read_inputs
from afrieval.report.html.report import report
from afrieval.results.samples import read_samples, verdict
from afrieval.scoring.metrics.flags import answered

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
