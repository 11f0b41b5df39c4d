"""What each command loads: a command that starts to load torch takes seconds more, and no timed test would say why."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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
HIDING = """
import re, sys
from importlib import metadata
from importlib.machinery import PathFinder
kept = {{"afrieval", *{kept!r}}}
canonical = lambda name: re.sub(r"[-_.]+", "-", name).lower()
hidden = {{m for m, owners in metadata.packages_distributions().items() if not kept & {{*map(canonical, owners)}}}}
class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
real = metadata.version
def version(name):
    if canonical(name) not in kept:
        raise metadata.PackageNotFoundError(name)
    return real(name)
metadata.version = version
"""
SMALL = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--task.prompts", "1", "--data.source", "samples")


def loaded(*commands: Sequence[object]) -> set[str]:
    """Returns the large packages that commands load in a process of their own."""
    script = SCRIPT.format(commands=[[*map(str, words)] for words in commands], large=LARGE)
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    codes, large = json.loads(done.stderr.splitlines()[-1])
    assert codes == [0] * len(commands), done.stderr
    return set(large)


def test_runs_are_read_with_the_packages_that_the_documentation_names(
    demo_run: Callable[..., Path], tmp_path: Path
) -> None:
    """Every other package is hidden, as after `pip install --no-deps`; a run that is finished is shown."""
    run, other = demo_run(*SMALL), small_run(tmp_path / "runs/other", "other")
    runs, table = ["--run", run], tmp_path / "exported"
    commands: list[list[object]] = [
        ["--version"], ["list"], ["list", "afrimmlu"], ["list", "models"], ["show", run], ["compare", run, other],
        ["run", "--model.model_name", "demo", *SMALL, "--run_dir", run],
        ["samples", run], ["report", run, "-o", tmp_path / "report.html"],
        ["leaderboard", run.parent, "-o", tmp_path / "site"], ["export", "--to", "csv", table, *runs],
        ["export", "--to", "every-eval-ever", tmp_path / "records", *runs],
        ["export", "--to", "harness-results", tmp_path / "results", *runs],
        ["pack", run], ["show", run], ["pack", "--unpack", run],
    ]  # fmt: skip
    failing = ["export", "--to", "huggingface-eval-yaml", tmp_path / "hub", *runs]
    script = HIDING.format(kept=with_their_own(reading_packages()))
    script += SCRIPT.format(commands=[[*map(str, words)] for words in [*commands, failing]], large=LARGE)
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    codes, large = json.loads(done.stderr.splitlines()[-1])
    assert (codes, large) == ([0] * len(commands) + [2], []), done.stderr
    assert "afrieval export needs the package huggingface_hub\nhint: " in done.stderr


def reading_packages() -> list[str]:
    """Returns what docs/installing.md installs for reading runs."""
    text = (ROOT / "docs/installing.md").read_text()
    (words,) = re.findall(r"pip install --no-deps dist/afrieval-\*\.whl\n +pip install ((?:.*\\\n)*.*)", text)
    return re.findall(r"[a-z][\w-]+(?:\[\w+\])?", words)


def with_their_own(names: Sequence[str]) -> list[str]:
    """Returns packages and what they need themselves, as names of distributions."""
    found: dict[str, None] = {}
    waiting = [Requirement(name) for name in names]
    while waiting:
        wanted = waiting.pop()
        extras = ["", *wanted.extras]
        if (name := re.sub(r"[-_.]+", "-", wanted.name).lower()) in found and not wanted.extras:
            continue
        found[name] = None
        waiting += [
            r
            for r in map(Requirement, metadata.requires(name) or [])
            if r.marker is None or any(r.marker.evaluate({"extra": extra}) for extra in extras)
        ]
    return [*found]


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
