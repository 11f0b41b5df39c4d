"""The suite without its add-ons: everything else works with their folder deleted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

import afrieval
from afrieval._util.registry import Registry

EVERY_COMMAND = """
import importlib, pkgutil, sys
import afrieval.cli.commands
for module in pkgutil.iter_modules(afrieval.cli.commands.__path__, "afrieval.cli.commands."):
    importlib.import_module(module.name)
from afrieval.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_the_demo_runs_without_the_folder_of_add_ons(tmp_path: Path) -> None:
    source = Path(str(afrieval.__file__)).parent
    shutil.copytree(source, tmp_path / "afrieval", ignore=shutil.ignore_patterns("addons", "__pycache__"))
    for name in ("tasks", "vocabulary", "reviews", "configs"):
        shutil.copytree(ROOT / name, tmp_path / "afrieval/_data" / name)
    words = ["run", "demo", "afrixnli", *("--languages", "hausa"), *("--prompts", "1"), *("--data", "samples")]
    found = subprocess.run(
        [sys.executable, "-P", "-c", EVERY_COMMAND, *words, "--run-dir", "run"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "Hausa" in found.stdout and (tmp_path / "run/summary.csv").is_file()


def test_an_add_on_that_was_deleted_is_no_entry(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    points = Registry[object]("task", "afrieval.tasks", {})
    assert list(points) == ["memorisation"]
    monkeypatch.setattr("afrieval._util.registry.find_spec", lambda name: None)
    assert not list(Registry[object]("task", "afrieval.tasks", {}))
