"""The benchmark of compare runs, and its made-up samples have the form of real ones."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from afrieval.results.files import read_samples, sample_path
from tests.conftest import ROOT, Cli

SCRIPT = ROOT / "bench/compare.py"


def test_it_reads_and_compares_what_it_wrote(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--cells", "20"])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("\n| ") == 6 and "20 cells, 2 differences" in printed


def test_too_little_room_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--cells", "20"])
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=10_000_000))
    with pytest.raises(SystemExit, match=r"0\.0 GB free.*try --cells"):
        runpy.run_path(str(SCRIPT), run_name="__main__")


def test_its_samples_have_the_fields_of_real_ones(run_demo: Cli, tmp_path: Path) -> None:
    run_demo("--task.languages", "yor", "--task.prompts", "1", "--eval.limit", 1, "--task.prompt_language", "eng")
    real = read_samples(sample_path(tmp_path / "run", "afrimmlu_yor_eng_1"))[0]
    bench = runpy.run_path(str(SCRIPT))
    made_up = bench["sample"](bench["cells"](1)[0], 0, [-1.0, -2.0, -3.0, -4.0], 0)
    assert list(made_up) == list(real)
