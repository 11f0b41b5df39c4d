"""Processes that share the work: each request is asked once, and what one lacks or fails at concerns all."""

import json
import logging
import socket
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.models.test_response_cache import FakeLM, requests

from afrieval._util.errors import UserError
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models import loading
from afrieval.models.answer_file import AnswerFile
from afrieval.models.processes import ALONE, Processes, joined
from afrieval.models.registry import load_model
from afrieval.models.response_cache import CachedLM
from afrieval.scoring.responses import Scored

Work = Callable[[Processes], Any]


def side_by_side(count: int, work: Work) -> list[Any]:
    """Runs some work in threads that gather as processes do; returns what each returned or raised."""
    barrier = threading.Barrier(count, timeout=10)
    board: list[Any] = [None] * count
    outcomes: list[Any] = [None] * count

    def run(rank: int) -> None:
        def gather(value: Any) -> list[Any]:
            board[rank] = json.dumps(value)
            barrier.wait()
            values = [json.loads(text) for text in board]
            barrier.wait()
            return values

        try:
            outcomes[rank] = work(Processes(rank, count, rank, gather))
        except Exception as e:
            outcomes[rank] = e

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_request_is_asked_once_and_all_get_the_answers(tmp_path: Path, count: int) -> None:
    asked = requests("a", "bbb", "a", "cc", "dddd")
    models = [FakeLM() for _ in range(count)]
    ticks: list[int] = []

    def work(processes: Processes) -> Any:
        first = processes.is_first
        with AnswerFile(tmp_path / "a.jsonl" if first else None) as answers:
            tick = ticks.append if first else lambda n: None
            cached = CachedLM(models[processes.rank], answers, tick, processes)
            assert (cached.rank, cached.world_size) == (0, 1), "the harness divides nothing"
            return cached.loglikelihood(asked), cached.loglikelihood(asked)

    expected = [(-float(len(r.args[1])), False, 1) for r in asked]
    assert side_by_side(count, work) == [(expected, expected)] * count
    shares = {1: [["a", "bbb", "cc", "dddd"]], 2: [["a", "bbb"], ["cc", "dddd"]], 3: [["a", "bbb"], ["cc"], ["dddd"]]}
    assert [[text for _, text in m.asked] for m in models] == shares[count], "neighbours, which share their beginnings"
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 4
    assert sum(ticks) == 2 * len(asked)


def test_what_the_first_has_stored_is_asked_by_nobody(tmp_path: Path) -> None:
    with AnswerFile(tmp_path / "a.jsonl") as answers:
        CachedLM(FakeLM(), answers).loglikelihood(requests("a", "bb"))
    models = [FakeLM(), FakeLM()]

    def work(processes: Processes) -> Any:
        with AnswerFile(tmp_path / "a.jsonl" if processes.is_first else None) as answers:
            return CachedLM(models[processes.rank], answers, processes=processes).loglikelihood(
                requests("a", "ccc", "bb")
            )

    assert side_by_side(2, work) == [[(-1.0, False, 1), (-3.0, False, 1), (-2.0, False, 1)]] * 2
    assert [[text for _, text in m.asked] for m in models] == [["ccc"], []]


def test_a_process_without_requests_does_not_call_its_model() -> None:
    class Picky(FakeLM):
        def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
            assert requests
            return super().loglikelihood(requests)

    def work(processes: Processes) -> Any:
        return CachedLM(Picky(), AnswerFile(None), processes=processes).loglikelihood(requests("a"))

    assert side_by_side(3, work) == [[(-1.0, False, 1)]] * 3


def test_details_of_answers_reach_all_processes(tmp_path: Path) -> None:
    class Detailed(FakeLM):
        def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
            return [Scored(a, {"of": a[0]}) for a in super().loglikelihood(requests)]

    def work(processes: Processes) -> Any:
        with AnswerFile(tmp_path / "answers" if processes.is_first else None) as file:
            cached = CachedLM(Detailed(), file, processes=processes)
            first = cached.loglikelihood(requests("a", "bb"))
            return [a.details for a in [*first, *cached.loglikelihood(requests("a", "bb", "ccc"))]]

    assert side_by_side(2, work) == [[{"of": -n} for n in (1, 2, 1, 2, 3)]] * 2


@pytest.mark.parametrize("failing", [{0}, {1}, {0, 2}, {1, 2}])
def test_what_fails_in_one_process_fails_in_all_with_one_message(failing: set[int]) -> None:
    def work(processes: Processes) -> None:
        with processes.barrier():
            if processes.rank in failing:
                raise KeyError(f"bug {processes.rank}")

    outcomes = side_by_side(3, work)
    lowest = min(failing)
    assert isinstance(outcomes.pop(lowest), KeyError), "its own traceback is seen"
    for error in outcomes:
        assert isinstance(error, UserError) and error.message == f"process {lowest} failed: KeyError: 'bug {lowest}'"


def test_the_first_alone_does_what_is_done_once() -> None:
    done: list[int] = []

    def once() -> Any:
        done.append(0)
        return {"x": [1.5, None]}

    def work(processes: Processes) -> Any:
        return processes.run_on_rank_zero(once)

    assert side_by_side(3, work) == [{"x": [1.5, None]}] * 3 and done == [0]


def test_processes_that_differ_are_refused() -> None:
    def work(processes: Processes) -> None:
        processes.assert_equal_across_ranks("same", "model")
        processes.assert_equal_across_ranks([1, {"a": processes.rank // 2}], "questions")

    assert side_by_side(2, work) == [None, None]
    assert all("differ in their questions" in e.message for e in side_by_side(3, work))


def test_truncation_is_said_with_true_numbers(caplog: pytest.LogCaptureFixture) -> None:
    class Short(FakeLM):
        max_length, too_long = 2, 0

        def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
            self.too_long += sum(len(r.args[1]) > self.max_length for r in requests)
            return super().loglikelihood(requests)

    def work(processes: Processes) -> None:
        cached = CachedLM(Short(), AnswerFile(None), processes=processes)
        if processes.is_first:
            caplog.set_level(logging.WARNING, "afrieval")
        cached.loglikelihood(requests("a", "bbb", "cc", "dddd", "eeeee"))
        cached.loglikelihood(requests("f"))
        cached.loglikelihood(requests("fff", "ggg"))

    side_by_side(2, work)
    told = [r.getMessage().split(" and ")[0] for r in caplog.records]
    text = "{} requests are longer than the model's 2 tokens"
    assert told.count(text.format("3 of 5")) == told.count(text.format("2 of 2")) == 2 and len(told) == 4


def test_one_process_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    with joined() as processes:
        assert processes is ALONE


LAUNCHED = {"WORLD_SIZE": "2", "RANK": "0", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29871"}


def launched(monkeypatch: pytest.MonkeyPatch, **changed: str | None) -> UserError:
    """Returns how a process ends that was started with these variables; None is for one that is not set."""
    for name, value in (LAUNCHED | changed).items():
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    with pytest.raises(UserError) as caught, joined():
        pass
    assert "\n" not in caught.value.message and "torchrun" in caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("WORLD_SIZE", ("0", "-1", "x", "", "1.5", "9" * 5000)), ("RANK", (None, "2", "7", "-1", "x", "")),
        ("LOCAL_RANK", (None, "2", "-1", "x")), ("MASTER_ADDR", (None, "", " ")),
        ("MASTER_PORT", (None, "x", "0", "-1", "65536", "")),
    ],
)  # fmt: skip
def test_a_process_that_can_never_find_the_others(
    monkeypatch: pytest.MonkeyPatch, name: str, values: tuple[str | None, ...]
) -> None:
    for value in values:
        error = launched(monkeypatch, **{name: value})
        assert error.message.startswith(f"{name} is {'not set' if value is None else repr(value[:80])}")
        assert len(error.message) < 300


def test_one_process_that_is_not_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "RANK is '3'" in launched(monkeypatch, WORLD_SIZE="1", RANK="3").message
    monkeypatch.delenv("WORLD_SIZE")
    with joined() as processes:  # RANK alone may be there for other reasons
        assert processes is ALONE


@pytest.mark.parametrize("rank", ["0", "1"])
def test_the_others_never_come(monkeypatch: pytest.MonkeyPatch, rank: str) -> None:
    monkeypatch.setattr("afrieval.models.processes.MEETING", timedelta(seconds=1))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    error = launched(monkeypatch, RANK=rank, LOCAL_RANK=rank, MASTER_PORT=port)
    assert "the 2 processes cannot connect" in error.message


@pytest.mark.parametrize(
    ("asked", "local_rank", "given"),
    [(None, 1, "cuda:1"), ("cuda", 3, "cuda:3"), ("cuda", 5, "cuda:1"), ("cuda:2", 0, "cuda:2"), ("cpu", 1, "cpu")],
)
def test_each_process_has_its_gpu(
    monkeypatch: pytest.MonkeyPatch, asked: str | None, local_rank: int, given: str
) -> None:
    import torch

    current: list[str] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    made: dict[str, Any] = {}

    def make(**arguments: Any) -> Any:
        made.update(arguments)
        return SimpleNamespace(choose_engine=lambda wanted: None)

    monkeypatch.setattr("afrieval.models.backends.hf.HF", make)
    monkeypatch.setattr(loading, "try_model", lambda name, lm: None)
    config = ModelConfig(model_name="org/m", device=asked)
    load_model(config, EvalConfig(), Processes(local_rank, 8, local_rank))
    assert made["device"] == given and current == ([given] if asked in (None, "cuda") else [])


@pytest.mark.parametrize("options", [{"parallelize": True}, {"backend_args": {"tp_plan": "auto"}}])
def test_one_model_over_all_gpus_is_for_one_process(options: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="2 processes"):
        load_model(ModelConfig(model_name="demo", **options), EvalConfig(), Processes(1, 2, 1))
