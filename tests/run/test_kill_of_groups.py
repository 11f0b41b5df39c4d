"""A group of Meta's tasks that is killed goes on where it was, and has the samples of a run that was not."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import ROOT, Cli

from afrieval.results.run_files import sample_files

WORDS = "--model.model_name demo --data.source samples --eval.max_gen_toks 8"


def run(folder: Path, group: str, evals: str, dies_at: int) -> int:
    given = [*WORDS.split(), "--task.task_name", group, "--task.evals_dataset", evals, "--run_dir", str(folder)]
    command = [sys.executable, "-m", "tests.run.dying_later", str(dies_at), *given]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=300).returncode


def kept(folder: Path) -> list[str]:
    lines = [line for p in folder.glob("answers_*.jsonl") for line in p.read_text().splitlines()]
    return [json.loads(line)[0] for line in lines]


@pytest.mark.parametrize(
    ("group", "evals", "dies_at"),
    [
        ("meta_instruct", "meta-llama/Llama-3.1-8B-Instruct-evals", 15),
        pytest.param("meta_instruct", "meta-llama/Llama-3.2-1B-Instruct-evals", 9, marks=pytest.mark.slow),
        pytest.param("meta_pretrain", "meta-llama/Llama-3.1-8B-evals", 8, marks=pytest.mark.slow),
        ("meta_pretrain", "meta-llama/Llama-3.2-1B-evals", 4),
    ],
)
def test_a_killed_group_goes_on(cli: Cli, tmp_path: Path, group: str, evals: str, dies_at: int) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    assert run(killed, group, evals, dies_at) == -signal.SIGKILL
    before, done = kept(killed), {p.name: p.read_bytes() for p in sample_files(killed)}
    assert len(before) == dies_at - 1
    words = [*WORDS.split(), "--task.task_name", group, "--task.evals_dataset", evals]
    for folder in (killed, whole):
        assert cli("run", *words, "--run_dir", folder).code == 0
    after = kept(killed)
    assert after[: len(before)] == before and len(set(after)) == len(after), "no request is asked twice"
    samples = {p.name: p.read_bytes() for p in sample_files(killed)}
    assert samples == {p.name: p.read_bytes() for p in sample_files(whole)}
    assert done.items() <= samples.items() and len(done) < len(samples)
