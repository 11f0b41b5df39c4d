"""The course of a race, and its tables: at each look, the models that are still in it answer a larger sample.

Nothing is stored but run folders: a race that is continued looks again at the samples that they have.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from afrieval._util.terminal import dollars, note
from afrieval.analysis.race import Race, begun, looked_at
from afrieval.analysis.ranks import PERCENT
from afrieval.analysis.scores import ByQuestion
from afrieval.analysis.uncertainty import interval_of
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column
from afrieval.report.score_tables import unparsed_words
from afrieval.report.table import Table
from afrieval.report.values import listed
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tools.race.race_runs import ask, check_same_race, contests, cost_of, most_per_request
from afrieval.tools.race.setup import Course, RaceModel, RaceSetup
from afrieval.tools.race.until import grow

SHARE = Column("% of all", "score", "share")
HOLDS = (
    "Scores are in percent. Ranks and intervals hold at all looks together in 95 % of races; they are about these "
    "languages, not about others."
)


def run_race(setup: RaceSetup, most_requests: int | None, most_cost: float | None) -> tuple[list[Race], str]:
    """Runs a race until one model is left, all that are left are close, or nothing more may be asked.

    Returns the race of each course, and why they ended before the last look with models left; empty if they did not.

    Args:
        setup: the race.
        most_requests: that it may ask, of all models.
        most_cost: in US dollars; models on this machine cost nothing.

    Raises:
        UserError: as for `ask` and `check_same_race`, or if a cost is limited that is not known.
    """
    check_same_race(setup)
    races = [begun(len(setup.models)) for _ in setup.courses]

    def look(name: str, size: int) -> bool:
        for index in [index for index, race in enumerate(races) if not race.is_decided]:
            before, course, names = races[index], setup.courses[index], [model.name for model in setup.models]
            race = races[index] = looked_at(before, size, contests(setup, course, before, size), setup.margin)
            gone = [names[at] for at in before.still if at in race.left]
            leads = f"{names[race.best]} leads with {race.scores[race.best]:.1f}"
            left = f"{listed(gone) if gone else 'none'} left, {len(race.still)} remain"
            note(f"{name}, {size:,} questions: {where(course)}{leads}; {left}")
            for line in unparsed_words(unparsed_in(setup, [race])):
                note(line)
        return not all(race.is_decided for race in races)

    stopped = grow(
        setup.sizes,
        lambda size: ask(setup, wanted(setup, races), size),
        look,
        lambda size: too_much(setup, races, size, most_requests, most_cost),
    )
    return races, stopped


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


def unparsed_in(setup: RaceSetup, races: Iterable[Race]) -> dict[tuple[str, str], float]:
    """Returns the highest share of unparsed answers of each model, as far as they are many; with them, none leaves."""
    entries = [(at, of) for race in races for each in race.contests for at, of in enumerate(each.entries)]
    shares = [(at, of.unparsed) for at, entry in entries for of in entry.values() if isinstance(of, ByQuestion)]
    models = enumerate(model.name for model in setup.models)
    return {("", name): max([of for at, of in shares if at == n], default=0.0) for n, name in models}


def where(course: Course) -> str:
    """Returns what precedes a sentence about a course: the name of its language, if it has one."""
    return f"{LANGUAGES[course.language].name}: " if course.language else ""


def race_table(setup: RaceSetup, races: Sequence[Race], stopped: str) -> Table:
    """Returns a row per model: its score, rank, questions and outcome."""
    by_language = bool(setup.courses[0].language)
    columns = [Column("language", "language" if by_language else "hidden"), Column("model")]
    columns += [Column("score", "score", bounds=PERCENT), Column("95 % interval", "interval", "interval", PERCENT)]
    columns += [Column("rank", "rank"), Column("questions", "amount", says="of each cell, or fewer if it has no more")]
    columns += [Column("requests", "amount"), SHARE, Column("outcome")]
    rows, verdicts, ends = list[list[Any]](), list[str](), list[int]()
    for course, race in zip(setup.courses, races, strict=True):
        of_all = [(index in race.left, index != race.best, -score, index) for index, score in enumerate(race.scores)]
        for *_, index in sorted(of_all):
            model, sample, has_left = setup.models[index], race.sample_of(index), index in race.left
            shares = [each.share(index) for each in race.contests]
            requests, whole = (model.requests(course.test_sets, size) for size in (sample, setup.rows))
            interval = interval_of(shares, drawn=False)
            outcome_of = f"left at {sample:,}" if has_left else "best" if race.still == [index] else "may be the best"
            leading = [course.language, model.name, race.scores[index], interval, race.ranks[index]]
            rows.append([*leading, sample, requests, requests / whole, outcome_of])
        ends += [len(rows) - 1] if by_language else []
        verdicts += [where(course) + verdict(setup, race, stopped)]
    requests = sum(row[-3] for row in rows)
    whole = sum(model.requests(course.test_sets, setup.rows) for model in setup.models for course in setup.courses)
    cost = sum(map(cost_of, setup.models))
    price = f", for {dollars(cost)}" if cost else ""
    verdicts.append(f"Requests: {requests:,} of {whole:,} ({100 * requests / whole:.0f} %){price}.")
    title = f"Race: {listed([*setup.models[0].options])}{' in each language' if by_language else ''}"
    notes = [HOLDS, *unparsed_words(unparsed_in(setup, races))]
    return Table("race", title, columns, rows, notes, verdicts, ends=ends)


def verdict(setup: RaceSetup, race: Race, stopped: str) -> str:
    """Returns the verdict of a race, as a sentence."""
    if not race.scores:
        return f"Nothing was asked: {stopped}."
    names = [model.name for model in setup.models]
    best, gone = names[race.best], [names[at] for at in race.left]
    others = [names[at] for at in race.still if at != race.best]
    if not others:
        return f"{best} is the best: {listed(gone)} {'are' if gone[1:] else 'is'} worse."
    if race.is_decided:
        points = f"{setup.margin:g} point{'s' * (setup.margin != 1)}"
        return f"{best} leads; {listed(others)} {'are' if others[1:] else 'is'} less than {points} behind."
    questions = "all" if race.size >= setup.rows else f"{race.size:,}"
    why = stopped or f"{questions} questions were asked"
    return f"{best} leads, but {' or '.join(others)} may be the best: {why}."


def looks_table(setup: RaceSetup) -> Table:
    """Returns the requests and costs of each look, if no model leaves."""
    test_sets = [test_set for course in setup.courses for test_set in course.test_sets]
    costs = [most_per_request(model) or 0.0 for model in setup.models]
    columns = [Column("questions", "amount"), Column("requests", "amount"), SHARE]
    columns += [Column("cost", "money" if any(costs) else "hidden")]
    of_looks = [[model.requests(test_sets, size) for model in setup.models] for size in (*setup.sizes, setup.rows)]
    whole = sum(of_looks.pop())
    rows = [
        [size, sum(of), sum(of) / whole, sum(n * cost for n, cost in zip(of, costs, strict=True))]
        for size, of in zip(setup.sizes, of_looks, strict=True)
    ]
    notes = ["Each look includes those before. A model that leaves is asked nothing more, so that a race takes less."]
    return Table("race-looks", "Looks of the race, at most", columns, rows, notes)
