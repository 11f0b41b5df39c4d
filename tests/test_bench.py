"""The benchmarks run; what they make up has the form of the real thing."""

import importlib
import json
import re
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from afrieval.models.response_cache import CachedLM
from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_files import sample_path
from afrieval.results.samples import read_samples
from tests.conftest import ROOT, Cli
from tests.models.backends.programs import with_sglang, with_vllm
from tests.models.tiny import tiny_llama

pytestmark = pytest.mark.slow  # whole benchmarks, in small
SCRIPT = ROOT / "bench/compare.py"
Bench = Callable[..., Any]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Returns a function that gives a benchmark's module, which is started with words."""
    monkeypatch.syspath_prepend(SCRIPT.parent)

    def imported(name: str, words: str = "") -> Any:
        monkeypatch.setattr("sys.argv", [f"{name}.py", *words.split()])
        return importlib.import_module(name)

    return imported


def test_it_reads_and_compares_what_it_wrote(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench("compare", "--cells 20")
    runpy.run_path(str(SCRIPT), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("\n| ") == 6 and "20 cells, 2 differences" in printed


def test_likelihoods_of_tokens_are_timed(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench("tokens", "--shape tiny --questions 1")
    runpy.run_path(str(ROOT / "bench/tokens.py"), run_name="__main__")
    assert capsys.readouterr().out.count("\n| ") == 5  # a line of dashes, and one per way


def test_answers_in_a_dtype_are_compared(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    equality = bench("equality", "--shape tiny")
    monkeypatch.setattr(equality, "DTYPES", ("float32",))
    equality.main()
    row = capsys.readouterr().out.splitlines()[2]
    assert "| passes | 0e+00, 0e+00 |" in row and "| 0 of 8 |" in row and "| flash (CPU) |" in row
    monkeypatch.setattr(equality, "FAR", 0.0)
    with pytest.raises(SystemExit, match="in float32, an answer differs"):
        equality.main()


def test_tables_of_the_page_are_renewed(bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = bench("page")
    for name in [*page.OF_CPU, *(f"{name} cuda" for name in page.OF_GPU)]:
        shown = page.PAGE.with_name(page.ELSEWHERE.get(name, page.PAGE.name)).read_text(encoding="utf-8")
        assert "| new |" in page.renewed(shown, name, "| new |")
    (tmp_path / "good.py").write_text("print('| a | b |\\n| --- | --- |')")
    (tmp_path / "bad.py").write_text("print('| c |'); raise SystemExit(1)")
    before = "text\n<!-- bench: good -->\nold\n<!-- /bench -->\nmore\n<!-- bench: bad -->\nkept\n<!-- /bench -->\n"
    (tmp_path / "page.md").write_text(before)
    monkeypatch.setattr(page, "BENCH", tmp_path)
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(page, "OF_CPU", {"bad": ["bad.py"], "good": ["good.py"]})
    monkeypatch.setattr(page, "OF_GPU", {})
    monkeypatch.setenv("AFRIEVAL_DATA", "samples")
    with pytest.raises(SystemExit, match=r"as they were: bad$"):
        page.main()
    after = (tmp_path / "page.md").read_text()
    assert re.fullmatch(before.replace("old", r"\n\| a \| b \|\n\| --- \| --- \|\n\n\d{4}-.*\.\n"), after)


def test_wrong_options_end_benchmarks_before_they_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty table would take the place of the page's."""
    monkeypatch.setenv("AFRIEVAL_DATA", "samples")
    monkeypatch.setattr("subprocess.run", lambda *args, **options: pytest.fail("a benchmark runs"))
    for name, options in (("page", "--only host --wrong"), ("peers", "--data samples --case nothing")):
        with pytest.raises(SystemExit) as end:
            bench(name, options).main()
        assert end.value.code == 2 and options.split()[-1] in capsys.readouterr().err


def test_its_samples_have_the_fields_of_real_ones(run_demo: Cli, tmp_path: Path) -> None:
    run_demo("--task.languages", "yor", "--task.prompts", "1", "--eval.limit", 1, "--task.prompt_language", "eng")
    real = read_samples(sample_path(tmp_path / "run", "afrimmlu_yor_eng_1"))[0]
    bench = runpy.run_path(str(SCRIPT))
    made_up = bench["sample"](bench["cells"](1)[0], 0, [-1.0, -2.0, -3.0, -4.0], 0)
    assert list(made_up) == list(real)


def test_programs_are_compared_on_the_same_requests(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = "--data samples --shape tiny --limit 3 --hf-limit 2 --programs hf,afrieval,continuous,sglang"
    peer, peers = bench("peer"), bench("peers", options)

    def in_this_process(command: list[str], **options: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr("sys.argv", command[1:])
            peer.main()
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(peers, "absent", lambda program, args: "not here" * (program == "sglang"))
    monkeypatch.setattr(peers.subprocess, "run", in_this_process)
    kept = [replace(case, shots=1) for case in peers.CASES if case.task == "afrixnli"]  # the samples are few
    monkeypatch.setattr(peers, "CASES", kept)
    monkeypatch.setattr(peers, "BATCHES", {"cpu": (2,)})
    monkeypatch.setattr(peers, "matrix_rate", lambda device, dtype: 1e9)
    peers.main()
    printed = capsys.readouterr().out
    hf, own = (line.strip("| ").split(" | ") for line in printed.splitlines() if line.startswith("| afrixnli"))
    assert [hf[1], own[1]] == ["hf, batch 2", "afrieval"] and float(hf[4].replace(",", "")) > float(own[4]) > 0
    assert float(own[7]) < 1e-3 and hf[8] == "1.0"
    assert "\nsglang (as lm_eval calls it) was not run: not here." in printed


@pytest.mark.parametrize("program", ["vllm", "sglang"])
def test_programs_are_asked_well_and_as_lm_eval_does(
    program: str, bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    {"vllm": with_vllm, "sglang": with_sglang}[program](monkeypatch)
    peer = bench("peer")
    requests = [("Kí ni olú ìlú Nàìjíríà? " * 3, answer) for answer in (" Abuja", " Èkó", " A")]
    case = {"folder": str(tiny_llama(tmp_path)), "method": "loglikelihood", "requests": requests}
    job = {"device": "cpu", "dtype": "float32", "batch": 8}
    plain, well = (peer.measured({**job, "program": name}, case) for name in (program, f"{program}-well"))
    assert plain["answers"] == pytest.approx(well["answers"]) and well["tokens"] < plain["tokens"] / 2


def test_made_up_packed_runs_are_read(tmp_path: Path) -> None:
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


def test_a_run_is_answered_at_once_and_each_stage_is_there(bench: Bench, tmp_path: Path) -> None:
    host, stages = bench("host"), bench("host_stages")
    words = ["run", "--model.model_name", "demo", "--task.task_name", "[afrimmlu,afrimgsm]", "--data.source", "samples"]
    words += ["--task.languages", "[yor]", "--task.prompts", "[1]", "--eval.limit", "2"]
    asked, out = CachedLM._ask, tmp_path / "stages.json"
    assert stages.main(str(out), [*words, "--run_dir", str(tmp_path / "run")]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["requests"] == 2 * 4 + 2 and list(found["seconds"]) == [*stages.STAGES, stages.REST]
    assert all(found["seconds"][stage] > 0 for stage in ("read data", "tokenize", "score", "make and write samples"))
    (line,) = (tmp_path / "run/samples_afrimgsm_yor_eng_1.jsonl").read_text(encoding="utf-8").splitlines()[:1]
    assert json.loads(line)["resps"] == [[stages.ANSWER]] and CachedLM._ask is asked
    table = host.table(found, (1.0, 2.0))
    assert "| 10 requests |" in table and f"| all | {sum(found['seconds'].values()):.1f} |" in table


def test_intervals_hold_at_all_looks_only_if_each_look_has_a_share(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated = bench("looks_simulated")
    monkeypatch.setattr(simulated, "REPEATS", 2_000)
    once, shares, pocock, betting = (rates[-1] for rates in simulated.all_so_far(600).values())
    assert once < 0.85 < 0.93 < pocock < shares < betting
    low, high = simulated.betting(20, 50)
    assert simulated.betting(30, 50) == pytest.approx((1 - high, 1 - low)) and low < 0.25 and high > 0.55


def test_races_on_recorded_answers_end_with_the_winner(bench: Bench, run_demo: Cli, tmp_path: Path) -> None:
    races = bench("looks_races")
    for at, right in enumerate((2, 7, 3, 4, 1)):  # of ten questions
        picks = ["A" if (3 * i + at) % 10 < right else None for i in range(300)]
        lines = [{"question_id": i, "category": f"c{i % 3}", "answer": "A", "pred": p} for i, p in enumerate(picks)]
        (tmp_path / f"model_outputs_m{at}_5shots.json").write_text(json.dumps(lines))
    (tmp_path / "other.json").write_text('["a file of another form"]')
    found = races.read(tmp_path)
    assert found.models == ["m1", "m3", "m2", "m0", "m4"]
    assert found.right.mean(axis=1).tolist() == [0.7, 0.4, 0.3, 0.2, 0.1]
    orders = races.orders(found, 3)
    ends = races.recorded(found, races.fives(5)["ranks 1-5"], orders, 300)
    assert all(end.right == 1 and 50 / 300 <= end.share < 0.5 for end in ends.values())
    assert races.until(found, orders, 20).questions < races.until(found, orders, 8).questions <= 300
    run_demo("--task.languages", "yor", "--task.prompts", "1", "--eval.limit", 4, "--task.prompt_language", "eng")
    (tmp_path / "runs").mkdir()
    (tmp_path / "run").rename(tmp_path / "runs/run")
    assert races.read(tmp_path / "runs").right.shape == (1, 4)
