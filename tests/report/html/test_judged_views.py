"""The judged view: tables, and the answers on which judge and people differ most, as text."""

import re
from pathlib import Path

from tests.conftest import Cli
from tests.report.html.small_runs import two_models
from tests.report.judged_runs import GIVEN, judged_run, said

from afrieval.exchange.discovery import read_inputs
from afrieval.report.html.report import MOST, judged, report
from afrieval.results.run_files import cell_names, sample_path, write_samples
from afrieval.results.samples import read_samples, without_texts


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
