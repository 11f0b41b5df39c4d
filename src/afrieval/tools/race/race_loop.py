"""The course of a race: at each look, the models that are still in it answer a larger sample.

Nothing is stored but run folders: a race that is continued looks again at the samples that they have.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from afrieval._util.terminal import dollars, note
from afrieval.analysis.race import Race, begun, looked_at
from afrieval.analysis.ranks import Contest
from afrieval.analysis.scores import ByQuestion
from afrieval.languages import LANGUAGES
from afrieval.report.score_tables import unparsed_words
from afrieval.report.values import listed
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tools.race.race_runs import ask, check_same_race, contests, cost_of
from afrieval.tools.race.setup import Course, RaceModel, RaceSetup
from afrieval.tools.race.until import grow


class RaceResult(NamedTuple):
    """How a race ended.

    Attributes:
        races: of each course.
        contests: of each course, at its latest look.
        stopped: why it ended before the last look with models left; empty if it did not.
    """

    races: list[Race]
    contests: list[list[Contest]]
    stopped: str


def run_race(setup: RaceSetup, most_requests: int | None, most_cost: float | None) -> RaceResult:
    """Runs a race until one model is left, all that are left are close, or nothing more may be asked.

    Args:
        setup: the race.
        most_requests: that it may ask, of all models.
        most_cost: in US dollars; models on this machine cost nothing.

    Raises:
        UserError: as for `ask` and `check_same_race`, or if a cost is limited that is not known.
    """
    check_same_race(setup)
    races, latest = [begun(len(setup.models)) for _ in setup.courses], [list[Contest]() for _ in setup.courses]

    def look(name: str, size: int) -> bool:
        for index in [index for index, race in enumerate(races) if not race.is_decided]:
            latest[index] = contests(setup, setup.courses[index], races[index], size)
            before, races[index] = races[index], looked_at(races[index], size, latest[index], setup.margin)
            note(f"{name}, {size:,} questions: {_news(setup, index, before, races[index])}")
            for line in unparsed_words(unparsed_in(setup, [latest[index]])):
                note(line)
        return not all(race.is_decided for race in races)

    stopped = grow(
        setup.sizes,
        lambda size: ask(setup, wanted(setup, races), size),
        look,
        lambda size: too_much(setup, races, size, most_requests, most_cost),
    )
    return RaceResult(races, latest, stopped)


def too_much(
    setup: RaceSetup, races: Sequence[Race], size: int, most_requests: int | None, most_cost: float | None
) -> str:
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
    if most_requests and sum(after.values()) > most_requests:
        return f"the next look would bring the requests to {sum(after.values()):,} (--most-requests {most_requests:,})"
    if most_cost and (cost := sum(cost_of(model, n) for model, n in after.items())) > most_cost:
        return f"the next look would bring the cost to {dollars(cost)} (--most-cost {most_cost:g})"
    return ""


def wanted(setup: RaceSetup, races: Sequence[Race]) -> dict[RaceModel, list[TaskCell]]:
    """Returns the cells of each model at the next look: those of averages in which it may still be the best."""
    cells_of = {}
    for index, model in enumerate(setup.models):
        pairs = zip(setup.courses, races, strict=True)
        test_sets = [
            test_set
            for course, race in pairs
            if index in race.still and not race.is_decided
            for test_set in course.test_sets
        ]
        cells_of[model] = model.cells_of(test_sets)
    return {model: cells for model, cells in cells_of.items() if cells}


def unparsed_in(setup: RaceSetup, contests: Iterable[Sequence[Contest]]) -> dict[tuple[str, str], float]:
    """Returns the highest share of unparsed answers of each model, as far as they are many; with them, none leaves."""
    entries = [(at, of) for of_course in contests for each in of_course for at, of in enumerate(each.entries)]
    shares = [(at, of.unparsed) for at, entry in entries for of in entry.values() if isinstance(of, ByQuestion)]
    models = enumerate(model.name for model in setup.models)
    return {("", name): max([of for at, of in shares if at == n], default=0.0) for n, name in models}


def _news(setup: RaceSetup, course_index: int, before: Race, race: Race) -> str:
    """Returns who leads after a look, and who left, as a sentence."""
    names, best = [model.name for model in setup.models], race.best
    gone = [names[at] for at in before.still if at in race.left]
    leads = f"{names[best]} leads with {race.scores[best]:.1f}"
    left = f"{listed(gone)} left" if gone else "none left"
    return f"{where(setup.courses[course_index])}{leads}; {left}, {len(race.still)} remain"


def where(course: Course) -> str:
    """Returns what precedes a sentence about a course: the name of its language, if it has one."""
    return f"{LANGUAGES[course.language].name}: " if course.language else ""
