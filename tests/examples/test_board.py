"""The template of a board: its workflow's commands take a run and a published table, and refuse what they must."""

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.conftest import ROOT, Cli
from tests.exchange.conftest import declared_as

from afrieval.tools.run_checks.run_checks import copy_without_texts

WORKFLOW = ROOT / "examples/board/.github/workflows/board.yml"
TABLE = "model,prompt,hau,yor,avg\ngpt-4o,prompt_1,60.1,55.2,57.65\ngpt-4o,prompt_2,61.0,50.0,55.5\n"


def commands() -> list[list[str]]:
    """Returns the words of the workflow's own commands, without the program's name."""
    steps = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["build"]["steps"]
    lines = [shlex.split(step["run"]) for step in steps if "run" in step]
    return [words for first, *words in lines if first == "afrieval"]


def test_its_commands(demo_run: Callable[..., Path], cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--task.task_name", "afrixnli,afriqa", "--task.languages", "hau", "--task.prompts", "1")
    run = declared_as(Path(shutil.copytree(demo_run(*words, "--max-gen-toks", "2"), tmp_path / "run")), own_rows=False)
    monkeypatch.chdir(tmp_path)
    copy_without_texts(run, tmp_path / "results/runs/demo", {})
    Path("results/published").mkdir()
    Path("results/published/afrixnli-0shot.csv").write_text(TABLE, encoding="utf-8")
    check, build = commands()
    assert cli(*check).code == 0 and cli(*build).code == 0
    page = Path("site/models/demo.html").read_text(encoding="utf-8")
    assert "afrieval run demo afrixnli,afriqa --languages hau --prompts 1" in page
    assert "gpt-4o" in Path("site/index.html").read_text(encoding="utf-8")
    shutil.copytree(run, "results/runs/with-texts")
    assert cli(*check).code == 2
