"""The view of runs: settings as definition lists, with what differs in words."""

from pathlib import Path

from tests.report.html.small_runs import small_run, two_models

from afrieval.exchange.discovery import read_inputs
from afrieval.report.html.report import runs


def test_settings_are_nested_lists(tmp_path: Path) -> None:
    page = runs(two_models(tmp_path))
    assert '<section class="run" data-model="first">' in page
    assert '<dt>model_name <span class="differs">differs</span></dt>\n<dd><code>first</code></dd>' in page
    assert "What differs between runs" in page
    assert "<summary>Options of the last visit</summary>" not in page  # these runs have none
    assert "<summary>What its tasks declare</summary>" in page


def test_settings_are_text(tmp_path: Path) -> None:
    page = runs(read_inputs([small_run(tmp_path / "a", "<script>\u202e")]))
    assert "&lt;script&gt;\\u202e" in page
    assert "<script" not in page
