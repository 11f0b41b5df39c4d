"""Jobs as Ray actors, with a Ray that runs nothing; real ones are in test_clusters.py."""

import signal
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.tools.jobs.files import start

from afrieval._util.errors import UserError
from afrieval.addons.sweep import ray_cluster
from afrieval.addons.sweep.ray_cluster import STOP, RayExecutor, RayJob
from afrieval.addons.sweep.sweep_file import SweepFile
from afrieval.tools.jobs.jobs import Job, write_jobs
from afrieval.tools.jobs.start import run_jobs
from afrieval.tools.jobs.state import new_state, read_state, write_state


class RayError(Exception):
    """As ray.exceptions.RayError."""


class FakeRay:
    """The functions of Ray that are used.

    Attributes:
        outcomes: what jobs return or raise, by name; a list for one outcome after the other.
        asked: the options of each actor.
        killed: number of actors that were killed.
    """

    def __init__(self, **outcomes: Any) -> None:
        self.exceptions = SimpleNamespace(RayError=RayError)
        self.outcomes, self.asked, self.killed = outcomes, list[dict[str, Any]](), 0

    def remote(self, kind: type) -> Any:
        assert kind is RayJob
        return SimpleNamespace(options=self._options)

    def _options(self, **options: Any) -> Any:
        self.asked.append(options)
        work = SimpleNamespace(remote=lambda folder, job, here: job)
        return SimpleNamespace(remote=lambda: SimpleNamespace(work=work))

    def wait(self, refs: list[str], timeout: float) -> tuple[list[str], list[str]]:
        if isinstance(self.outcomes[refs[0]], KeyboardInterrupt):
            raise self.outcomes[refs[0]]
        return refs[:1], refs[1:]

    def get(self, ref: str) -> Any:
        outcome = self.outcomes[ref].pop(0) if isinstance(self.outcomes[ref], list) else self.outcomes[ref]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def kill(self, actor: Any) -> None:
        self.killed += 1


@pytest.fixture
def jobs(tmp_path: Path) -> list[Job]:
    found = [Job("a", [{"x": 1}]), Job("b", [{"x": 2}], gpus=0.5)]
    write_jobs(tmp_path, found)
    return found


def test_each_job_is_an_actor_with_its_share_of_a_gpu(tmp_path: Path, jobs: list[Job]) -> None:
    ray = FakeRay(a="", b="")
    run_jobs(tmp_path, jobs, RayExecutor(ray, tmp_path, 2))
    assert [(each["num_gpus"], each["num_cpus"]) for each in ray.asked] == [(0, 2), (0.5, 2)]
    assert all(each["max_restarts"] == each["max_task_retries"] > 0 for each in ray.asked)
    assert ray.killed == 2


def test_jobs_that_end_badly_say_why(tmp_path: Path, jobs: list[Job]) -> None:
    died = RayError("The actor died.\nWorker exit detail: SIGSEGV\n")
    run_jobs(tmp_path, jobs, RayExecutor(FakeRay(a=died, b="n1 does not see the folder"), tmp_path, 1))
    crashed, not_started = (read_state(tmp_path, job) for job in jobs)
    assert crashed["status"] == "failed"
    assert crashed["runs"][0]["reason"] == "its Ray actor ended: Worker exit detail: SIGSEGV"
    assert not_started["status"] == "stopped" and not_started["reason"] == "n1 does not see the folder"


def test_only_the_run_that_crashed_its_actor_has_failed(tmp_path: Path) -> None:
    job = Job("a", [{"x": 1}, {"x": 2}])
    write_jobs(tmp_path, [job])
    state = new_state(job)
    state["runs"][0]["status"] = "running"
    write_state(tmp_path, job, state)
    ray = FakeRay(a=[RayError("crash"), ""])
    run_jobs(tmp_path, [job], RayExecutor(ray, tmp_path, 1))
    assert len(ray.asked) == ray.killed == 2
    assert [run["status"] for run in read_state(tmp_path, job)["runs"]] == ["failed", "waiting"]


def test_ctrl_c_kills_all_actors(tmp_path: Path, jobs: list[Job]) -> None:
    ray = FakeRay(a=KeyboardInterrupt(), b="")
    with pytest.raises(KeyboardInterrupt):
        run_jobs(tmp_path, jobs, RayExecutor(ray, tmp_path, 1))
    assert ray.killed == 2
    assert not (tmp_path / STOP).exists()


def test_a_node_that_does_not_see_the_folder(tmp_path: Path) -> None:
    assert "must be on a file system that all nodes share" in RayJob().work(str(tmp_path), "a", "/")


def test_a_job_is_stopped_by_the_stop_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(ray_cluster, "EVERY", 0.01)
    monkeypatch.setattr(signal, "pthread_kill", lambda thread, number: sent.append(number))
    (tmp_path / STOP).touch()
    ray_cluster._watch(tmp_path / STOP)
    assert sent == [signal.SIGTERM]


NODES = [
    {"Alive": True, "Resources": {"CPU": 8.0, "GPU": 1.0}},
    {"Alive": False, "Resources": {"CPU": 8.0, "GPU": 8.0}},
]


def test_a_job_without_room(capsys: pytest.CaptureFixture[str]) -> None:
    ray_cluster._check_room(NODES, [Job("a", [{}], gpus=1), Job("b", [{}])], 8, grows=False)
    large = [Job("a", [{}], gpus=4)]
    with pytest.raises(UserError, match="a needs 1 CPU and 4 GPUs, more than this machine has"):
        ray_cluster._check_room(NODES, large, 1, grows=False)
    ray_cluster._check_room(NODES, large, 1, grows=True)
    assert "a waits for 1 CPU and 4 GPUs" in capsys.readouterr().err


def test_no_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"ray, which is not installed .*afrieval\[ray\]"):
        start(ray_cluster, tmp_path, [], SweepFile(models=["m.yaml"], suites=["s.yaml"]))


def test_addresses_that_cannot_be_used() -> None:
    for address in ("ray://host:10001", "host", "127.0.0.1:"):
        with pytest.raises(UserError, match="which is not supported"):
            ray_cluster._check_address(address)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(UserError, match=r"does not answer: .*refused"):
            ray_cluster._check_address(f"127.0.0.1:{unused.getsockname()[1]}")
