"""`afrieval export` of runs: what is refused, before anything is written."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Cli, Refusal, put

FORMS = ("csv", "parquet", "every-eval-ever", "harness-results", "huggingface-eval-yaml")


@pytest.fixture
def run(demo_copy: Callable[..., Path]) -> Path:
    words = ("--task.task_name", "afrixnli", "--task.languages", "yor,hau", "--task.prompts", 1, "--eval.limit", 2)
    return demo_copy(*words)


def test_a_run_that_was_cut_off(cli: Cli, run: Path, tmp_path: Path) -> None:
    text = (run / "run.yaml").read_text()
    for end in ("  versions:\n", "- date: '"):
        (run / "run.yaml").write_text(text.partition(end)[0] + (end if end.endswith("\n") else "- date: soon\n"))
        done = cli("export", "--to", "csv", tmp_path / "new", "--run", run)
        assert done.code == 2 and f"{run / 'run.yaml'}" in done.err and "visits" in done.err and "Trace" not in done.err


def test_what_is_refused_for_every_form(refusal: Refusal, run: Path, tmp_path: Path) -> None:
    form = FORMS[-1]
    new, other = tmp_path / "new", tmp_path / "copy"
    shutil.copytree(run, other)
    unfinished = tmp_path / "unfinished"
    shutil.copytree(run, unfinished)
    (unfinished / "samples_afrixnli_yor_eng_1.jsonl").unlink()
    problems = {
        ("--to", form, new, "--run", unfinished): "is not finished",
        ("--to", form, new, "--run", run, "--run", other): "both have afrixnli_hau_eng_1",
    }
    for words, problem in problems.items():
        assert problem in refusal("export", *words)
        assert not new.exists()


def test_the_help_names_every_form(cli: Cli) -> None:
    shown = " ".join(cli("export", "--help").out.split())
    assert ", ".join(FORMS) + ", open-unlearning or harness." in shown


def test_a_damaged_sample_file_leaves_no_half_table(refusal: Refusal, run: Path, tmp_path: Path) -> None:
    path = run / "samples_afrixnli_yor_eng_1.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"doc_id": 1', '"doc_id": 7'), encoding="utf-8")
    assert "is not what a run of afrixnli_yor_eng_1 wrote" in refusal(
        "export", "--to", "csv", tmp_path / "new", "--run", run
    )
    assert not (tmp_path / "new").exists()


def with_package(folder: Path, group: str, code: str, *words: object) -> "subprocess.CompletedProcess[str]":
    """Runs a command where a package `mine` has an entry `ours` of a group, which is `mine.ours`."""
    package = folder / "mine-1.dist-info"
    put(package / "METADATA", "Name: mine\nVersion: 1\n")
    (package / "entry_points.txt").write_text(f"[{group}]\nours = mine:ours\n")
    (folder / "mine.py").write_text(code)
    command = [str(Path(sys.executable).with_name("afrieval")), *map(str, words)]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True)


def test_a_form_of_another_package(run: Path, tmp_path: Path) -> None:
    code = (
        "def ours(runs, folder, references):\n"
        "    (folder / 'names.txt').write_text(runs[0].name)\n"
        "    return [folder / 'names.txt']\n"
    )
    words = ["export", "--to", "ours", tmp_path / "new", "--run", run]
    done = with_package(tmp_path, "afrieval.exporters", code, *words)
    assert done.returncode == 0 and "wrote " in done.stdout, done.stderr
    assert (tmp_path / "new/names.txt").read_text() == run.name


@pytest.mark.parametrize("command, group", [("doctor", "afrieval.files_of_runs"), ("score", "afrieval.scorers")])
@pytest.mark.parametrize("code", ["raise ValueError('broken')", "class ours:\n    configs = opened = None"])
def test_broken_additions_stop_only_the_command_that_they_add_to(
    tmp_path: Path, command: str, group: str, code: str
) -> None:
    done = with_package(tmp_path, group, code, command, "runs")
    assert done.returncode == 2 and "Traceback" not in done.stderr and f"{tmp_path}/mine.py" in done.stderr
    assert with_package(tmp_path, group, code, "list", "afrixnli").returncode == 0
