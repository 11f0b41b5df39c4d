"""The tables of a race: where each model ended and what it was asked, and what a race would ask at most."""

from collections.abc import Sequence
from typing import Any

from afrieval.analysis.race import Race
from afrieval.analysis.ranks import PERCENT, Contest
from afrieval.analysis.uncertainty import TaskWeight, interval_of
from afrieval.report.columns import Column
from afrieval.report.table import Table
from afrieval.report.values import listed
from afrieval.tools.plan.tables import prices_of
from afrieval.tools.race.asking import Runs
from afrieval.tools.race.budget import cost_of, most_per_request
from afrieval.tools.race.race import RaceResult, language_of
from afrieval.tools.race.setup import RaceSetup

HOLDS = "Intervals and ranks hold at all looks together in 95 % of races, in these languages, not in others."


def race_tables(setup: RaceSetup, found: RaceResult) -> list[Table]:
    """Returns where all models ended, and what each was asked."""
    return [_results(setup, found), _asked(setup, found)]


def _results(setup: RaceSetup, found: RaceResult) -> Table:
    by_language = bool(setup.courses[0].language)
    columns = [Column("language", "language" if by_language else "hidden"), Column("model")]
    columns += [Column("score", "score", bounds=PERCENT), Column("95 % interval", "interval", "interval", PERCENT)]
    columns += [Column("rank", "rank"), Column("questions", "amount", says="of each language and prompt, at most")]
    columns += [Column("outcome")]
    rows, verdicts, ends = [], list[str](), list[int]()
    for course, race, contests in zip(setup.courses, found.races, found.contests, strict=True):
        if race.latest is None:
            continue
        order = sorted(range(len(setup.models)), key=lambda at: (race.ranks[at], -race.latest.scores[at]))  # type: ignore[union-attr]
        rows += [[course.language, *_row(setup, race, contests, at)] for at in order]
        ends += [len(rows) - 1] if by_language else []
        verdicts += [f"{f'{language_of(course)}: ' if by_language else ''}{verdict(setup, race, found.stopped)}"]
    title = f"Race: {listed([*setup.courses[0].weights])}" if not by_language else "Race in each language"
    return Table("race", title, columns, rows, [HOLDS], verdicts or [f"Nothing was asked: {found.stopped}."], ends=ends)


def _row(setup: RaceSetup, race: Race, contests: Sequence[Contest], at: int) -> list[Any]:
    assert race.latest is not None
    score = race.latest.scores[at]
    shares = [TaskWeight(each.weight, each.data, each.entries[at]) for each in contests]
    interval, asked = interval_of(score, shares, drawn=False), race.sample_of(at)
    best = race.still == [at]
    outcome = f"left at {asked:,}" if at in race.left else "best" if best else "may be the best"
    return [setup.models[at].name, score, interval, race.ranks[at], asked, outcome]


def verdict(setup: RaceSetup, race: Race, stopped: str) -> str:
    """Returns what a race found, as a sentence."""
    assert race.latest is not None
    names = [model.name for model in setup.models]
    best, gone = names[race.latest.best], [names[at] for at in race.left]
    still = [names[at] for at in race.still]
    others = [name for name in still if name != best]
    if not others:
        return f"{best} is the best: {listed(gone)} {'are' if gone[1:] else 'is'} worse."
    if race.is_decided:
        return (
            f"{listed(others)} {'are' if others[1:] else 'is'} within {setup.margin:g} points of {best}, which leads."
        )
    why = (
        f"all {setup.rows:,} questions were asked" if race.size >= setup.rows else f"{race.size:,} questions were asked"
    )
    return f"{listed(still)} may each be the best, and {best} leads: {stopped or why}."


def _asked(setup: RaceSetup, found: RaceResult) -> Table:
    """Returns what each model was asked, of all that it could have been."""
    runs = Runs(setup)
    priced = any(prices_of(model.session.config.model) for model in setup.models)
    rows = []
    for at, model in enumerate(setup.models):
        asked, whole = _requests(setup, found.races, at)
        rows.append([model.name, asked, asked / whole, cost_of(model, runs) if priced else None])
    asked, whole = (sum(_requests(setup, found.races, at)[i] for at in range(len(setup.models))) for i in range(2))
    columns = [Column("model"), Column("requests", "amount"), Column("of all", "score", "share")]
    columns += [Column("cost", "money")] if priced else []
    says = f"In all, {asked:,} of {whole:,} requests were needed ({100 * asked / whole:.0f} %)."
    return Table("race-requests", "What the race asked", columns, [row[: len(columns)] for row in rows], [], [says])


def _requests(setup: RaceSetup, races: Sequence[Race], at: int) -> tuple[int, int]:
    """Returns how many requests a model has had, and how many whole test sets have."""
    model = setup.models[at]
    asked = sum(model.requests(c.places, race.sample_of(at)) for c, race in zip(setup.courses, races, strict=True))
    return asked, sum(model.requests(course.places, setup.rows) for course in setup.courses)


def looks_table(setup: RaceSetup) -> Table:
    """Returns what a race asks at most, if no model leaves."""
    places = [place for course in setup.courses for place in course.places]
    columns = [Column("questions", "amount"), Column("requests", "amount"), Column("of all", "score", "share")]
    priced = any(prices_of(model.session.config.model) for model in setup.models)
    columns += [Column("cost", "money")] if priced else []
    whole = sum(model.requests(places, setup.rows) for model in setup.models)
    rows = []
    for size in setup.sizes:
        of_models = {model: model.requests(places, size) for model in setup.models}
        requests = sum(of_models.values())
        cost = sum(n * most_per_request(model) for model, n in of_models.items()) if priced else 0.0
        rows.append([size, requests, requests / whole, cost][: len(columns)])
    n = len({place for place in places})
    says = f"{len(setup.models)} models on {n} pairs of task and language, which are asked up to {setup.sizes[-1]:,} questions."
    notes = ["If no model left; each that leaves is asked nothing more. Numbers include the looks before."]
    return Table("race-looks", "Looks of the race", columns, rows, notes, [says])
