"""Workers in this process; tests/faults/test_folders.py kills them."""

import itertools
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.tools.jobs.files import COMMON, SUITE, all_here, content, planned, states, write_sweep

from afrieval._util.errors import UserError
from afrieval.addons.sweep.command import progress
from afrieval.cli.main import main
from afrieval.config.settings import ModelConfig
from afrieval.models.backends.hf import HF
from afrieval.models.registry import load_model
from afrieval.results.run_files import read_run
from afrieval.tools.jobs import job_worker, local
from afrieval.tools.jobs.job_worker import work
from afrieval.tools.jobs.jobs import JOB, Job, job_folder, write_jobs
from afrieval.tools.jobs.start import start_left
from afrieval.tools.jobs.state import STATE

RUN = "afrixnli/demo/text-0shot-samples"


KEPT: dict[str, Any] = {}  # loading takes most of the time of these tests


@pytest.fixture(autouse=True)
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Counts the models that workers load."""
    found: list[str] = []

    def counted(config: ModelConfig, *rest: Any) -> Any:
        found.append(str(config.model_name))
        if config.model_name not in KEPT:
            KEPT[str(config.model_name)] = load_model(config, *rest)
        return KEPT[str(config.model_name)]

    monkeypatch.setattr(job_worker, "load_model", counted)
    return found


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collects the contexts of all requests that reach a model."""
    found: list[str] = []
    plain = HF.loglikelihood

    def noted(self: HF, requests: list[Any], disable_tqdm: bool = False) -> Any:
        found.extend(str(request.args) for request in requests)
        return plain(self, requests, disable_tqdm)

    monkeypatch.setattr(HF, "loglikelihood", noted)
    return found


def alone(folder: Path, limit: int = 2) -> Path:
    """Returns the folder of the same run as one of one process."""
    words = ["--task.task_name", "afrixnli", "--task.languages", "yor,hau", "--task.prompt_language", "both"]
    words += ["--task.prompts", "1", "--data.source", "samples", "--eval.limit", str(limit), "--run_dir", str(folder)]
    assert main(["run", "--model.model_name", "demo", *words]) == 0
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a run of one process."""
    return alone(tmp_path_factory.mktemp("alone") / "run")


def test_shares_add_up_to_the_run_of_one_process(tmp_path: Path, whole: Path) -> None:
    folder, jobs, _ = planned(write_sweep(tmp_path / "sweep.yaml", shares=2))
    for number in (1, 0):
        work(folder, jobs[number].name)
    assert {state["status"] for state in states(folder, jobs).values()} == {"done"}
    assert content(folder / "runs" / RUN) == content(whole)
    visits = read_run(folder / "runs" / RUN)["visits"]
    assert [{**visit}["share"] for visit in visits] == ["2 of 2", "1 of 2"]
    assert not [*folder.glob("jobs/*/runs/**/run.yaml")]


def test_a_run_whose_scores_are_precise_enough_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afrieval.scoring.statistics.looks.FIRST", 2)
    common = {"data.source": "samples", "task.prompts": [1], "eval.until": 100}
    folder, (job,), _ = planned(write_sweep(tmp_path / "sweep.yaml", common=common))
    work(folder, job.name)
    assert states(folder, [job])[job.name]["status"] == "done"
    (summary,) = folder.glob("runs/*/*/*/summary.csv")
    assert {line.split(",")[9] for line in summary.read_text().splitlines()[1:]} == {"2"}
    with pytest.raises(UserError, match="but 2 jobs share each run"):
        planned(write_sweep(tmp_path / "sweep.yaml", common=common, shares=2))


def test_a_model_is_loaded_once_for_all_runs(tmp_path: Path, whole: Path, loads: list[str]) -> None:
    suites = [SUITE, {"task_name": "afrimmlu", "languages": ["yor"]}]
    settings = [{}, {"eval.num_fewshot": 1}]
    folder, (job,), _ = planned(write_sweep(tmp_path / "sweep.yaml", suites=suites, settings=settings))
    work(folder, job.name)
    assert loads == ["demo"] and len([*folder.glob("runs/*/*/*/summary.csv")]) == 4
    assert content(folder / "runs" / RUN) == content(whole)
    (state,) = states(folder, [job]).values()
    assert [(run["cells"], run["finished"]) for run in state["runs"]] == [(4, 4), (4, 4), (1, 1), (1, 1)]


def test_a_model_that_cannot_be_loaded_is_tried_once(tmp_path: Path, loads: list[str]) -> None:
    missing, settings = str(tmp_path / "no-model"), [{}, {"eval.num_fewshot": 1}]
    path = write_sweep(tmp_path / "sweep.yaml", models=[{"model_name": missing}], settings=settings)
    folder, (job,), _ = planned(path)
    work(folder, job.name)
    (state,) = states(folder, [job]).values()
    assert state["status"] == "failed" and loads == [missing]
    assert all("no-model" in run["reason"] for run in state["runs"]) and len(state["runs"]) == 2


def test_a_run_that_fails_leaves_the_next_one_alone(
    tmp_path: Path, loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    suites = [SUITE, {"task_name": "afrimmlu", "languages": ["yor"]}]
    folder, jobs, _ = planned(write_sweep(tmp_path / "sweep.yaml", suites=suites))
    with monkeypatch.context() as patch:
        patch.setattr(HF, "loglikelihood", failing(ValueError("broken"), at=1))
        work(folder, jobs[0].name)
    (state,) = states(folder, jobs).values()
    assert [run["status"] for run in state["runs"]] == ["failed", "done"] and state["status"] == "failed"
    assert state["runs"][0]["reason"] == "ValueError: broken" and len(loads) == 2  # the model may have been broken
    monkeypatch.setattr("afrieval.tools.jobs.start.run_jobs", all_here)
    start_left(folder, jobs, partial(local.opened, parallel=1), retry=False)
    assert states(folder, jobs)[jobs[0].name]["status"] == "failed"  # a failed job waits until it is asked for
    start_left(folder, jobs, partial(local.opened, parallel=1), retry=True)
    assert states(folder, jobs)[jobs[0].name]["status"] == "done"


def failing(error: BaseException, at: int) -> Callable[..., Any]:
    """Returns what asks for likelihoods, but fails at one of the calls, counted from 1."""
    plain, calls = HF.loglikelihood, itertools.count(1)

    def asking(self: HF, requests: list[Any], disable_tqdm: bool = False) -> Any:
        if next(calls) == at:
            raise error
        return plain(self, requests, disable_tqdm)

    return asking


@pytest.mark.slow
def test_a_larger_limit_and_other_shares_start_from_what_is_there(
    tmp_path: Path, whole: Path, asked: list[str], loads: list[str]
) -> None:
    path = tmp_path / "sweep.yaml"
    folder, jobs, _ = planned(write_sweep(path, shares=2))
    for job in jobs:
        work(folder, job.name)
    larger = {**COMMON, "eval.limit": 3}
    folder, jobs, _ = planned(write_sweep(path, shares=3, common=larger))
    assert {state["status"] for state in states(folder, jobs).values()} == {"waiting"}
    work(folder, jobs[0].name)
    folder, (job,), _ = planned(write_sweep(path, common=larger))  # and then one job for what is left
    work(folder, job.name)
    assert len(asked) == len(set(asked))
    shutil.copytree(whole, tmp_path / "alone")
    assert content(folder / "runs" / RUN) == content(alone(tmp_path / "alone", 3))
    former = [each.job.name for each in progress(folder, [job]) if not each.listed]
    assert len(former) == 5 and not [*folder.glob("jobs/*/runs/**/samples_*")]
    loads.clear()
    work(folder, job.name)
    assert not loads


def test_a_damaged_file_of_one_job_hides_no_other(tmp_path: Path) -> None:
    folder, jobs, _ = planned(write_sweep(tmp_path / "sweep.yaml", shares=3))
    write_jobs(folder, [*jobs, Job("former", [])])
    (job_folder(folder, jobs[0].name) / STATE).write_text("[" * 300_000)
    os.mkfifo(job_folder(folder, jobs[1].name) / STATE)
    (job_folder(folder, "former") / JOB).write_text("]")
    found = {each.job.name: each.state for each in progress(folder, jobs)}
    assert [state["status"] for state in found.values()] == ["failed", "failed", "waiting", "failed"]
    for name, why in ((jobs[0].name, "is not valid JSON"), (jobs[1].name, "is a named pipe"), ("former", "line 1")):
        assert why in found[name]["reason"]


def test_a_job_without_its_file(tmp_path: Path) -> None:
    folder, (job,), _ = planned(write_sweep(tmp_path / "sweep.yaml"))
    (job_folder(folder, job.name) / "job.yaml").write_text("model: 1\n")
    with pytest.raises(UserError, match=r"job\.yaml") as error:
        work(folder, job.name)
    assert error.value.hint == "start the sweep again, which writes this file"


@pytest.mark.slow
def test_more_shares_than_cells(tmp_path: Path) -> None:
    suites = [{**SUITE, "prompt_language": "eng", "suite": "mine", "groups": {"nli": ["afrixnli"]}}]
    suites[0].pop("task_name")
    folder, jobs, _ = planned(write_sweep(tmp_path / "sweep.yaml", suites=suites, shares=4))
    for job in reversed(jobs):
        work(folder, job.name)
    assert {state["status"] for state in states(folder, jobs).values()} == {"done"}
    (summary,) = folder.glob("runs/mine/demo/*/summary.csv")
    assert len(summary.read_text().splitlines()) == 3
