"""Texts whose likelihood is measured, from the command line: run, samples, summary, export."""

import json
from pathlib import Path

import pytest
from tests.conftest import Cli
from tests.tasks.texts import TASK, WHOLE, row, write_task

from afrieval.results.run_files import sample_path
from afrieval.results.samples import read_samples

ROWS = [row("Ada"), row("Musa") | {"wrong": []}, row("Bola")]


@pytest.mark.parametrize("text", [TASK, WHOLE], ids=["after a prompt", "whole"])
def test_a_run_and_what_is_read_of_it(tmp_path: Path, cli: Cli, text: str) -> None:
    folder, run = write_task(tmp_path / "tasks", ROWS, text), tmp_path / "run"
    words = ("--model.model_name", "demo", "--data.source", "samples", "--task.folder", folder)
    asked = ("run", *words, "--task.task_name", "bakers", "--run_dir", run)
    first = cli(*asked)
    assert first.code == 0 and "random guess" not in first.out and "bakers: likelihoods, 0-shot" in first.out
    samples = read_samples(sample_path(run, "bakers_eng_eng_1"))
    scored = [sample for sample in samples if sample["metrics"]]
    assert [s["doc_id"] for s in scored] == ([0, 2] if text is TASK else [0, 1, 2])
    for sample in scored:
        assert not {"gold", "picked", "answer", "details"} & set(sample) and sample["roles"][0] == "answer"
        assert "logprobs" not in json.dumps(sample)  # the answer file has them
        assert all(given[0][2] > 0 for given in sample["resps"])
    (line,) = (run / "summary.csv").read_text().splitlines()[1:]
    main = "probability" if text is TASK else "min_k_plus_plus"
    assert f",{main}," in line
    shown = cli("samples", run, "--n", 1)
    assert shown.code == 0 and "answer, loss " in shown.out and f"{main} " in shown.out
    assert "to run" not in cli(*asked).out  # all is there


def test_it_cannot_be_exported(tmp_path: Path, cli: Cli) -> None:
    folder = write_task(tmp_path / "tasks", ROWS)
    words = ("--task.folder", folder, "--data.source", "samples")
    refused = cli("export", "--to", "harness", tmp_path / "out", *words, "--task.task_name", "bakers")
    assert refused.code == 2 and "bakers cannot be exported" in refused.err


def test_options_are_part_of_what_a_run_is(tmp_path: Path, cli: Cli) -> None:
    folder, run, file = write_task(tmp_path / "tasks", ROWS), tmp_path / "run", tmp_path / "task.yaml"
    file.write_text(f"task_name: bakers\nfolder: {folder}\noptions: {{asked: other}}\n")
    words = ("run", "--model.model_name", "demo", "--data.source", "samples", "--task-config-yaml", file)
    first = cli(*words, "--run_dir", run)
    assert first.code == 0 and "bakers: likelihoods, 0-shot, part10, other" in first.out
    other = cli(*words, "--run_dir", run, "--task.options.part", "part05")
    assert other.code == 2 and "tasks.bakers.options.part was 'part10' and is 'part05'" in other.err
    wrong = cli(*words, "--task.options.part", "part5")
    assert wrong.code == 2 and "the option part of bakers has no value 'part5'" in wrong.err
