"""What each command loads: a command that starts to load torch takes seconds more, and no timed test would say why."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

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


def test_what_asks_nobody_needs_none_of_them(demo_run: Callable[..., Path], tmp_path: Path) -> None:
    """Tasks are listed, stored runs are read, and a finished run is shown."""
    one, other = small_run(tmp_path / "runs/one", "one"), small_run(tmp_path / "runs/other", "other", picks=1)
    report, site = tmp_path / "report.html", tmp_path / "site"
    finished = ["run", "--model.model_name", "demo", *SMALL, "--run_dir", demo_run(*SMALL)]
    reading = ["show", one], ["compare", one, other], ["report", one, other, "-o", report]
    listing = ["list"], ["list", "afrimmlu"]
    large = loaded(*listing, *reading, ["leaderboard", tmp_path / "runs", "-o", site], finished)
    assert not large


@pytest.mark.slow
def test_a_run_needs_the_harness_and_the_engine(tmp_path: Path) -> None:
    small = [*SMALL, "--eval.limit", "1", "--run_dir", tmp_path / "run"]
    large = loaded(["run", "--model.model_name", "demo", *small])
    assert large == {*ENGINE}


def test_a_preview_and_recorded_answers_need_the_harness_alone(tmp_path: Path) -> None:
    """Models behind a server take the same way."""
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"text": "The answer is 5."}\n' * 50)
    model = ["--model.model_name", "somebody/model", "--model.model_type", "recorded"]
    model += ["--model.backend_args.file", str(answers), "--model.backend_args.column", "text"]
    task = ["--task.task_name", "afrimgsm", *SMALL[2:], "--run_dir", tmp_path / "run"]
    large = loaded(["preview", *SMALL], ["run", *model, *task])
    assert large == {*HARNESS}
