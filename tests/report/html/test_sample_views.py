"""Cards of samples: marks in words, languages and directions of texts, hostile texts as texts."""

import re
from pathlib import Path

from tests.report.html.small_runs import small_run, two_models

from afrieval.analysis.inputs import Inputs
from afrieval.analysis.selected_samples import selections
from afrieval.exchange.discovery import read_inputs
from afrieval.report.html.sample_views import samples_html


def cards(given: Inputs, model: str = "second", room: int = 6000) -> str:
    [chosen] = [s for s in selections(given.own, 5) if (s.cells[0].model, s.cells[0].language) == (model, "yor")]
    return samples_html(chosen, [], room)


def test_flips_are_shown_under_both_prompts(tmp_path: Path) -> None:
    html = cards(two_models(tmp_path))
    assert "Samples of second: 5 of 8 documents (flipped)" in html
    assert "4 right under English prompt 1 only; 4 right under native prompt 1 only." in html
    assert html.count('<div class="side">') == 10
    assert html.count("<strong>right</strong> under English prompt 1") == 3


def test_other_documents_are_shown_once_with_the_other_verdict(tmp_path: Path) -> None:
    html = cards(two_models(tmp_path), "first")
    assert html.count('<div class="side">') == 5
    assert html.count("Under native prompt 1: wrong.") == 3
    assert html.count("Under native prompt 1: right.") == 2


def test_marks_are_words_and_signs_are_for_eyes_only(tmp_path: Path) -> None:
    html = cards(two_models(tmp_path))
    assert "<td>right, picked</td>" in html
    assert '<span aria-hidden="true">✗</span> <strong>wrong</strong>' in html


def test_native_prompts_name_their_language_and_all_texts_find_their_direction(tmp_path: Path) -> None:
    html = cards(two_models(tmp_path))
    assert re.search('<pre dir="auto" lang="yo">Ṣé ó dára', html)
    assert re.search('<pre dir="auto">Ṣé ó dára', html)
    assert "<pre>" not in html


def test_hostile_texts_are_texts(tmp_path: Path) -> None:
    folder = small_run(tmp_path / "c", "<b>m</b>", question='<script>alert("1")</script>\u202e\x1b[31m')
    html = cards(read_inputs([folder]), "<b>m</b>")
    assert "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;\\u202e\\x1b[31m" in html
    assert "<script" not in html
    assert "<b>" not in html


def test_long_prompts_are_cut_in_the_middle(tmp_path: Path) -> None:
    html = cards(two_models(tmp_path, question="ọ̀rọ̀ " * 5000))
    assert " characters are not shown …</span>" in html
    assert len(html.encode()) < 60_000
