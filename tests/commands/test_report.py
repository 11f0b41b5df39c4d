"""`afrieval report`."""

from pathlib import Path

from tests.conftest import Cli

LOG = Path(__file__).parents[1] / "foreign/logs/inspect_ai.json"


def test_a_report_is_one_file(cli: Cli, tmp_path: Path) -> None:
    done = cli("report", LOG, "-o", tmp_path / "page.html")
    assert done.code == 0 and f"wrote {tmp_path / 'page.html'} (0.0 MB)" in done.out
    assert "mockllm/two (inspect_ai)" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_without_a_score_there_is_no_report(cli: Cli, tmp_path: Path) -> None:
    stopped = tmp_path / "log.json"
    stopped.write_text(LOG.read_text(encoding="utf-8").replace('"success"', '"cancelled"', 1), encoding="utf-8")
    done = cli("report", stopped, "-o", tmp_path / "page.html")
    assert done.code == 2 and "its status is cancelled" in done.err and "has nothing to show" in done.err
    assert not (tmp_path / "page.html").exists()


def test_wrong_files_are_errors(cli: Cli, tmp_path: Path) -> None:
    assert "must be a file that ends in .html" in cli("report", LOG, "-o", tmp_path / "page.pdf").err
    assert "does not exist" in cli("report", LOG, "-o", tmp_path / "none/page.html").err
    assert cli("report", tmp_path, "-o", tmp_path / "page.html").code == 2
