"""Runs that are logged to W&B and Trackio, in their offline modes, and read back from the files that these write."""

import importlib
import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.hostile import SCRIPT

import afrieval
from afrieval._util.errors import UserError
from afrieval.config.settings import RunConfig, TaskConfig
from afrieval.exchange import loggers
from afrieval.exchange.loggers import LONGEST, _sample
from afrieval.results.run_folder import RunFolder

SOME = ("--task.task_name", "afrixnli", "--task.languages", "yor,hau", "--task.prompts", "1")
HOSTILE = f"\ud800 {SCRIPT} \u202e \x1b[31m " + "x" * 1_000_000


@pytest.fixture(scope="session")
def trackio_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns Trackio's folder; Trackio reads the variable when it is imported, which nothing else here does."""
    return tmp_path_factory.mktemp("trackio")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trackio_folder: Path) -> Iterator[None]:
    places = {"WANDB_DIR": tmp_path, "TRACKIO_DIR": trackio_folder, "HOME": tmp_path, "NETRC": tmp_path / "netrc"}
    for name, value in {"WANDB_MODE": "offline", "HF_HUB_OFFLINE": "1", **places}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    yield
    if wandb := sys.modules.get("wandb"):
        wandb.teardown()  # forgets the variables, which it reads once


def wandb_tables(folder: Path, name: str) -> list[list[dict[str, Any]]]:
    """Returns the tables of a name in all runs of W&B in a folder."""
    contents = [json.loads(p.read_text()) for p in sorted(folder.glob(f"wandb/offline-*/files/media/table/{name}_*"))]
    return [[dict(zip(of["columns"], row, strict=True)) for row in of["data"]] for of in contents]


def trackio_rows(folder: Path, project: str, table: str) -> list[dict[str, Any]]:
    """Returns what Trackio stored of the runs in a project."""
    column = {"metrics": "metrics", "configs": "config"}[table]
    with sqlite3.connect(folder / f"{project}.db") as database:
        return [json.loads(value) for (value,) in database.execute(f"select {column} from {table} order by id")]


def test_both_programs_get_scores_samples_and_settings(run_demo: Cli, tmp_path: Path, trackio_folder: Path) -> None:
    pytest.importorskip("wandb"), pytest.importorskip("trackio")
    importlib.import_module("openai")  # which W&B would comment on
    words = (*SOME, "--log", "wandb,trackio", "--task.wandb_project", "both", "--task.wandb_job_type", "eval")
    done = run_demo(*words)
    assert done.code == 0, done.err
    assert "logged to W&B; `wandb sync " in done.err and "`trackio show --project both` shows it" in done.err
    assert "wandb: " not in done.out + done.err and "* Trackio" not in done.out + done.err

    of = RunFolder(tmp_path / "run")
    expected = {f"afrixnli/{code}/eng": of.scores(f"afrixnli_{code}_eng_1").score for code in ("yor", "hau")}
    expected["afrixnli/mean/eng"] = sum(expected.values()) / 2
    (scores,), (samples,) = (wandb_tables(tmp_path, name) for name in ("scores", "samples"))
    assert [(row["language"], row["score"]) for row in scores] == [
        (c, expected[f"afrixnli/{c}/eng"]) for c in ("hau", "yor")
    ]
    assert len(samples) == 10 and {row["verdict"] for row in samples} == {"wrong"}
    assert all(row["question"] and "gold" in row["answer"] for row in samples)

    (metrics,) = trackio_rows(trackio_folder, "both", "metrics")
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)
    assert metrics["scores"]["_value"] == scores and metrics["samples"]["_value"] == samples
    (settings,) = trackio_rows(trackio_folder, "both", "configs")
    assert settings["identity"]["model"]["model_name"] == "demo" and settings["config"]["task"]["languages"] == [
        "yor",
        "hau",
    ]
    (stored,) = tmp_path.glob("wandb/offline-*/run-*.wandb")
    content = stored.read_bytes()
    assert all(text.encode() in content for text in ("afrixnli/mean/eng", "fingerprint", "eval", "both"))

    again = run_demo(*words)
    assert again.code == 0 and "to run:" not in again.err
    assert wandb_tables(tmp_path, "scores") == [scores, scores]
    assert len(trackio_rows(trackio_folder, "both", "metrics")) == 2


def test_a_project_alone_means_wandb() -> None:
    assert RunConfig().loggers == []
    assert RunConfig(task=TaskConfig(wandb_project="p")).loggers == ["wandb"]
    assert RunConfig(task=TaskConfig(wandb_project="p"), log=["trackio"]).loggers == ["trackio"]


def test_a_missing_package_is_known_before_anything_runs(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loggers, "find_spec", lambda name: None)
    done = run_demo(*SOME, "--log", "trackio")
    assert done.code == 2 and "pip install 'afrieval[trackio]'" in done.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("refused", [False, True])
def test_so_is_a_key_that_is_missing_or_refused(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    wandb = pytest.importorskip("wandb")

    def refuse(**options: object) -> bool:
        raise wandb.errors.AuthenticationError("invalid\nkey")

    monkeypatch.setenv("WANDB_MODE", "online")
    if refused:
        monkeypatch.setattr(wandb, "login", refuse)
    done = run_demo(*SOME, "--log", "wandb")
    problem = "W&B cannot be used: invalid\\nkey" if refused else "W&B has no API key"
    assert done.code == 2 and f"error: {problem}" in done.err
    assert refused or "wandb login" in done.err
    assert not (tmp_path / "run").exists()


def test_settings_of_wandb_are_checked(run_demo: Cli) -> None:
    done = run_demo(*SOME, "--task.wandb_job_type", "eval")
    assert done.code == 2 and "add --log wandb" in done.err
    done = run_demo(*SOME, "--task.wandb_project", "team/project")
    assert done.code == 2 and "'team/project', but W&B allows no / in it" in done.err


def test_a_program_that_fails_costs_no_results(run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*of: object) -> str:
        raise ConnectionError("no such host\x1b[31m")

    found: list[object] = []

    def works(*of: object) -> str:
        found.append(of)
        return "fine"

    monkeypatch.setattr(loggers, "find_spec", lambda name: name)
    monkeypatch.setattr(loggers, "_check_key", lambda: None)
    monkeypatch.setattr(loggers, "LOGGERS", {"wandb": fails, "trackio": works})
    done = run_demo(*SOME, "--log", "wandb,trackio")
    assert done.code == 2 and f"the run is stored in {tmp_path / 'run'}, but could not be logged to W&B" in done.err
    assert "no such host\\x1b" in done.err and "logged to Trackio; fine" in done.err and len(found) == 1
    assert (tmp_path / "run/summary.csv").exists() and "afrixnli: text, 0-shot" in done.out


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_hostile_texts_are_logged_as_text(choices: Path, tmp_path: Path, trackio_folder: Path, name: str) -> None:
    pytest.importorskip(name)
    run = RunFolder(choices)
    metric = run.scores("afrixnli_yor_eng_1").metric
    line = run.samples("afrixnli_yor_eng_1")[0]
    row = _sample({**line, "arguments": [[HOSTILE, HOSTILE]], "resps": [[HOSTILE]], "target": HOSTILE}, metric)
    assert row["answer"].startswith("\\ud800 <script>alert(1)</script> \\u202e \\x1b[31m xxx")
    assert len(row["answer"]) < LONGEST + 100 and row["answer"].endswith(" more characters]")
    task = TaskConfig(wandb_project="hostile")
    loggers.LOGGERS[name](task, "run", {}, {}, {"samples": [row]})
    if name == "wandb":
        (found,) = wandb_tables(tmp_path, "samples")
    else:
        (metrics,) = trackio_rows(trackio_folder, "hostile", "metrics")
        found = metrics["samples"]["_value"]
    assert found == [row]


def test_runs_from_python_are_logged_too(tmp_path: Path, trackio_folder: Path) -> None:
    pytest.importorskip("trackio")
    run = afrieval.evaluate(
        "demo", "afrixnli", languages="yor", prompts=1, data_source="samples", run_dir=tmp_path / "run", log="trackio"
    )
    (metrics,) = trackio_rows(trackio_folder, "afrieval", "metrics")
    assert metrics["afrixnli/yor/eng"] == run.scores().records()[0]["score"]
    with pytest.raises(UserError, match="log"):
        afrieval.evaluate("demo", "afrixnli", log=["tensorboard"])


def test_commands_in_notes_are_quoted(trackio_folder: Path) -> None:
    pytest.importorskip("trackio")
    task = TaskConfig(wandb_project="my models; ls")
    text = loggers.LOGGERS["trackio"](task, "run", {}, {"a": 1.0}, {})
    assert "`trackio show --project 'my models; ls'` shows it" in text
