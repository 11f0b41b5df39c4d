"""Whole runs of lm_eval: its stores of answers, its files, its command line, and processes that share the work."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks._index import TaskIndex
from tests.conftest import ROOT
from tests.forks import Fork, two_ranks
from tests.models.engine.both_ways import MOST, apart, differences, evaluated
from tests.models.engine.lm_eval_rows import FACTS

from afrieval.models.engine.__main__ import NAME, main
from afrieval.models.engine.tree_lm import TreeLM

PATHS = ["belebele/belebele_hau_Latn.yaml", "pile/pile_arxiv.yaml", "triviaqa/default.yaml", "squadv2/squadv2.yaml"]
METHODS = ("loglikelihood", "loglikelihood_rolling", "generate_until")
KINDS = ("hf", NAME)


def test_answers_that_one_has_stored_are_read_by_the_other(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlitedict import SqliteDict  # type: ignore[import-untyped]

    stored = []
    for kind in KINDS:
        evaluated(kind, folder, PATHS, rows=2, use_cache=str(tmp_path / kind))
        with SqliteDict(str(tmp_path / f"{kind}_rank0.db")) as answers:
            stored.append(dict(sorted(answers.items())))
    assert [*differences(stored[0], stored[1])] == []
    for model, method in [(model, method) for model in (HFLM, TreeLM) for method in METHODS]:
        monkeypatch.setattr(model, method, None)
    theirs, ours = (evaluated(a, folder, PATHS, rows=2, use_cache=str(tmp_path / b)) for a, b in (KINDS, KINDS[::-1]))
    assert apart(theirs, ours) == []


def files(folder: Path) -> dict[str, Any]:
    """Returns what a run has written, by the names of its files without times."""
    found = {}
    for path in folder.rglob("*.json*"):
        lines = path.read_text(encoding="utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text()]
        found[re.sub(r"_\d{4}-.*", "", path.name)] = [numbers(json.loads(line)) for line in lines]
    return dict(sorted(found.items()))


def numbers(value: Any) -> Any:
    """Returns what a file has, with numbers for their texts, as which lm_eval writes answers."""
    if isinstance(value, dict):
        return {key: numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [numbers(part) for part in value]
    return float(value) if isinstance(value, str) and re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", value) else value


def compare(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    (one,), (other,) = theirs.pop("results"), ours.pop("results")
    assert [*differences(theirs, ours)] == []
    for name in ("results", "task_hashes", "n-samples", "chat_template", "max_length", "eot_token_id"):
        assert [*differences(one[name], other[name], 1e-4)] == []
    assert one["config"]["model"] == "hf" and other["config"]["model"] == NAME
    assert one["config"]["model_num_parameters"] == other["config"]["model_num_parameters"]


@pytest.mark.parametrize("engine", ["tree", pytest.param("plain", marks=pytest.mark.models)])
def test_two_processes(engine: str, folder: Path, tmp_path: Path) -> None:
    """They have two of three rows and one; texts differ in the number of windows."""
    options: dict[str, Any] = {"model_args": {"max_length": 40}}

    def work() -> int:
        found = evaluated(NAME, folder, PATHS, model_args={"max_length": 40, "engine": engine})
        if found:
            found = {"samples": found["samples"], "results": found["results"]}
            (tmp_path / "found").write_text(json.dumps(found, default=str), encoding="utf-8")
        return 0

    ranks = two_ranks(work, tmp_path / "said")
    assert [code for code, _, _ in (rank.wait() for rank in ranks)] == [0, 0]
    theirs = evaluated("hf", folder, PATHS, **options)
    theirs = json.loads(json.dumps({"samples": theirs["samples"], "results": theirs["results"]}, default=str))
    ours = json.loads((tmp_path / "found").read_text(encoding="utf-8"))
    for rows in ours["samples"].values():
        rows.sort(key=lambda row: row["doc_id"])
    assert [*differences(theirs["samples"], ours["samples"])] == []
    assert [*differences(theirs["results"], ours["results"], 1e-4)] == []


@pytest.fixture
def words(folder: Path, tmp_path: Path) -> Callable[[str], list[str]]:
    """Returns a function that gives the words of a command, by kind of model; its tasks are ours."""
    rows = [{"text": fact.passage, "options": fact.options, "right": fact.right} for fact in FACTS]
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    shared = {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "doc_to_text": "text",
        "metadata": {"version": 1},
    }
    chosen = {"output_type": "multiple_choice", "doc_to_choice": "options", "doc_to_target": "right"}
    written = {
        "output_type": "generate_until",
        "doc_to_target": "{{options[right]}}",
        "generation_kwargs": {"max_gen_toks": MOST, "until": ["\n"]},
    }
    for name, settings in (("chosen", chosen), ("written", written)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump({"task": name} | shared | settings), encoding="utf-8")

    def command(kind: str) -> list[str]:
        given = f"pretrained={folder},dtype=float32"
        asked = ["run", "--model", kind, "--model_args", given, "--device", "cpu", "--batch_size", "2"]
        paths = ["--tasks", ",".join(str(tmp_path / f"{name}.yaml") for name in ("chosen", "written"))]
        return [*asked, *paths, "--num_fewshot", "1", "--log_samples", "--output_path", str(tmp_path / kind)]

    return command


def test_the_command_line(words: Callable[[str], list[str]], tmp_path: Path) -> None:
    def work(kind: str) -> int:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TaskIndex, "build", staticmethod(lambda *_, **__: {}))  # all files of lm_eval: 12 s
            patch.setattr("lm_eval.evaluator.add_env_info", lambda results: None)
            patch.setattr(sys, "argv", ["lm-eval-tree", *words(kind)])
            main()
        return 0

    for kind in KINDS:
        code, out, err = Fork(partial(work, kind), tmp_path / f"said-{kind}").wait()
        assert code == 0, err
        assert "|chosen" in out
    compare(*(files(tmp_path / kind) for kind in KINDS))


@pytest.mark.models
def test_the_command_in_two_processes(words: Callable[[str], list[str]], tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    two = ["-m", "accelerate.commands.launch", "--cpu", "--num_processes", "2", "-m"]
    for kind, how in (("hf", ["-m"]), (NAME, two)):
        command = [sys.executable, *how, "afrieval.models.engine", *words(kind)]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    compare(*(files(tmp_path / kind) for kind in KINDS))


def test_later_versions_of_lm_eval_find_it() -> None:
    (point,) = entry_points(group="lm_eval.models", name=NAME)
    assert point.load() is TreeLM
