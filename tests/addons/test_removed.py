"""The suite without its add-ons: everything else works with their folder deleted, and does not name them."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
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


NAMES = re.compile(
    "comet|contamination|memorisation|llama|meta_instruct|meta_pretrain|sweep|unlearning|tofu|muse|privleak|inspect_ai"
    "|lighteval|every.eval.ever",
    re.IGNORECASE,
)
# Names in the code of the suite itself that mean something else, or cannot be avoided: where, and why.
ALLOWED = [
    ("cli/", "every.eval.ever", "a form of files that the suite writes; the add-on reads it"),
    ("models/", "Llama(Config|ForCausalLM)?", "an architecture, in the words of transformers"),
    ("run/harness/plan.py", "_llama", "the end of names of the harness' own tasks"),
    ("results/schema.py", "memorisation", "a key of run.yaml, whose form is checked whenever a run is read"),
    ("scoring/", "exact.memorisation|privleak", "metrics of texts, and how tables write their names"),
    ("models/openai/openai_backend.py", "sweep", "messages name the command that starts a server"),
    ("tools/", "sweep", "messages name the command to repeat, in the words that users know"),
]


def words_of(path: Path) -> Iterator[str]:
    """Yields the names and texts in the code of a file; its docstrings are for people, and some are help."""
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield str(node.value)
        yield from (str(getattr(node, name, "")) for name in ("id", "attr", "name", "arg", "module", "asname"))


def test_nothing_else_names_an_add_on() -> None:
    source, named, used = Path(str(afrieval.__file__)).parent, list[tuple[str, str]](), set[str]()
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source).as_posix()
        for word in filter(NAMES.search, words_of(path) if not place.startswith("addons/") else ()):
            reasons = [
                why for at, name, why in ALLOWED if place.startswith(at) and re.search(name, word, re.IGNORECASE)
            ]
            named += [] if reasons else [(place, word)]
            used |= {*reasons}
    assert named == [] and used == {why for *_, why in ALLOWED}
