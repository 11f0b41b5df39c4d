"""What a race has asked, and what the next look would add to it."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.terminal import dollars
from afrieval.analysis.race import Race
from afrieval.models.registry import backend_of
from afrieval.scoring.statistics.looks import FIRST
from afrieval.tools.race.race_runs import Runs
from afrieval.tools.race.setup import RaceModel, RaceSetup, sampled


class Limits(NamedTuple):
    """The most that a race may take.

    Attributes:
        requests: of all models.
        cost: in US dollars; models on this machine cost nothing.
    """

    requests: int | None = None
    cost: float | None = None


def too_much(setup: RaceSetup, runs: Runs, races: Sequence[Race], size: int, limits: Limits) -> str:
    """Returns why the next look would take more than a race may; empty if it would not.

    Raises:
        UserError: if the cost is limited, but the prices of a model are not known.
    """
    after = {
        model: sum(
            model.requests(course.test_sets, race.sample_of(at) if at in race.left or race.is_decided else size)
            for course, race in zip(setup.courses, races, strict=True)
        )
        for at, model in enumerate(setup.models)
    }
    if limits.requests and sum(after.values()) > limits.requests:
        return (
            f"the next look would bring the requests to {sum(after.values()):,} (--most-requests {limits.requests:,})"
        )
    if limits.cost and (cost := sum(cost_of(model, runs, n) for model, n in after.items())) > limits.cost:
        return f"the next look would bring the cost to {dollars(cost)} (--most-cost {limits.cost:g})"
    return ""


def cost_of(model: RaceModel, runs: Runs, requests: int = 0) -> float:
    """Returns what a model has cost, and is expected to cost in all when it has had so many requests.

    A request costs as much as those before; before the first one, as much as a plan says that it may.
    """
    stored = runs.stored(model)
    cost = sum(cell.usage.get("cost", 0.0) for cell in stored.values())
    had = sum(sampled(cell, stored[cell.name].rows).n_requests for cell in model.cells if cell.name in stored)
    if requests <= had:
        return cost
    return cost + (requests - had) * (cost / had if cost else most_per_request(model))


@cache
def most_per_request(model: RaceModel) -> float:
    """Returns the most that a request to a model is planned to cost; 0 on this machine.

    Raises:
        UserError: if its prices are not known.
    """
    if backend_of(model.session.config.model.model_type).local:
        return 0.0
    from afrieval.tools.plan.counting import total  # takes seconds, and most races need none of it
    from afrieval.tools.plan.plan import estimate
    from afrieval.tools.plan.tables import costs, prices_of

    if not (prices := prices_of(model.session.config.model)):
        hint = "add api: {prices: {input: X, output: Y}} to its model file, or give --most-requests"
        raise UserError(f"--most-cost is given, but the prices of {model.name} are not known", hint)
    size = total(estimate(model.session, [sampled(cell, FIRST) for cell in model.cells]).sizes)
    return sum(costs(size, prices)) / max(size.requests, 1)
