"""Leaderboards: entrants by their mean over pairs of task and language, all over the same pairs."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from afrieval.analysis.averages import RULES, interval_of, is_african
from afrieval.analysis.entrants import Entrant, TaskEntries, tasks_with_entries
from afrieval.analysis.gathered import Gathered, LeftOut
from afrieval.analysis.pairs import Contest
from afrieval.analysis.ranks import Rank, ranks
from afrieval.analysis.widths import Scores, Share, Stated, half_width
from afrieval.grouping import grouped
from afrieval.languages import LANGUAGES
from afrieval.results.schema import RunRecord
from afrieval.statistics.intervals import Interval

Pair = tuple[str, str]  # task and language
LEAST = 3  # languages of a family with an average: the interval of a mean over two says nothing
OTHER = "other"  # family of languages that the suite does not have


class Standing(NamedTuple):
    """An entrant's place.

    Attributes:
        score: in percent of the metrics' ranges; of a single task on its metric's scale.
        rank: None if it is over other pairs than the board, or its error is not known.
        pairs: how many of all pairs it has.
        whole: whether its score is over the pairs of the board; if not, it is over those that it has.
        n: the smallest number of documents in a pair; None if it is not known.
    """

    entrant: Entrant
    score: float
    interval: Interval | None
    rank: Rank | None
    pairs: int
    whole: bool
    n: int | None


@dataclass(frozen=True)
class Board:
    """Entrants, the best first; those that lack some pair of the board are last.

    Attributes:
        name: such as `suite`; unique.
        pairs: those averaged over.
        of: number of pairs of any entrant.
    """

    name: str
    pairs: list[Pair]
    of: int
    standings: list[Standing]

    @property
    def tasks(self) -> list[str]:
        """The tasks averaged over."""
        return list(dict.fromkeys(task for task, _ in self.pairs))

    @property
    def languages(self) -> list[str]:
        """The languages averaged over, sorted."""
        return sorted({language for _, language in self.pairs})

    @property
    def first(self) -> list[Standing]:
        """Those that may be the best: the first, and all that cannot be told apart from the best rank."""
        ranked = [standing for standing in self.standings if standing.rank]
        return [standing for standing in ranked if standing.rank and standing.rank.first == 1]


@dataclass(frozen=True)
class Leaderboard:
    """All boards.

    Attributes:
        averages: over tasks, by name.
        languages: of each language, the mean over tasks.
        pairs: of each task and language.
        means: of each task, the mean over African languages.
        records: model to its runs, as in `Gathered`.
        left_out: what is not shown, as in `Gathered`.
    """

    tasks: list[TaskEntries]
    averages: list[Board]
    languages: dict[str, Board]
    pairs: dict[Pair, Board]
    means: dict[str, Board]
    records: dict[str, list[tuple[str, RunRecord]]]
    left_out: list[LeftOut]

    @property
    def entrants(self) -> list[Entrant]:
        """All entrants, sorted."""
        every = {entrant for task in self.tasks for entrant in task.entries}
        return sorted(every, key=lambda entrant: tuple(map(str, entrant)))

    @property
    def order(self) -> list[Entrant]:
        """All entrants in the order of the first average; those without one are last."""
        first = [standing.entrant for average in self.averages[:1] for standing in average.standings]
        return list(dict.fromkeys([*first, *self.entrants]))

    @property
    def models(self) -> list[str]:
        """All models, sorted."""
        return sorted({entrant.model for entrant in self.entrants})


def leaderboard(given: Gathered) -> Leaderboard:
    """Returns all boards of what was gathered."""
    tasks = tasks_with_entries(given)
    codes = sorted({code for task in tasks for code in task.languages})
    return Leaderboard(
        tasks,
        averages(tasks),
        {code: found for code in codes if (found := of_language(tasks, code)).standings},
        {(task.task, code): of_pair(task, code) for task in tasks for code in task.languages},
        {task.task: of_task(task) for task in tasks},
        given.records,
        given.left_out,
    )


def averages(tasks: Sequence[TaskEntries]) -> list[Board]:
    """Returns the averages over tasks by name: suite, afrobench, and one per family of African languages."""
    found = [board(tasks, name, RULES[name].includes, RULES[name].best) for name in ("suite", "afrobench")]
    african = [code for task in tasks for code in task.languages if is_african(code)]
    for family, codes in sorted(grouped(dict.fromkeys(african), family_of).items()):
        if len(codes) >= LEAST:
            found.append(board(tasks, family, partial(_is_of_family, family)))
    return [each for each in found if each.standings]


def _is_of_family(family: str, code: str, defective: bool) -> bool:
    return is_african(code) and not defective and family_of(code) == family


def of_language(tasks: Sequence[TaskEntries], language: str) -> Board:
    """Returns the mean over tasks in one language."""
    return board(tasks, language, lambda code, _: code == language)


def of_task(task: TaskEntries) -> Board:
    """Returns the mean over a task's African languages."""
    return board([task], task.task, RULES["suite"].includes)


def of_pair(task: TaskEntries, language: str) -> Board:
    """Returns the entrants in one task and language."""
    return board([task], f"{task.task} {language}", lambda code, _: code == language)


def family_of(code: str) -> str:
    """Returns a language's family."""
    return LANGUAGES[code].family if code in LANGUAGES else OTHER


def board(tasks: Sequence[TaskEntries], name: str, includes: Callable[[str, bool], bool], best: bool = False) -> Board:
    """Returns the entrants by their mean over tasks of the mean over languages.

    Args:
        tasks: of several, only those are averaged over that averages include.
        name: of the board.
        includes: takes a language and whether its data is defective; returns whether it is averaged over.
        best: whether each task is scored with the prompt that is best on these languages, not with the mean over them.
    """
    used = [task for task in tasks if task.averaged or len(tasks) == 1]
    has: dict[Entrant, set[Pair]] = {}
    for task in used:
        for entrant, of in task.entries.items():
            pairs = {(task.task, code) for code in of if includes(code, code in task.defects)}
            has.setdefault(entrant, set()).update(pairs)
    has = {entrant: pairs for entrant, pairs in has.items() if pairs}
    chosen = sorted(common_pairs(list(has.values())))
    whole = [entrant for entrant, pairs in has.items() if chosen and pairs >= set(chosen)]
    known = {task.task: task for task in used}
    standings = _whole(known, whole, chosen, has, best) if whole else []
    for entrant in (each for each in has if each not in set(whole)):
        standings.append(_standing(known, entrant, sorted(has[entrant]), len(has[entrant]), best))
    order = sorted(standings, key=lambda s: (not s.whole, *_place(s, known)))
    return Board(name, chosen, len(set().union(*has.values())), order)


def _place(standing: Standing, tasks: Mapping[str, TaskEntries]) -> tuple[float, str]:
    only = next(iter(tasks.values())).metric if len(tasks) == 1 else None
    better = -1 if only is None or only.higher_is_better else 1
    return better * standing.score, standing.entrant.model


def common_pairs(sets: Sequence[set[Pair]]) -> set[Pair]:
    """Returns the pairs to average over: where the number of models that have all, times their number, is highest.

    Models are sorted by how many pairs they have; candidates are what the first k of them have in common.

    Args:
        sets: the pairs that each model has.
    """
    order = sorted(sets, key=len, reverse=True)
    candidates = [set(common) for common in accumulate(order, set[Pair].intersection)]
    return max(candidates, key=lambda common: _spread(common, sets), default=set())


def _spread(common: set[Pair], sets: Sequence[set[Pair]]) -> tuple[int, int]:
    return len(common) * sum(common <= pairs for pairs in sets), len(common)


def _whole(
    tasks: Mapping[str, TaskEntries],
    entrants: list[Entrant],
    pairs: list[Pair],
    has: Mapping[Entrant, set[Pair]],
    best: bool,
) -> list[Standing]:
    shares = [_shares(tasks, entrant, pairs, best) for entrant in entrants]
    contests = [Contest(of[0].weight, of[0].data, [s.languages for s in of]) for of in zip(*shares, strict=True)]
    found = []
    for entrant, of, rank in zip(entrants, shares, ranks(contests), strict=True):
        standing = _scored(tasks, entrant, pairs, of)
        found.append(standing._replace(rank=rank, whole=True, pairs=len(has[entrant])))
    return found


def _standing(
    tasks: Mapping[str, TaskEntries], entrant: Entrant, pairs: list[Pair], count: int, best: bool
) -> Standing:
    return _scored(tasks, entrant, pairs, _shares(tasks, entrant, pairs, best))._replace(pairs=count)


def _shares(tasks: Mapping[str, TaskEntries], entrant: Entrant, pairs: Sequence[Pair], best: bool) -> list[Share]:
    """Returns the scores in each task."""
    of_tasks = grouped(pairs, lambda pair: pair[0])
    return [
        Share(1 / len(of_tasks), tasks[task].data, _scores(tasks[task], entrant, [code for _, code in of], best))
        for task, of in of_tasks.items()
    ]


def _scores(task: TaskEntries, entrant: Entrant, languages: list[str], best: bool) -> dict[str, Scores | Stated]:
    entries = {code: task.entries[entrant][code] for code in languages}
    prompts = set.intersection(*({*entry.by_prompt} for entry in entries.values())) if best else set()
    of_prompts = [{code: entry.by_prompt[prompt] for code, entry in entries.items()} for prompt in sorted(prompts)]
    whole = {code: entry.scores for code, entry in entries.items()}
    return max(of_prompts, key=lambda of: np.mean([*map(mean_of, of.values())]), default=whole)


def mean_of(scores: Scores | Stated) -> float:
    """Returns the score of a language."""
    return scores.score if isinstance(scores, Stated) else float(np.mean(list(scores.values())))


def _scored(tasks: Mapping[str, TaskEntries], entrant: Entrant, pairs: list[Pair], shares: list[Share]) -> Standing:
    entries = [tasks[task].entries[entrant][code] for task, code in pairs]
    counts = [entry.n for entry in entries]
    n = None if None in counts else min(n for n in counts if n is not None)
    score = sum(share.weight * float(np.mean([*map(mean_of, share.languages.values())])) for share in shares)
    certain = not any(isinstance(s, Stated) and math.isnan(s.error) for of in shares for s in of.languages.values())
    interval = _interval(score, shares, tasks) if certain else None
    if len(tasks) == 1:
        score, interval = _on_scale(score, interval, next(iter(tasks.values())))
    if len(pairs) == 1 and len(tasks) == 1 and not entrant.published:
        interval = entries[0].interval
    return Standing(entrant, score, interval, None, len(pairs), False, n)


def _interval(score: float, shares: list[Share], tasks: Mapping[str, TaskEntries]) -> Interval:
    if all(task.averaged for task in tasks.values()):
        return interval_of(score, shares)
    half = half_width(shares)
    return Interval(score - half, score + half)


def _on_scale(score: float, interval: Interval | None, task: TaskEntries) -> tuple[float, Interval | None]:
    """Returns a score of a single task on its metric's scale."""
    factor = task.factor
    low, high = sorted(edge / factor for edge in interval) if interval else (0.0, 0.0)
    return score / factor, Interval(low, high) if interval else None
