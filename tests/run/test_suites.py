"""A suite runs each task in the languages that it has, leaves out what the data lack, and says so."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import put

from afrieval._util.errors import UserError
from afrieval.config.settings import DataConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.results.run_files import read_run
from afrieval.results.run_folder import RunFolder
from afrieval.run.evaluate import evaluate
from afrieval.run.manifest import default_folder
from afrieval.run.session import Session, plan
from afrieval.tasks.cells.cell import Plan

CONFIG = RunConfig(
    model=ModelConfig(model_name="demo"),
    task=TaskConfig(suite="my suite", groups={"a": ["afrixnli"], "b": ["belebele"]}, prompts=[1]),
    data=DataConfig("samples"),
)


def of(config: RunConfig, languages: list[str] | None, source: str = "samples") -> Plan:
    return plan(replace(config, task=replace(config.task, languages=languages), data=DataConfig(source)))


def test_a_language_that_a_task_lacks_is_left_out_of_it() -> None:
    planned = of(CONFIG, ["yor", "tir", "ewe"])
    assert "belebele: not in the data set: ewe" in planned.left_out
    assert "afrixnli: not in the data set: tir" in planned.left_out
    assert {c.key.language for c in planned.cells} >= {"yor"}
    alone = replace(CONFIG, task=TaskConfig(task_name=["afrixnli", "belebele"], prompts=[1]))
    with pytest.raises(UserError, match="afrixnli has no rows in Tigrinya"):
        of(alone, ["yor", "tir"])


def test_a_language_that_no_task_has_is_refused() -> None:
    with pytest.raises(UserError, match=r"the suite .* has no language 'xx'") as caught:
        of(CONFIG, ["xx"])
    assert caught.value.hint


def test_a_data_set_that_the_folder_lacks_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "masakhane/afrixnli/data/yor/test.tsv"
    put(path, "premise\thypothesis\tlabel\nA\tB\tneutral\n")
    planned = of(CONFIG, ["yor", "hau"], str(tmp_path))
    assert [cell.name for cell in planned.cells] == ["afrixnli_yor_eng_1"]
    assert any("does not contain facebook/belebele" in line for line in planned.left_out)
    assert any("no test rows for hau" in line for line in planned.left_out)


def test_a_suite_has_one_folder_whatever_part_of_it_is_run() -> None:
    some = replace(CONFIG, task=replace(CONFIG.task, task_name="belebele"))
    folder = default_folder(some, of(some, ["yor"]).cells)
    assert (
        folder
        == default_folder(CONFIG, of(CONFIG, ["yor"]).cells)
        == Path("runs/my-suite/demo/own-forms-0shot-samples")
    )


def test_run_yaml_has_the_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = replace(CONFIG, task=replace(CONFIG.task, task_name="afrixnli", languages=["yor"]))
    planned = of(config, ["yor"])
    evaluate(Session(config, planned, RunFolder(tmp_path)))
    assert read_run(tmp_path)["suite"] == {"name": "my suite", "groups": {"a": ["afrixnli"], "b": ["belebele"]}}
    (cell,) = planned.cells
    assert f"to run: 1 cell, {cell.n} documents, {cell.n_requests} likelihoods" in capsys.readouterr().err
