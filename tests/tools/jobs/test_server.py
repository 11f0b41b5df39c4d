"""Servers that are started for a while: ready when they answer, and never left behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
import yaml
from tests.conftest import ROOT

from afrieval._util.errors import UserError
from afrieval.addons.sweep.combinations import jobs_of
from afrieval.addons.sweep.sweep_file import read_sweep
from afrieval.config.api_settings import APIConfig
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.model_identity import identity_of_model
from afrieval.models.registry import load_model
from afrieval.results.samples import read_samples
from afrieval.tools.jobs import guard, server
from afrieval.tools.jobs.job_worker import Models, work
from afrieval.tools.jobs.jobs import write_jobs
from afrieval.tools.jobs.server import command, free_port, served
from afrieval.tools.jobs.state import read_state

SCRIPT = ROOT / "tests/tools/jobs/a_server.py"


def spec(way: str) -> str:
    return f"{sys.executable} {SCRIPT} {{model}} {{port}} '{way}'"


def model(server: str) -> ModelConfig:
    return ModelConfig(model_name="org/model", model_type="openai", api=APIConfig(server=server))


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Returns the file of a server's log; afterwards, none of its processes may be left."""
    monkeypatch.setenv("PIDS", str(tmp_path / "pids"))
    yield tmp_path / "jobs/log.txt"
    end = time.monotonic() + 10
    while living(tmp_path) and time.monotonic() < end:  # killed processes take a moment to end
        time.sleep(0.05)
    assert not living(tmp_path)


def living(folder: Path) -> list[int]:
    pids = folder / "pids"
    known = [int(pid) for pid in pids.read_text().split()] if pids.exists() else []
    return [pid for pid in known if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize(("way", "error"), [("health", ValueError), ("no health", KeyboardInterrupt)])
def test_a_server_answers_until_the_block_ends(log: Path, way: str, error: type[BaseException]) -> None:
    with pytest.raises(error), served(model(spec(way)), log) as known:
        with urlopen(f"{known.api.base_url}/models") as response:
            assert b"org/model" in response.read()
        assert len(living(log.parents[1])) == 2
        raise error
    assert not living(log.parents[1])


def test_a_server_that_does_not_end_is_killed(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "GRACE", -4)  # of which 1 second is left
    with served(model(spec("stubborn")), log):
        pass


def test_a_server_that_ends_at_once_is_an_error_with_its_last_lines(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret-12345")
    with pytest.raises(UserError) as caught, served(model(spec("dies")), log):
        pass
    assert caught.value.message == (
        "the server of org/model ended before it answered: loading | out of memory, key ***"
    )
    assert caught.value.hint == f"see {log}"


def test_a_server_that_is_never_ready_is_an_error(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PATIENCE", 1.2)
    late = r"did not answer within 0\.02 minutes"
    with pytest.raises(UserError, match=late), served(model(spec("never ready")), log):
        pass


def test_a_port_that_another_program_took_is_replaced(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken, answers = str(other.getsockname()[1]), server.answers
        ports = iter([int(taken), free_port()])
        monkeypatch.setattr(server, "free_port", lambda: next(ports))
        monkeypatch.setattr(server, "answers", lambda model: taken not in model.api.base_url and answers(model))
        with served(model(spec("health")), log) as known:
            assert taken not in str(known.api.base_url)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_is_killed_leaves_no_server(log: Path, number: int) -> None:
    script = (
        "import sys, pathlib, time\n"
        "from afrieval.config.api_settings import APIConfig\n"
        "from afrieval.config.settings import ModelConfig\n"
        "from afrieval.tools.jobs.server import served\n"
        "model = ModelConfig(model_name='m', api=APIConfig(server=sys.argv[1]))\n"
        "with served(model, pathlib.Path(sys.argv[2])):\n"
        "    print('up', flush=True)\n    time.sleep(60)\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", script, spec("health"), str(log)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert worker.stdout and worker.stdout.readline() == b"up\n"
    assert len(living(log.parents[1])) == 2
    worker.send_signal(number)
    worker.communicate(timeout=30)


def test_the_guard_ends_what_a_server_that_ended_left(tmp_path: Path) -> None:
    child = "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); sys.exit(3)"
    words = [sys.executable, "-P", "-m", "afrieval.tools.jobs.guard", str(os.getpid()), sys.executable, "-c", child]
    done = subprocess.run(words, capture_output=True, start_new_session=True, timeout=guard.GRACE)
    left = int(done.stdout)
    assert done.returncode == 3
    assert not psutil.pid_exists(left) or psutil.Process(left).status() == psutil.STATUS_ZOMBIE


def test_vllm_and_sglang_have_commands_and_take_options() -> None:
    vllm = command("vllm --max-model-len 8192", "org/model", 7)
    assert vllm == ["vllm", "serve", "org/model", "--host", "127.0.0.1", "--port", "7", "--max-model-len", "8192"]
    sglang = command("sglang", "a folder/model", 7)
    assert sglang == [
        *(sys.executable, "-m", "sglang.launch_server", "--model-path", "a folder/model"),
        *("--host", "127.0.0.1", "--port", "7"),
    ]
    braces = command("""serve {model}:{port} --override '{"a": 1}'""", "m", 7)
    assert braces == ["serve", "m:7", "--override", '{"a": 1}']


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "is not a command"),
        ("serve 'half", "is not a command"),
        ("vlm", r"has no \{port\}"),
        ("vllm --api-key=abc", "has --api-key, but run.yaml stores it"),
    ],
)
def test_other_commands_are_errors(spec: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        command(spec, "m", 7)


def test_a_program_that_does_not_exist_is_an_error(log: Path) -> None:
    message = "the program no-such-server does not exist"
    with pytest.raises(UserError, match=message), served(model("no-such-server {port}"), log):
        pass


def test_the_port_is_no_part_of_a_models_identity() -> None:
    asked = model("vllm")
    urls = [f"http://127.0.0.1:{port}/v1" for port in (1, 2)]
    known = [replace(asked, api=replace(asked.api, base_url=url)) for url in urls]
    assert len({load_model(each, EvalConfig()).fingerprint() for each in known}) == 1
    assert identity_of_model(asked) != identity_of_model(model("sglang"))
    assert "server" not in identity_of_model(replace(asked, api=APIConfig()))["api"]


def test_a_sweep_starts_the_server_of_a_model_once_for_all_its_runs(log: Path) -> None:
    folder, entry = log.parents[1] / "sweep", {"model_name": "m", "model_type": "openai", "server": spec("health")}
    suite = {"task_name": "afrixnli", "languages": ["yor"], "prompts": [1]}
    content = {"models": [entry], "suites": [suite], "settings": [{}, {"eval.num_fewshot": 1}], "folder": str(folder)}
    file = log.parents[1] / "sweep.yaml"
    for starts, limit in enumerate((1, 2), 1):  # the second time, it goes on with another port
        common = {"data.source": "samples", "eval.limit": limit}
        file.write_text(yaml.safe_dump({**content, "common": common}))
        (job,) = jobs_of(*read_sweep(file))
        write_jobs(folder, [job])
        work(folder, job.name)
        assert read_state(folder, job)["status"] == "done", (folder / "jobs" / job.name / "log.txt").read_text()
        assert len((log.parents[1] / "pids").read_text().splitlines()) == starts
    found = [read_samples(path) for path in sorted(folder.rglob("samples_*.jsonl"))]
    assert [len(samples) for samples in found] == [2, 2]
    assert {sample["resps"][0][0] for samples in found for sample in samples} == {"neutral"}
    records = [yaml.safe_load(path.read_text()) for path in folder.rglob("run.yaml")]
    assert {record["identity"]["model"]["api"]["server"] for record in records} == {spec("health")}
    assert "127.0.0.1" not in str([record["visits"][-1]["config"] for record in records])


def test_a_server_that_crashed_is_started_again_for_the_next_run(log: Path) -> None:
    config, models = model(spec("health")), Models(log)
    for _ in range(2):
        models.load(config, EvalConfig())
        assert len(living(log.parents[1])) == 2
    os.kill(living(log.parents[1])[0], signal.SIGKILL)
    models.load(config, EvalConfig())
    assert len((log.parents[1] / "pids").read_text().splitlines()) == 2
    models.close()


def test_only_a_sweep_starts_a_server() -> None:
    with pytest.raises(UserError, match="started by afrieval sweep only"):
        load_model(model("vllm"), EvalConfig())
