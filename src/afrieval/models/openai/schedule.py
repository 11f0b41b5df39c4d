"""Sends many requests at a time: as fast as the server accepts, within the ceilings, again after failures."""

import asyncio
import logging
import math
import random
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.terminal import dollars
from afrieval.config.api_settings import APIConfig
from afrieval.models.base import MAX_COST
from afrieval.models.openai.client import Client
from afrieval.models.openai.failure import Dialect, Failure, Payload
from afrieval.models.openai.parsing import NOTHING, Usage, pair_in, usage_in, usage_of
from afrieval.models.openai.settings import address
from afrieval.scoring.responses import Details

RAISE = "raise it, then run the same command again to continue; all answers are kept"


class Budget:
    """Counts requests, tokens and cost, and holds the ceilings of a server's settings.

    Attributes:
        max_cost_option: the option that set the ceiling of the cost, for messages.
    """

    max_cost_option = MAX_COST

    def __init__(self, api: APIConfig):
        self._prices, self._most, self._most_requests = api.prices, api.max_cost, api.max_requests
        self.requests = self.tokens = self.unknown = 0
        self.spent = self._in_flight = 0.0

    def resume(self, stored: Iterable[Details]) -> None:
        """Counts the answers of earlier sessions."""
        for details in stored:
            usage = usage_in(details)
            requests: Any = details.get("requests")
            cost: Any = details.get("cost")
            self.requests += requests if type(requests) is int and requests >= 0 else 1
            is_stated = type(cost) in (int, float) and 0 < cost < math.inf
            self.spent += cost if is_stated else self._cost(usage or pair_in(details, "at_most"))
            self.spent += self._cost(pair_in(details, "lost"))
            self._count(usage)

    @property
    def has_answers(self) -> bool:
        """Whether the server has answered a request, in this session or an earlier one."""
        return bool(self.tokens or self.unknown)

    def fits(self, worst: Usage) -> bool:
        """Returns whether a request may be sent, whatever it and those in flight cost."""
        affordable = self._most is None or self.spent + self._in_flight + self._cost(worst) <= self._most
        return affordable and (self._most_requests is None or self.requests < self._most_requests)

    def send(self, worst: Usage) -> None:
        """Counts a request that is sent, which may cost a given number of tokens at most."""
        self.requests += 1
        self._in_flight += self._cost(worst)

    def fail(self, worst: Usage, charged: Usage = NOTHING) -> None:
        """Counts a request that failed, and what the server may have charged for it."""
        self._in_flight -= self._cost(worst)
        self.spent += self._cost(charged)

    def answer(self, worst: Usage, usage: Usage | None) -> None:
        """Counts an answer; without stated tokens, the most that it may have cost."""
        self._in_flight -= self._cost(worst)
        self.spent += self._cost(usage or worst)
        self._count(usage)

    def exhausted(self, worst: Usage) -> UserError:
        """Returns the error to show when nothing fits any more, not even a request of so many tokens at most."""
        if self._most_requests is not None and self.requests >= self._most_requests:
            message = f"{self.requests:,} requests were sent, which is model.api.max_requests"
            return UserError(message, RAISE)
        most = f" ({self.unknown:,} answers without a number of tokens count in full)" if self.unknown else ""
        return UserError(
            f"the run folder has cost {dollars(self.spent)}{most}, and the next request may cost "
            f"{dollars(self._cost(worst))}, which would exceed {self.max_cost_option} {dollars(self._most or 0)}",
            RAISE,
        )

    def __str__(self) -> str:
        """Returns the tokens and the cost so far, in words."""
        unknown = f" and {self.unknown:,} answers of unknown length" if self.unknown else ""
        cost = "" if None in (self._prices.input, self._prices.output) else f", {dollars(self.spent)}"
        return f"{self.tokens:,} tokens{unknown}{cost}"

    def _count(self, usage: Usage | None) -> None:
        self.unknown += usage is None
        self.tokens += usage.prompt + usage.completion if usage else 0

    def _cost(self, usage: Usage) -> float:
        return usage.cost(self._prices) or 0.0


FIRST_PACE = 4


class Concurrency:
    """The number of requests that may be in flight.

    Attributes:
        allowed: that number now.
        round: begins anew each time that it is halved; a request belongs to the round that it is sent in.
    """

    def __init__(self, most: int):
        self._most, self.allowed = most, min(FIRST_PACE, most)
        self._succeeded = self.round = 0

    def succeed(self) -> None:
        """Counts an answer; as many as are allowed make a round."""
        self._succeeded += 1
        if self._succeeded >= self.allowed:
            self.allowed, self._succeeded = min(self.allowed + 1, self._most), 0

    def slow_down(self, begun: int) -> None:
        """Halves the number, once for all requests that were sent before the server was known to be overloaded."""
        if begun == self.round:
            self.allowed, self._succeeded = max(1, self.allowed // 2), 0
            self.round += 1


FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds
sleep: Callable[[float], Awaitable[None]] = asyncio.sleep  # tests replace it

log = logging.getLogger("afrieval")

GRACE = 30.0  # seconds for requests in flight after an error: they are paid for


Parse = Callable[[Mapping[str, Any]], Sequence[Any]]


@dataclass
class QueuedRequest:
    """A request to the server.

    Attributes:
        requests: the requests of the harness that it answers.
        path: of the server's function.
        payload: what is sent, before the dialect.
        worst: the most tokens that it may take.
        parse: converts the response to an answer for each of them; raises Failure.
        follow: returns the requests that need its answers, given with what they took.
        before: what requests took that it needed.
        sent: how often it was sent.
        lost: what the server may have charged for when it failed.
        in_flight: whether it waits for a response.
    """

    requests: Sequence[Any]
    path: str
    payload: Payload
    worst: Usage
    parse: Parse
    follow: Callable[[Sequence[Any], Details], "Sequence[QueuedRequest]"] = lambda answers, details: ()
    before: Details = field(default_factory=dict)
    sent: int = 0
    lost: Usage = NOTHING
    in_flight: bool = False


Keep = Callable[[QueuedRequest, Sequence[Any], Details], Sequence[QueuedRequest]]
Running = dict["asyncio.Task[Sequence[QueuedRequest] | None]", QueuedRequest]


class Asking:
    """Asks a server."""

    def __init__(self, api: APIConfig, dialect: Dialect):
        self.budget = Budget(api)
        self._api, self._dialect, self._pace = api, dialect, Concurrency(api.max_concurrency)
        self._draw = random.Random()  # the global random numbers belong to the evaluated model
        self._answered = self._ends = self._warned = False
        self._too_long: list[tuple[QueuedRequest, Failure]] = []

    async def ask(self, jobs: Sequence[QueuedRequest], keep: Keep) -> None:
        """Asks for answers, in order; hands over each as it comes, with tokens, cost and number of requests.

        Prompts that are too long for the server come last, without an answer: if all are, a setting is wrong.

        Raises:
            UserError: for a ceiling, or the first request without an answer, once those in flight have theirs.
        """
        self._ends, running = False, Running()
        self._too_long = []
        async with Client(self._api) as client:
            try:
                await self._ask(client, deque(jobs), running, keep)
                for job, failure in self._too_long:
                    try:
                        answer = job.parse(failure.response)
                    except Failure:  # likelihoods of whole texts cannot be compared if some are missing
                        raise failure from None
                    if not self.budget.has_answers:
                        raise failure
                    keep(job, answer, {**NOTHING.details, "requests": job.sent})
            except Failure as failure:
                self._ends = True
                for task, job in running.items():
                    if not job.in_flight:  # waits to be sent again
                        task.cancel()
                await asyncio.wait(running, timeout=GRACE) if running else None
                raise failure.error(address(self._api)) from None
            finally:
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)

    async def _ask(
        self,
        client: Client,
        waiting: deque[QueuedRequest],
        running: Running,
        keep: Keep,
    ) -> None:
        blocked = False
        while waiting or running:
            while waiting and not blocked and len(running) < self._pace.allowed:
                job = waiting.popleft()
                running[asyncio.create_task(self._answer(client, job, keep))] = job
            if not running:
                raise self.budget.exhausted(waiting[0].worst)
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            crowded = [task for task in done if not task.exception() and task.result() is None]
            waiting.extendleft(running.pop(task) for task in crowded)
            for task in done & running.keys():
                del running[task]
                waiting.extendleft(reversed(task.result() or ()))
            blocked = len(crowded) == len(done)

    async def _answer(self, client: Client, job: QueuedRequest, keep: Keep) -> Sequence[QueuedRequest] | None:
        """Sends a request, again after failures that may pass, and hands over its answers; returns those that follow.

        All clients wait for random times, so that they do not come back together. None is for a request that may exceed
        a ceiling now; it may not later, if those in flight cost less than they may.
        """
        repeated = 0
        while True:
            try:
                answered = await self._try(client, job)
                break
            except Failure as failure:
                if failure.too_long:
                    if not self._too_long:
                        log.warning("a question is too long for the server, and stays unanswered: %s", failure)
                    self._too_long.append((job, failure))
                    return ()
                is_there = self._answered or not failure.unreachable
                if repeated == self._api.max_retries or not failure.passes or self._ends or not is_there:
                    raise
                if not self._warned:
                    log.warning("a request failed, and is repeated: %s; further failures are not shown", failure)
                self._warned = True
                most = min(FIRST_WAIT * 2**repeated, LONGEST_WAIT)
                await sleep((failure.wait or 0.0) + self._draw.uniform(0, most))
            repeated += 1
        return keep(job, *answered) if answered else None

    async def _try(self, client: Client, job: QueuedRequest) -> tuple[Sequence[Any], Details] | None:
        """Sends a request once, or again if the server refuses a parameter; returns None if it may exceed a ceiling."""
        while True:
            if not self.budget.fits(job.worst):
                return None
            begun, payload = self._pace.round, self._dialect.spoken(job.payload)
            self.budget.send(job.worst)
            job.sent += 1
            job.in_flight = True
            try:
                response = await client.post(job.path, payload)
                answer = job.parse(response)
            except Failure as failure:
                # some servers charge for reading a prompt that they reject
                charged = Usage(job.worst.prompt, 0) if failure.filtered else job.worst if failure.may_cost else NOTHING
                self.budget.fail(job.worst, charged)
                if failure.slow_down:
                    self._pace.slow_down(begun)
                if failure.filtered:
                    return job.parse(failure.response), self._details(job, None, charged)
                job.lost = Usage(job.lost.prompt + charged.prompt, job.lost.completion + charged.completion)
                if not self._dialect.learns(failure, payload, job.payload):
                    raise
            except BaseException:  # a signal
                self.budget.fail(job.worst, job.worst)
                raise
            else:
                self._answered = True
                self._pace.succeed()
                usage = usage_of(response)
                self.budget.answer(job.worst, usage)
                return answer, self._details(job, usage, job.worst)
            finally:
                job.in_flight = False

    def _details(self, job: QueuedRequest, usage: Usage | None, most: Usage) -> Details:
        """Returns the tokens and cost of an answer; the most that they may be if the server states none."""
        tokens = usage.details if usage else {"at_most": [most.prompt, most.completion]}
        cost = usage.cost(self._api.prices) if usage else None
        lost = {} if job.lost == NOTHING else {"lost": [job.lost.prompt, job.lost.completion]}
        return {**tokens, **({} if cost is None else {"cost": cost}), **lost, "requests": job.sent}


POLL, THREAD_GRACE = 0.5, 2.0  # seconds


def in_thread(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a coroutine to its end, and raises its error; if interrupted, cancels it and closes its connections."""
    ended, loop = Future[None](), asyncio.new_event_loop()

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(work())
        except BaseException as e:  # raised again where it is waited for
            ended.set_exception(e)
        else:
            ended.set_result(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while not ended.done():
            thread.join(POLL)
    except BaseException:
        with suppress(RuntimeError):  # it has ended in the meantime
            loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        thread.join(THREAD_GRACE)
        raise
    ended.result()
