"""Runs in the form of lm_eval: read back as such, and by its own functions."""

import json
from pathlib import Path

import numpy as np
from lm_eval.utils import (
    get_file_task_name,
    get_latest_filename,
    get_results_filenames,
    get_sample_results_filenames,
    make_table,
)
from tests.conftest import Cli
from tests.exchange.conftest import run_demo

from afrieval.exchange.lm_eval_runs import READER
from afrieval.results.comparable_runs import read_runs


def test_scores_read_back_equal(cli: Cli, choices: Path, tmp_path: Path) -> None:
    done = cli("export", "--to", "harness-results", tmp_path / "out", "--run", choices)
    assert done.code == 0 and READER.wrote(tmp_path / "out/demo"), done.err
    ours, theirs = ({c.name: c for c in cells} for cells in (read_runs([choices]), READER.read(tmp_path / "out")))
    assert set(ours) == set(theirs)
    for name, cell in ours.items():
        other = theirs[name]
        assert (cell.score, cell.n, cell.shots) == (other.score, other.n, other.shots)
        assert other.dimensions == {**cell.dimensions, "model": "demo (lm_eval)"}
        assert np.array_equal(cell.ids, other.ids) and np.array_equal(cell.golds, other.golds)


def test_lm_eval_reads_them(cli: Cli, texts: Path, tmp_path: Path) -> None:
    assert cli("export", "--to", "harness-results", tmp_path / "out", "--run", texts).code == 0
    files = [str(path) for path in (tmp_path / "out/demo").iterdir()]
    results = json.loads(Path(get_latest_filename(get_results_filenames(files))).read_text(encoding="utf-8"))
    assert "afrimgsm_yor_eng_1" in make_table(results)
    assert {get_file_task_name(Path(f).name) for f in get_sample_results_filenames(files)} == set(results["results"])
    assert results["config"]["fewshot_seed"] == 42 and results["n-shot"]["afrimgsm_yor_eng_1"] == 1
    assert results["configs"]["afrimgsm_yor_eng_1"]["generation_kwargs"]["max_gen_toks"] == 3
    first = json.loads(next((tmp_path / "out/demo").glob("samples_afrimgsm_yor*")).read_text().split("\n")[0])
    assert first["arguments"]["gen_args_0"]["arg_1"]["max_gen_toks"] == 3 and "language" not in first


def test_two_runs_of_a_model_have_two_folders(cli: Cli, choices: Path, texts: Path, tmp_path: Path) -> None:
    assert cli("export", "--to", "harness-results", tmp_path / "out", "--run", choices, "--run", texts).code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["demo_first", "demo_second"]


def test_without_texts_there_are_results_only(cli: Cli, tmp_path: Path) -> None:
    words = ("--task.task_name", "afrixnli", "--task.prompts", "1", "--eval.log_samples", "false")
    run = run_demo(tmp_path / "run", *words)
    done = cli("export", "--to", "harness-results", tmp_path / "out", "--run", run)
    assert done.code == 0 and "samples of afrixnli_hau_eng_1 in run, since their texts are not stored" in done.err
    assert [path.name.split("_")[0] for path in (tmp_path / "out/demo").iterdir()] == ["results"]
    done = cli("export", "--to", "every-eval-ever", tmp_path / "records", "--run", run)
    assert done.code == 0 and "samples of afrixnli in run" in done.err
    assert len(list((tmp_path / "records").rglob("*.json*"))) == 1
    assert cli("export", "--to", "csv", tmp_path / "csv", "--run", run).code == 0
