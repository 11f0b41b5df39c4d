"""Which runs are exported, their names, strict JSON and names of files."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from tests.addons.readers.lighteval_runs import LOGS, write_lighteval

from afrieval.exchange.discovery import gathered, paths_below
from afrieval.exchange.stored_runs import file_name, stored_runs, strict_json, unicode_text


def test_folders_with_the_same_name_are_distinguished(choices: Path, texts: Path, tmp_path: Path) -> None:
    for parent, run in (("a", choices), ("b", texts)):
        shutil.copytree(run, tmp_path / parent / "run")
    assert [run.name for run in stored_runs([tmp_path / "a/run", tmp_path / "b/run"])] == ["a/run", "b/run"]
    assert [run.name for run in stored_runs([tmp_path / "a/run"])] == ["run"]


def test_tasks_of_the_harness_are_left_out_with_a_note(
    choices: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(choices, folder)
    record = yaml.safe_load((folder / "run.yaml").read_text(encoding="utf-8"))
    record["identity"]["harness_tasks"] = {"sib_yor": {"version": 1}}
    (folder / "run.yaml").write_text(yaml.safe_dump(record), encoding="utf-8")
    (run,) = stored_runs([folder])
    assert len(run.cells) == 16 and "left out: tasks of the harness in run: sib_yor" in capsys.readouterr().err


def test_runs_of_other_programs_are_found_below_a_folder(tmp_path: Path) -> None:
    write_lighteval(tmp_path / "of/lighteval", "org/one")
    write_lighteval(tmp_path / "of/lighteval", "org/two")
    for name in ("logs/old", "logs"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(LOGS / "inspect_ai.json", tmp_path / name)
    found = paths_below(tmp_path)
    logs = ("logs/inspect_ai.json", "logs/old/inspect_ai.json")
    assert found.foreign == [tmp_path / name for name in (*logs, "of/lighteval")]
    assert not found.runs and not found.published
    read = gathered(tmp_path, found)
    assert [(c.model, c.path.parent.name) for c in read.cells if c.path and "inspect" in c.model] == [
        ("mockllm/two (inspect_ai)", "logs")
    ]
    assert {c.model for c in read.cells} == {f"{m} (lighteval)" for m in ("org/one", "org/two")} | {
        "mockllm/two (inspect_ai)"
    }
    assert [of.path for of in read.left_out] == ["logs/old"]


def test_halves_of_pairs_are_escapes() -> None:
    assert unicode_text("a \ud800 \U0001f600") == "a \\ud800 \U0001f600"
    assert json.loads(strict_json({"a": "\ud800", "b": "ọ"})) == {"a": "\\ud800", "b": "ọ"}


def test_names_of_files() -> None:
    assert file_name("org/model:1") == "org__model__1"
    assert file_name("../..") == "..__" and file_name("..") == "_"
    assert file_name("") == "_" and file_name("a\n\ud800") == "a__ud800"
