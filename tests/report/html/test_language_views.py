"""The view of languages: what a reader finds in it, and what it costs."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.html.small_runs import small_run, text, two_models

from afrieval.analysis.inputs import Inputs
from afrieval.analysis.published_files import PublishedRow
from afrieval.exchange.discovery import read_inputs
from afrieval.report.html import language_views as module
from afrieval.report.html.language_views import languages
from afrieval.scoring.metrics import metric


def section(page: str, language: str) -> str:
    """The part of a page that is about a language."""
    return page.split(f'<section class="language" data-language="{language}"')[1].split('<section class="language"')[0]


def test_each_language_has_a_section_with_scores_of_all_models(tmp_path: Path) -> None:
    page = languages(two_models(tmp_path))
    yoruba = section(page, "yor")
    assert "<h3>Yoruba</h3>" in yoruba
    assert "AfriXNLI" in yoruba
    assert {'data-model="first"', 'data-model="second"'} <= set(re.findall('data-model="[^"]*"', yoruba))
    assert "native 1*" in text(yoruba)
    assert "native 1*" not in text(section(page, "hau"))
    assert 'href="#view=languages&amp;language=hau"' in page


def test_scores_are_broken_down_and_labels_confused(tmp_path: Path) -> None:
    yoruba = text(section(languages(two_models(tmp_path)), "yor"))
    assert "By topic" in yoruba
    assert "Right and chosen labels" in yoruba
    assert "contradiction" in yoruba


def test_breakdowns_are_of_the_best_scores_where_there_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NUMBERS", 1)
    assert "By topic, of the best score<" in section(languages(two_models(tmp_path)), "yor")


def test_samples_share_the_room_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = two_models(tmp_path, question="Ìbéèrè " * 4000)
    whole = len(languages(given).encode())
    monkeypatch.setattr(module, "SAMPLES", 20_000)
    assert len(languages(given).encode()) < whole - 20_000
    assert "1 of 8 documents" in languages(given)


def test_nothing_is_said_of_tokens_that_are_not_known(tmp_path: Path) -> None:
    assert "Tokens per word" not in languages(two_models(tmp_path))  # label words alone say nothing of a language


def test_published_scores_are_apart_from_those_of_runs(tmp_path: Path) -> None:
    rows = [PublishedRow("afrixnli", "llama", "1", 0, {"yor": 40.0, "wol": 30.0}, None, 2)]
    page = languages(two_models(tmp_path)._replace(published=rows))
    assert "<summary>Published scores</summary>" in section(page, "yor")
    assert "Published scores" not in section(page, "hau")
    assert "llama published 0 1 30.0" in text(section(page, "wol"))
    assert "Samples of" not in section(page, "wol")


def test_scores_by_different_metrics_are_in_different_tables(tmp_path: Path) -> None:
    given = two_models(tmp_path)
    foreign = [
        replace(c, metrics={"f1": metric("token_f1")}, measures={"f1": c.measures["acc"]}) for c in given.run_cells[:1]
    ]
    page = languages(Inputs([c for c in given.run_cells if c.model == "second"], foreign, []))
    assert section(page, foreign[0].language).count("<h4>AfriXNLI") == 2


def test_samples_are_in_the_order_of_the_scores(tmp_path: Path) -> None:
    """Scores are means over prompts: the model with the best prompt is not always the best one."""
    runs = [small_run(tmp_path / str(at), f"m{at}", at, prompts=2) for at in range(3)]
    yoruba = section(languages(read_inputs(runs)), "yor")
    table, samples = yoruba.split("<details", 1)
    scores = re.findall(r'<tr[^>]*data-model="(m\d)"', table)
    assert re.findall(r'<details class="samples"[^>]*data-model="(m\d)"', samples) == list(dict.fromkeys(scores))
