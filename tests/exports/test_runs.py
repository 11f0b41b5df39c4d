"""Which runs are exported: their names, and what of them is left out."""

import shutil
from pathlib import Path

import pytest
import yaml

from afrieval.exports.runs import stored_runs


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
