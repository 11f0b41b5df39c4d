"""The benchmarks run; what they make up has the form of the real thing."""

import importlib
import runpy
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from afrieval.results.files import sample_path
from afrieval.results.runs import read_runs
from afrieval.results.samples import read_samples
from tests.conftest import ROOT, Cli

SCRIPT = ROOT / "bench/compare.py"


def test_it_reads_and_compares_what_it_wrote(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--cells", "20"])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("\n| ") == 6 and "20 cells, 2 differences" in printed


def test_likelihoods_of_tokens_are_timed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(ROOT / "bench")
    monkeypatch.setattr("sys.argv", ["tokens.py", "--shape", "tiny", "--questions", "1"])
    runpy.run_path(str(ROOT / "bench/tokens.py"), run_name="__main__")
    assert capsys.readouterr().out.count(" texts/s\n") == 4


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


@pytest.mark.parametrize("title", ["afrimmlu amh, 5-shot, option texts", "afrixnli yor, 5-shot", "afrimgsm yor"])
def test_both_ways_are_measured_on_the_same_requests(monkeypatch: pytest.MonkeyPatch, title: str) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    engine = importlib.import_module("engine")
    case = next(c for c in engine.CASES if title in c.title)
    case = replace(case, shots=1)  # the samples are few
    args = Namespace(shape="tiny", device="cpu", dtype="float32", data="samples")
    plain, tree = (engine._measure(case, way, 2, 3, args) for way in ("plain", "tree"))
    engine.agree(plain.answers, tree.answers)
    assert plain.way == "hf, batch 2" and tree.way == "engine"
    assert plain.work == tree.work and plain.tokens > tree.tokens >= tree.work.tokens > 0
    neutral = 6 if case.task == "afrixnli" and case.form != "generate" else 0
    each = 1 if case.form == "generate" else 3 if case.task == "afrixnli" else 4
    assert len(plain.answers) == 3 * each + neutral


def test_a_report_of_multiplied_runs_is_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("AFRIEVAL_DATA", raising=False)
    sizes = ["--models", "2", "--languages", "6", "--prompts", "1", "--documents", "20"]
    monkeypatch.setattr("sys.argv", ["report.py", *sizes, "--keep", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(ROOT / "bench/report.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert end.value.code == 0 and "read 240 lines" in printed and "afrieval report: " in printed
    cells = read_runs([tmp_path / "model-01", tmp_path / "model-02"])
    assert len({cell.score for cell in cells}) > 2 and {cell.n for cell in cells} == {20}


def test_made_up_packed_runs_are_read_by_their_numbers(tmp_path: Path) -> None:
    scale = runpy.run_path(str(ROOT / "bench/scale.py"))
    for at in range(2):
        scale["make"](tmp_path / f"model-{at}", at, tasks=1, languages=2)
    cells = read_runs([tmp_path / "model-0", tmp_path / "model-1"])
    assert len(cells) == 20 and {cell.n for cell in cells} == {1_000}
    assert 0.2 < min(cell.score for cell in cells) < max(cell.score for cell in cells) < 0.8


def test_the_figure_of_growth_is_drawn_from_what_was_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scale, figure = (runpy.run_path(str(ROOT / f"bench/{name}.py")) for name in ("scale", "scale_figure"))
    for samples in (1_000_000, 100_000):
        scale["shown"](samples, "read", 1.5, 2_000)
    found = figure["measured"]("a line of another kind\n" + capsys.readouterr().out)
    assert found == {"read": [(100_000, 1.5, 2.0), (1_000_000, 1.5, 2.0)]}
    figure["draw"](found, tmp_path / "scale.svg")
    assert "<svg" in (tmp_path / "scale.svg").read_text()
