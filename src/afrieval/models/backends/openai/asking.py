"""Asks a server for many answers at a time: as fast as it accepts, within the ceilings, again after failures."""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from afrieval.config.api import APIConfig
from afrieval.models.backends.openai.budget import Budget
from afrieval.models.backends.openai.client import Client
from afrieval.models.backends.openai.dialect import Dialect, Payload
from afrieval.models.backends.openai.failure import Failure
from afrieval.models.backends.openai.key import address
from afrieval.models.backends.openai.pace import Pace
from afrieval.models.backends.openai.retries import retrying
from afrieval.models.backends.openai.usage import NOTHING, Usage, usage_of
from afrieval.scoring.detailed import Details

log = logging.getLogger("afrieval")

GRACE = 30.0  # seconds for requests in flight after an error: they are paid for


Parse = Callable[[Mapping[str, Any]], Sequence[Any]]


@dataclass
class Job:
    """A request.

    Attributes:
        requests: those of the harness that it answers.
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
    follow: Callable[[Sequence[Any], Details], "Sequence[Job]"] = lambda given, details: ()
    before: Details = field(default_factory=dict)
    sent: int = 0
    lost: Usage = NOTHING
    in_flight: bool = False


Keep = Callable[[Job, Sequence[Any], Details], Sequence[Job]]


class _NoRoom(Exception):
    """A request may exceed a ceiling now; it may not later, if those in flight cost less than they may."""


class Asking:
    """Asks a server.

    Args:
        api: its settings.
        dialect: which parameters it understands.
        draw: random numbers for waiting times.
    """

    def __init__(self, api: APIConfig, dialect: Dialect, draw: random.Random):
        self.budget = Budget(api)
        self._api, self._dialect, self._draw, self._pace = api, dialect, draw, Pace(api.max_concurrency)
        self._answered = self._ends = self._told = False

    async def ask(self, jobs: Sequence[Job], keep: Keep) -> None:
        """Asks for answers, in order; hands over each as it comes, with tokens, cost and number of requests.

        Args:
            jobs: the requests.
            keep: stores an answer; returns further requests that need it.

        Raises:
            UserError: for a ceiling, or the first request without an answer, once those in flight have theirs.
        """
        self._ends, running = False, dict[asyncio.Task[Sequence[Job]], Job]()
        async with Client(self._api) as client:
            try:
                await self._ask(client, deque(jobs), running, keep)
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
        self, client: Client, waiting: deque[Job], running: dict[asyncio.Task[Sequence[Job]], Job], keep: Keep
    ) -> None:
        blocked = False
        while waiting or running:
            while waiting and not blocked and len(running) < self._pace.allowed:
                job = waiting.popleft()
                running[asyncio.create_task(self._answer(client, job, keep))] = job
            if not running:
                raise self.budget.exhausted(waiting[0].worst)
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            crowded = [(running.pop(task), task) for task in done if isinstance(task.exception(), _NoRoom)]
            waiting.extendleft(job for job, _ in crowded)
            for task in done & running.keys():
                del running[task]
                waiting.extendleft(reversed(task.result()))
            blocked = len(crowded) == len(done)

    async def _answer(self, client: Client, job: Job, keep: Keep) -> Sequence[Job]:
        repeat = retrying(self._api.max_retries, self._draw, self._repeats)
        answered: tuple[Sequence[Any], Details] = await repeat(self._try, client, job)
        return keep(job, *answered)

    def _repeats(self, failure: Failure) -> bool:
        """Returns whether a failed request is repeated; a server that never answered is not there."""
        repeats = not self._ends and (self._answered or not failure.unreachable)
        if repeats and self._api.max_retries and not self._told:
            self._told = True
            log.warning("a request failed, and is repeated: %s; further failures are not shown", failure)
        return repeats

    async def _try(self, client: Client, job: Job) -> tuple[Sequence[Any], Details]:
        """Sends a request once, or again if the server refuses a parameter."""
        while True:
            if not self.budget.fits(job.worst):
                raise _NoRoom
            begun, payload = self._pace.begin(), self._dialect.spoken(job.payload)
            self.budget.send(job.worst)
            job.sent += 1
            job.in_flight = True
            try:
                response = await client.post(job.path, payload)
                answer = job.parse(response)
            except Failure as failure:
                charged = self._charged(job, failure)
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

    @staticmethod
    def _charged(job: Job, failure: Failure) -> Usage:
        """Returns what the server may have charged for; some charge for reading a prompt that they reject."""
        if failure.filtered:
            return Usage(job.worst.prompt, 0)
        return job.worst if failure.may_cost else NOTHING

    def _details(self, job: Job, usage: Usage | None, most: Usage) -> Details:
        """Returns what is known of an answer's tokens and cost; the most that they may be if the server states none."""
        known = usage.details if usage else {"at_most": [most.prompt, most.completion]}
        cost = usage.cost(self._api.prices) if usage else None
        lost = {} if job.lost == NOTHING else {"lost": [job.lost.prompt, job.lost.completion]}
        return {**known, **({} if cost is None else {"cost": cost}), **lost, "requests": job.sent}
