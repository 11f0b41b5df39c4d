"""One table of findings, and an exit code that says whether there is a problem."""

import json
import sys
from pathlib import Path

import pytest
from tests.conftest import Cli, Refusal


@pytest.fixture(autouse=True)
def _quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disks of this machine may be full, and it may have a network."""
    monkeypatch.setattr("afrieval.tools.doctor.machine.LITTLE", 0)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_a_machine_without_a_config(cli: Cli) -> None:
    done = cli("doctor", "--json", "-").ok()
    found = {row["check"]: row for table in json.loads(done.out) for row in table["rows"]}
    assert {"Python", "afrieval", "processor", "run folder", "hub cache", "hub", "data.lock"} <= {*found}
    assert found["Python"]["status"] == "ok" and "HF_HUB_OFFLINE" in found["hub"]["found"]


def test_without_torch(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "hub cache" in cli("doctor").out


def test_a_config_that_can_run(cli: Cli) -> None:
    words = ("--model-config-yaml", "configs/models/demo.yaml", "--task-config-yaml", "configs/tasks/demo.yaml")
    done = cli("doctor", *words, "--data.source", "samples")
    assert done.code == 0 and "model demo" in done.out and "data of afrimmlu" in done.out, done.out + done.err
    assert "No problem was found." in done.out


def test_problems_are_counted(cli: Cli, tmp_path: Path) -> None:
    words = ("--model.model_name", tmp_path / "gone", "--task.task_name", "afrimmlu", "--data.source", tmp_path)
    done = cli("doctor", *words, "--run_dir", tmp_path / "runs")
    assert done.code == 1 and "2 problems were found." in done.out, done.out + done.err
    assert not (tmp_path / "runs").exists()


def test_settings_of_a_backend_are_checked(cli: Cli) -> None:
    done = cli("doctor", "--model.model_name", "demo", "--model.backend_args.no_such", "1")
    assert done.code == 1 and "backend_args.no_such" in "".join(done.out.split())


def test_a_sweep(cli: Cli, refusal: Refusal, tmp_path: Path) -> None:
    done = cli("doctor", "--sweep", "configs/sweeps/demo.yaml")
    assert done.code == 0 and done.out.count("data of afrimgsm") == done.out.count("model demo") == 1, done.out
    file = tmp_path / "sweep.yaml"
    file.write_text(
        f"models: [{{model_name: {tmp_path / 'gone'}}}]\nsuites: [configs/tasks/demo.yaml]\nexecutor: slurm\n"
    )
    found = cli("doctor", "--sweep", file, "--json", "-")
    rows = [row for table in json.loads(found.out) for row in table["rows"]]
    problems = {row["check"] for row in rows if row["status"] == "problem"}
    assert found.code == 1 and {"slurm", f"model {tmp_path / 'gone'}"} <= problems
    assert "--sweep is given with eval.limit" in refusal("doctor", "--sweep", file, "--eval.limit", 1)
