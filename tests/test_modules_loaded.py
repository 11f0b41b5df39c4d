"""What each command loads: a command that starts to load torch takes seconds more, and no timed test would say why."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import afrieval
from tests.conftest import ROOT
from tests.report.html.small_runs import small_run

HARNESS = ["lm_eval", "datasets", "pandas", "pyarrow", "huggingface_hub"]  # lm_eval imports the others
ENGINE = [*HARNESS, "torch", "transformers", "accelerate", "scipy.optimize"]  # transformers imports the last
LARGE = [*ENGINE, "scipy.stats", "sklearn", "nltk", "rouge_score", "matplotlib", "openai", "openpyxl", "peft"]
SCRIPT = """
import json, sys
from afrieval.cli.main import main
codes = [main(words) for words in {commands!r}]
found = [codes, [name for name in {large!r} if name in sys.modules]]
print(json.dumps(found), file=sys.stderr)
"""
SMALL = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--task.prompts", "1", "--data.source", "samples")


def loaded(*commands: Sequence[object]) -> set[str]:
    """Returns the large packages that commands load in a process of their own."""
    script = SCRIPT.format(commands=[[*map(str, words)] for words in commands], large=LARGE)
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    codes, large = json.loads(done.stderr.splitlines()[-1])
    assert codes == [0] * len(commands), done.stderr
    return set(large)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules") / "run"
    small = {"languages": ["yor"], "prompts": [1], "data_source": "samples", "run_dir": folder}
    afrieval.evaluate("demo", "afrixnli", **small)  # type: ignore[arg-type]
    return folder


def test_tasks_are_listed_with_none_of_them() -> None:
    large = loaded(["list"], ["list", "afrimmlu"])
    assert not large


def test_a_preview_needs_the_harness_alone() -> None:
    large = loaded(["preview", *SMALL])
    assert large == {*HARNESS}


def test_stored_runs_are_read_with_none_of_them(tmp_path: Path) -> None:
    one, other = small_run(tmp_path / "runs/one", "one"), small_run(tmp_path / "runs/other", "other", picks=1)
    report, site = tmp_path / "report.html", tmp_path / "site"
    commands = ["show", one], ["compare", one, other], ["report", one, other, "-o", report]
    large = loaded(*commands, ["leaderboard", tmp_path / "runs", "-o", site])
    assert not large


def test_a_finished_run_is_shown_without_model_and_harness(finished: Path) -> None:
    large = loaded(["run", "--model.model_name", "demo", *SMALL, "--run_dir", finished])
    assert not large


@pytest.mark.slow
def test_a_run_needs_the_harness_and_the_engine(tmp_path: Path) -> None:
    small = [*SMALL, "--eval.limit", "1", "--run_dir", tmp_path / "run"]
    large = loaded(["run", "--model.model_name", "demo", *small])
    assert large == {*ENGINE}


def test_recorded_answers_are_scored_without_the_engine(tmp_path: Path) -> None:
    """Models behind a server take the same way."""
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"text": "The answer is 5."}\n' * 50)
    model = ["--model.model_name", "somebody/model", "--model.model_type", "recorded"]
    model += ["--model.backend_args.file", str(answers), "--model.backend_args.column", "text"]
    task = ["--task.task_name", "afrimgsm", *SMALL[2:], "--run_dir", tmp_path / "run"]
    large = loaded(["run", *model, *task])
    assert large == {*HARNESS}
