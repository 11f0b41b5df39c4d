"""Ceilings of cost and requests, the number of requests at a time, and the thread that sends them."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.models.faulty import faulty
from tests.models.loopback import Loopback
from tests.models.openai.conftest import DOCUMENTS, WRITES, asked

from afrieval._util.errors import UserError
from afrieval.config.api_settings import APIConfig, Prices
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.openai.failure import seconds_to_wait
from afrieval.models.openai.parsing import Usage
from afrieval.models.openai.schedule import FIRST_PACE, Budget, Concurrency, in_thread
from afrieval.models.registry import load_model
from afrieval.scoring.responses import Details

PRICES = ("--model.api.prices.input", 0, "--model.api.prices.output", 1000)
COST = 20 * 1000 / 1e6  # of each answer, of 20 tokens


def costing(most: float) -> Budget:
    return Budget(APIConfig(max_cost=most, prices=Prices(1e6, 2e6)))


def test_what_is_in_flight_counts_with_the_most_that_it_may_cost() -> None:
    budget, worst = costing(20), Usage(4, 2)
    assert budget.fits(worst)
    budget.send(worst)
    assert budget.fits(worst)
    budget.send(worst)
    assert not budget.fits(worst)
    budget.answer(worst, Usage(3, 1))
    assert budget.spent == 5 and not budget.fits(worst)
    budget.answer(worst, Usage(3, 1))
    assert budget.spent == 10 and budget.fits(worst)


def test_what_the_server_does_not_tell_counts_as_the_worst() -> None:
    budget, worst = costing(20), Usage(4, 2)
    budget.send(worst)
    budget.answer(worst, None)
    assert budget.spent == 8 and "1 answers of unknown length" in str(budget)
    budget.send(worst)
    budget.fail(worst, worst)
    budget.send(worst)
    budget.fail(worst)
    assert budget.spent == 16


def test_stored_answers_count() -> None:
    budget = costing(20)
    stored: list[Details] = [
        {"prompt_tokens": 3, "completion_tokens": 1},
        {"at_most": [4, 2], "requests": 3},
        {"cost": 2.5},
        {"cost": 1.5, "lost": [2, 1]},
    ]
    budget.resume(stored)
    assert budget.spent == 5 + 8 + 2.5 + (1.5 + 4) and budget.requests == 6


def test_cached_tokens_have_their_price() -> None:
    prices = Prices(2e6, 1e6, 0.5e6)
    assert Usage(10, 1, cached=4).cost(prices) == 12 + 2 + 1
    assert Usage(10, 1, cached=4).cost(Prices(2e6, 1e6)) == 21
    assert Usage(10, 1).cost(Prices(2e6)) is None


def test_a_run_stops_before_it_costs_too_much_and_goes_on(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    """A request may cost 36 times 0.001 and costs 20 times."""
    words = (*server.api_options, *WRITES, *PRICES, "--model.api.max_concurrency", 16)
    stopped = run_demo(*words, "--model.api.max_cost", 4 * COST)
    assert stopped.code == 2 and "has cost $0.06, and the next request may cost $0.036" in stopped.err, stopped.err
    assert "exceed model.api.max_cost $0.08" in stopped.err and "then run the same command again" in stopped.err
    assert len(server.asked) == 3
    again = run_demo(*words, "--model.api.max_cost", 4 * COST)
    assert again.code == 2 and len(server.asked) == 3, "earlier sessions count"
    assert run_demo(*words, "--model.api.max_cost", 1).code == 0
    assert len(server.asked) == DOCUMENTS
    (row,) = (tmp_path / "run/usage.csv").read_text().splitlines()[1:]
    assert row.endswith(",0.16")


def test_failures_that_may_have_been_paid_for_count_in_later_sessions(
    run_demo: Cli, tmp_path: Path, waited: list[float]
) -> None:
    """A response that was lost on its way may cost 36 times 0.001, and an answer costs 3 times."""
    with faulty(["half"]) as faults:
        words = (*faults.options, *WRITES, *PRICES, "--model.api.max_concurrency", 1)
        assert run_demo(*words, "--eval.limit", 1).code == 0
        stopped = run_demo(*words, "--model.api.max_cost", 0.05)
    assert stopped.code == 2 and "has cost $0.039, and the next request may cost $0.036" in stopped.err, stopped.err


def test_a_rejected_prompt_may_cost_what_was_read(run_demo: Cli, server: Loopback) -> None:
    filtered = b'{"error": {"message": "no", "code": "content_filter"}}'
    server.fails = {0: (400, filtered)}
    words = (*server.api_options, *WRITES, "--model.api.prices.input", 1000, "--model.api.prices.output", 0)
    words = (*words, "--model.api.max_concurrency", 1, "--eval.limit", 1)
    assert run_demo(*words).code == 0
    words = (*words, "--eval.limit", 2, "--model.api.max_cost", 0.1)
    stopped = run_demo(*words)
    assert stopped.code == 2 and len(server.asked) == 1, stopped.err


def test_repeated_requests_count(run_demo: Cli, waited: list[float]) -> None:
    with faulty(["broken"]) as faults:
        words = (*faults.options, *WRITES, "--model.api.max_concurrency", 1)
        stopped = run_demo(*words, "--model.api.max_requests", 5)
        assert stopped.code == 2 and "5 requests were sent, which is model.api.max_requests" in stopped.err
        assert len(faults.asked) == 5 and len(faults.answered) == 3
        assert run_demo(*words, "--model.api.max_requests", 2 * DOCUMENTS).code == 0
    assert len(faults.asked) == 2 * DOCUMENTS


@pytest.mark.parametrize("count", [-(10**6), 10**400, 0, None, "1"])
def test_a_server_cannot_lift_the_ceiling(server: Loopback, count: Any) -> None:
    server.usage = {"prompt_tokens": count, "completion_tokens": count}
    with pytest.raises(UserError) as caught:
        asked(server.url, max_concurrency=1, max_cost=0.1, prices=Prices(0, 1000))
    assert "has cost $0.072 (2 answers without a number of tokens count in full)" in caught.value.message
    assert len(server.asked) == 2


def test_amounts_that_cannot_be_are_not_resumed_from() -> None:
    budget = costing(100)
    stored: list[Details] = [
        {"prompt_tokens": -5, "completion_tokens": 1, "cost": -3.0, "at_most": [4, 2], "requests": "x"},
        {"cost": float("nan"), "lost": [1], "prompt_tokens": 3, "completion_tokens": 1},
        {"cost": float("inf"), "at_most": 5, "lost": [-1, 2]},
    ]
    budget.resume(stored)
    assert (budget.spent, budget.requests, budget.unknown) == (8 + 5, 3, 2)


def test_a_ceiling_needs_prices_and_stored_answers() -> None:
    def loaded(use_cache: bool = True, **api: Any) -> None:
        config = ModelConfig("served", "openai", api=APIConfig(base_url="http://localhost:1/v1", **api))
        load_model(config, EvalConfig(use_cache=use_cache))

    with pytest.raises(UserError, match="max_cost needs the prices") as caught:
        loaded(max_cost=1)
    assert "prices.output" in caught.value.hint
    with pytest.raises(UserError, match="max_cost needs the stored answers"):
        loaded(False, max_cost=1, prices=Prices(0, 1000))
    with pytest.raises(UserError, match="max_requests needs the stored answers"):
        loaded(False, max_requests=1)


def test_it_grows_by_one_after_each_round() -> None:
    pace = Concurrency(6)
    seen = []
    for _ in range(4 + 5 + 6 + 6):
        seen.append(pace.allowed)
        pace.succeed()
    assert seen == [4] * 4 + [5] * 5 + [6] * 12


def test_it_is_halved_once_for_requests_that_were_sent_together() -> None:
    pace = Concurrency(100)
    pace.allowed = 40
    begun = [pace.round for _ in range(40)]
    for each in begun:
        pace.slow_down(each)
    assert pace.allowed == 20
    pace.slow_down(pace.round)
    assert pace.allowed == 10


def test_one_request_is_always_allowed() -> None:
    pace = Concurrency(2)
    assert pace.allowed == 2 < FIRST_PACE
    for _ in range(5):
        pace.slow_down(pace.round)
    assert pace.allowed == 1


def test_no_more_are_sent_at_a_time() -> None:
    with faulty(()) as server:
        asked(server.url, max_concurrency=2)
    assert server.most <= 2


def test_waits_are_measured_with_the_clock_of_the_server() -> None:
    begun, until = "Mon, 01 Jan 2001 00:00:00 GMT", "Mon, 01 Jan 2001 00:00:40 GMT"
    assert seconds_to_wait({"date": begun, "retry-after": until}) == 40
    assert seconds_to_wait({"date": until, "retry-after": begun}) == 0
    assert seconds_to_wait({"retry-after": begun}) == 0 and seconds_to_wait({"date": begun}) is None
    assert seconds_to_wait({"date": "now", "retry-after": "7"}) == 7


async def _work(seen: list[str]) -> None:
    await asyncio.sleep(0)
    seen.append(threading.current_thread().name)


def test_it_runs_where_a_loop_runs_already() -> None:
    seen: list[str] = []

    async def notebook() -> None:
        in_thread(lambda: _work(seen))

    asyncio.run(notebook())
    assert len(seen) == 1 and seen[0] != threading.current_thread().name


def test_errors_are_raised_where_it_is_waited_for() -> None:
    async def broken() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_thread(broken)


def test_an_interrupt_cancels_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled, begun = threading.Event(), threading.Event()

    async def long() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    join = threading.Thread.join

    def interrupted(thread: threading.Thread, timeout: float | None = None) -> None:
        monkeypatch.setattr(threading.Thread, "join", join)
        assert begun.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        in_thread(long)
    assert cancelled.wait(10)
