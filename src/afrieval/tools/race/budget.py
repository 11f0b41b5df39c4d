"""What a race has asked, what the next look would add to it, and what all questions to all models would be."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from afrieval._util.errors import UserError
from afrieval._util.terminal import dollars
from afrieval.analysis.race import Race
from afrieval.models.registry import backend_of
from afrieval.scoring.statistics.looks import FIRST
from afrieval.tools.race.race_runs import Runs
from afrieval.tools.race.setup import RaceModel, RaceSetup, sampled


@dataclass(frozen=True)
class Limits:
    """The most that a race may take.

    Attributes:
        requests: of all models.
        cost: in US dollars, of the models whose prices are known; others on this machine cost nothing.
    """

    requests: int | None = None
    cost: float | None = None


def check_prices(models: Sequence[RaceModel], limits: Limits) -> None:
    """Refuses a limit of the cost of a race whose models have unknown prices."""
    for model in models if limits.cost else ():
        if not backend_of(model.session.config.model.model_type).local and not model.is_priced:
            hint = "add api: {prices: {input: X, output: Y}} to its model file, or give --most-requests"
            raise UserError(f"--most-cost is given, but the prices of {model.name} are not known", hint)


def requests_of(setup: RaceSetup, races: Sequence[Race], at: int, size: int | None = None) -> int:
    """Returns how many requests a model has had; with the size of a sample, how many it has after that look."""
    found = 0
    for course, race in zip(setup.courses, races, strict=True):
        goes_on = size is not None and at in race.still and not race.is_decided
        found += setup.models[at].requests(course.places, size if goes_on and size else race.sample_of(at))
    return found


def too_much(setup: RaceSetup, runs: Runs, races: Sequence[Race], size: int, limits: Limits) -> str:
    """Returns why the next look would take more than a race may; empty if it would not."""
    after = [requests_of(setup, races, at, size) for at in range(len(setup.models))]
    if limits.requests and sum(after) > limits.requests:
        return f"the next look would bring the requests to {sum(after):,} (--most-requests {limits.requests:,})"
    if not limits.cost:
        return ""
    cost = sum(cost_of(model, runs, requests) for model, requests in zip(setup.models, after, strict=True))
    return f"the next look would bring the cost to {dollars(cost)} (--most-cost {limits.cost:g})" * (cost > limits.cost)


def cost_of(model: RaceModel, runs: Runs, requests: int = 0) -> float:
    """Returns what a model has cost, and is expected to cost in all when it has had so many requests.

    A request costs as much as those before; before the first one, as much as a plan says that it may.
    """
    stored = runs.stored(model)
    cost = sum(cell.usage.get("cost", 0.0) for cell in stored)
    rows = {cell.name: cell.rows for cell in stored}
    had = sum(sampled(c, rows[c.name]).n_requests for of in model.cells.values() for c in of if c.name in rows)
    return cost + max(0, requests - had) * (cost / had if cost else most_per_request(model))


@cache
def most_per_request(model: RaceModel) -> float:
    """Returns the most that a request to a model is planned to cost; 0 if its prices are not known."""
    if not model.is_priced:
        return 0.0
    from afrieval.tools.plan.counting import total  # takes seconds, and most races need none of it
    from afrieval.tools.plan.plan import estimate
    from afrieval.tools.plan.tables import costs, prices_of

    size = total(estimate(model.session, [sampled(cell, FIRST) for of in model.cells.values() for cell in of]).sizes)
    prices = prices_of(model.session.config.model)
    return sum(costs(size, prices)) / max(size.requests, 1) if prices else 0.0
