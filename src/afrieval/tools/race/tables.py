"""The tables of a race: where each model ended and what it was asked, and what a race would ask at most."""

from collections.abc import Sequence
from typing import Any

from afrieval._util.terminal import dollars
from afrieval.analysis.race import Race
from afrieval.analysis.ranks import PERCENT, Contest
from afrieval.analysis.uncertainty import interval_of
from afrieval.report.columns import Column
from afrieval.report.score_tables import unparsed_words
from afrieval.report.table import Table
from afrieval.report.values import listed
from afrieval.tools.race.race_loop import RaceResult, unparsed_in, where
from afrieval.tools.race.race_runs import cost_of, most_per_request
from afrieval.tools.race.setup import Course, RaceSetup

SHARE = Column("% of all", "score", "share")
HOLDS = (
    "Scores are in percent. Ranks and intervals hold at all looks together in 95 % of races; they are about these "
    "languages, not about others."
)


def race_table(setup: RaceSetup, outcome: RaceResult) -> Table:
    """Returns a row per model: its score, rank, questions and outcome."""
    by_language = bool(setup.courses[0].language)
    columns = [Column("language", "language" if by_language else "hidden"), Column("model")]
    columns += [Column("score", "score", bounds=PERCENT), Column("95 % interval", "interval", "interval", PERCENT)]
    columns += [Column("rank", "rank"), Column("questions", "amount", says="of each cell, or fewer if it has no more")]
    columns += [Column("requests", "amount"), SHARE, Column("outcome")]
    rows, verdicts, ends = list[list[Any]](), list[str](), list[int]()
    for course, race, contests in zip(setup.courses, outcome.races, outcome.contests, strict=True):
        of_all = [(index in race.left, index != race.best, -score, index) for index, score in enumerate(race.scores)]
        rows += [_row(setup, course, race, contests, index) for *_, index in sorted(of_all)]
        ends += [len(rows) - 1] if by_language else []
        verdicts += [where(course) + verdict(setup, race, outcome.stopped)]
    title = f"Race: {listed([*setup.models[0].options])}{' in each language' if by_language else ''}"
    notes = [HOLDS, *unparsed_words(unparsed_in(setup, outcome.contests))]
    return Table("race", title, columns, rows, notes, [*verdicts, _taken(setup, rows)], ends=ends)


def _row(setup: RaceSetup, course: Course, race: Race, contests: Sequence[Contest], index: int) -> list[Any]:
    model, score, sample = setup.models[index], race.scores[index], race.sample_of(index)
    shares = [each.share(index) for each in contests]
    requests, whole = (model.requests(course.test_sets, size) for size in (sample, setup.rows))
    outcome = f"left at {sample:,}" if index in race.left else "best" if race.still == [index] else "may be the best"
    leading = [course.language, model.name, score, interval_of(shares, drawn=False), race.ranks[index]]
    return [*leading, sample, requests, requests / whole, outcome]


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


def _taken(setup: RaceSetup, rows: Sequence[Sequence[Any]]) -> str:
    """Returns the requests and the cost of a race, as a sentence."""
    requests = sum(row[-3] for row in rows)
    whole = sum(model.requests(course.test_sets, setup.rows) for model in setup.models for course in setup.courses)
    cost = sum(map(cost_of, setup.models))
    price = f", for {dollars(cost)}" if cost else ""
    return f"Requests: {requests:,} of {whole:,} ({100 * requests / whole:.0f} %){price}."


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
