"""Settings of runs are shown whole, and what differs between runs is marked."""

import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import read_config
from tests.report.html.small_runs import small_run, two_models

from afrieval.cli.declarations.running import RunCommand
from afrieval.config.settings import DataConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.exchange.discovery import read_inputs
from afrieval.report.settings import command_of, differences, differing, run_settings, shown


def _record(config: Any) -> Any:
    return {"identity": {"model": {"model_name": ""}}, "visits": [{"config": config}]}


def test_everything_in_run_yaml_is_shown(tmp_path: Path) -> None:
    folder = small_run(tmp_path / "a", extra={"deep": [1, None, True]}, empty={})
    [run] = run_settings(read_inputs([folder]).run_cells)
    model = run.parts["What the run is"]["model"]
    assert (model["model_name"], shown(model["extra"]["deep"]), model["empty"]) == ("small", "1, not given, true", {})
    assert run.parts["Last visit"]["device"] == "cpu"
    hashes = [yaml.safe_load((folder / "run.yaml").read_text())["identity"]["tasks"]["afrixnli"]["data"]]
    tasks = str(run.parts["What the run is"])
    assert all(digest in tasks for of_languages in hashes for of in of_languages.values() for digest in of.values())


def test_zero_and_one_are_numbers() -> None:
    assert [shown(value) for value in (0, 1, False)] == ["0", "1", "false"]


def test_what_differs_is_marked_with_all_that_it_is_part_of(tmp_path: Path) -> None:
    assert differing(run_settings(two_models(tmp_path).run_cells)) == {("model",), ("model", "model_name")}


def test_differences_are_a_table_with_a_column_for_each_run(tmp_path: Path) -> None:
    [table] = differences(run_settings(two_models(tmp_path).run_cells))
    assert table.heads == ["setting", "a", "b"]
    assert table.rows == [["model.model_name", "first", "second"]]


def test_one_run_differs_from_nothing(tmp_path: Path) -> None:
    assert differences(run_settings(read_inputs([small_run(tmp_path / "a")]).run_cells)) == []


@pytest.mark.parametrize(
    "words",
    [
        "google/gemma-3-4b-it afrixnli,afrimmlu --languages hau,yor --prompts 1,2 --prompt_language both --shots 5",
        "org/q afrimgsm_cot --sample 50 --chat --model.thinking_end '</think>' --model.backend_args.max_length 9",
        "llama_3.1_8b_server afrobench-lite --eval.max_gen_toks 10 --model.api.temperature 0.5",
    ],
)
def test_the_command_of_a_run_asks_for_the_same(words: str) -> None:
    """What is left out, such as batch sizes and prices, is not asked of a model."""

    def config(command: list[str]) -> RunConfig:
        return read_config(command, command="run", needs_model=True, kind=RunCommand)

    asked = config([*shlex.split(words), "--batch_size", "2", "--out", "runs/x", "--data", "hub"])
    command = command_of(_record(asdict(asked)))
    assert command.startswith("afrieval run ") and "runs/x" not in command and "batch" not in command
    again = config([*shlex.split(command)[2:], "--batch_size", "2", "--out", "runs/x", "--data", "hub"])
    model = replace(asked.model, api=replace(asked.model.api, max_concurrency=16), languages_supported=[])
    assert again == replace(asked, model=model)


def test_pages_have_no_path_of_a_machine() -> None:
    task = TaskConfig("mood", folder=["/home/me/tasks"])
    config = asdict(RunConfig(ModelConfig("/home/me/model"), task, data=DataConfig("/home/me/data")))
    command = command_of(_record(config))
    assert command == "afrieval run model mood --task.folder tasks"
