"""`afrieval report` writes one page, and says what is wrong before it reads a run."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Cli, Refusal

import afrieval

LOGS = Path(__file__).parents[2] / "addons/readers/logs"


@pytest.fixture(scope="module")
def run(demo_run: Callable[..., Path]) -> Path:
    small = "--task.languages yor,hau --task.prompts 1 --task.prompt_language both --eval.limit 3"
    return demo_run("--task.task_name", "afrixnli", *small.split())


def test_a_page_is_written_and_named(cli: Cli, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = cli("report", run, "-o", page)
    assert done.code == 0 and done.out.startswith(f"wrote {page} (")
    text = page.read_text(encoding="utf-8")
    assert re.findall('data-view="(.*?)"', text) == ["overview", "languages", "native", "runs", "cite"]
    assert "Yoruba" in text and "http-equiv" in text


def test_python_writes_the_same_page(cli: Cli, run: Path, tmp_path: Path) -> None:
    cli("report", run, "-o", tmp_path / "command.html")
    page = afrieval.write_report([afrieval.load_run(run)], tmp_path / "python.html")
    assert page.read_bytes() == (tmp_path / "command.html").read_bytes()


def test_a_page_that_cannot_be_made_leaves_the_old_one(refusal: Refusal, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for path in run.iterdir():
        (damaged / path.name).write_bytes(path.read_bytes())
    sample = next(damaged.glob("samples_*"))
    sample.write_bytes(sample.read_bytes()[:-40])
    assert sample.name in refusal("report", damaged, "-o", page)
    assert page.read_text() == "old"


def test_a_page_that_is_removed_at_once(
    refusal: Refusal, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afrieval.api.write_output", lambda path, content: None)
    assert "page.html was removed as soon as it was written" in refusal("report", run, "-o", tmp_path / "page.html")


def test_without_a_score_there_is_no_page(cli: Cli, tmp_path: Path) -> None:
    log = (LOGS / "inspect_ai.json").read_text(encoding="utf-8").replace('"success"', '"cancelled"', 1)
    (tmp_path / "log.json").write_text(log, encoding="utf-8")
    done = cli("report", tmp_path / "log.json", "-o", tmp_path / "page.html")
    assert done.code == 2 and "its status is cancelled" in done.err and "has nothing to show" in done.err
    assert not (tmp_path / "page.html").exists()
