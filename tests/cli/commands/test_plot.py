"""plot writes a figure of stored runs."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import TWO_TASKS, Cli, Refusal


@pytest.fixture(scope="module")
def run(demo_run: Callable[..., Path]) -> Path:
    return demo_run(*TWO_TASKS)


@pytest.mark.parametrize(("form", "start"), [("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_each_form(cli: Cli, run: Path, tmp_path: Path, form: str, start: bytes) -> None:
    path = tmp_path / f"figure.{form}"
    path.write_text("another")
    done = cli("plot", run, "--kind", "native", "--width", "two", "-o", path)
    assert (done.code, done.out, done.err) == (0, f"wrote {path}\n", "")
    assert path.read_bytes().startswith(start)


def test_some_tasks(cli: Cli, refusal: Refusal, run: Path, tmp_path: Path) -> None:
    whole, one = tmp_path / "whole.png", tmp_path / "one.png"
    assert cli("plot", run, "-o", whole).code == cli("plot", run, "--task", "afrixnli", "-o", one).code == 0
    heights = [int.from_bytes(path.read_bytes()[20:24]) for path in (whole, one)]
    assert heights[1] < heights[0] * 0.7, "one panel of two"
    assert "did you mean afrixnli?" in refusal("plot", run, "--task", "afrixnl", "-o", one)


def test_what_cannot_be_written(
    cli: Cli, refusal: Refusal, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ".pdf, .svg, .png" in refusal("plot", run, "-o", tmp_path / "figure.jpg")
    assert "cannot be written" in refusal("plot", run, "-o", tmp_path / "none/figure.pdf")
    assert cli("plot", tmp_path, "-o", tmp_path / "figure.pdf").code == 2
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = cli("plot", run, "-o", tmp_path / "figure.pdf")
    assert done.code == 2 and "needs the package matplotlib" in done.err and "pip install 'afrieval[plot]'" in done.err
    assert not list(tmp_path.iterdir())
