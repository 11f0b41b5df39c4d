"""Runs of other programs, found below a folder of results."""

import shutil
from pathlib import Path

from tests.foreign.lighteval_runs import LOGS, write_lighteval

from afrieval.analysis.gathered import found_below, gathered


def test_runs_of_other_programs_are_found_below_a_folder(tmp_path: Path) -> None:
    write_lighteval(tmp_path / "of/lighteval", "org/one")
    write_lighteval(tmp_path / "of/lighteval", "org/two")
    for name in ("logs/old", "logs"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(LOGS / "inspect_ai.json", tmp_path / name)
    found = found_below(tmp_path)
    logs = ("logs/inspect_ai.json", "logs/old/inspect_ai.json")
    assert found.foreign == [tmp_path / name for name in (*logs, "of/lighteval")]
    assert not found.own and not found.published
    read = gathered(tmp_path, found)
    assert [(c.model, c.path.parent.name) for c in read.cells if c.path and "inspect" in c.model] == [
        ("mockllm/two (inspect_ai)", "logs")
    ]
    assert {c.model for c in read.cells} == {f"{m} (lighteval)" for m in ("org/one", "org/two")} | {
        "mockllm/two (inspect_ai)"
    }
    assert [of.place for of in read.left_out] == ["logs/old"]
