"""Leaderboards: where models stand, all averages by name, and who is best in each language and task."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from afrieval._util.grouping import grouped
from afrieval.analysis.entries import LeaderboardModel, TaskEntries, TaskEntry, tasks_with_entries
from afrieval.analysis.inputs import Inputs
from afrieval.analysis.ranks import Contest, best_first, ranks
from afrieval.analysis.scores import ByQuestion
from afrieval.analysis.standings import Board, Pair, Standing, descending
from afrieval.analysis.suites import RULES
from afrieval.analysis.uncertainty import TaskWeight, half_width, interval_of, weighted_mean
from afrieval.analysis.verdicts import alike, under_mean
from afrieval.languages import LANGUAGES, is_african
from afrieval.scoring.statistics.intervals import Interval

ModelStanding = Standing[LeaderboardModel]
ModelBoard = Board[LeaderboardModel]


def board(
    tasks: Sequence[TaskEntries],
    name: str,
    includes: Callable[[str, bool], bool],
    best: bool = False,
    own_scale: bool = False,
) -> ModelBoard:
    """Returns the models by their mean over tasks of the mean over languages.

    Args:
        tasks: those that can be averaged are.
        name: of the board.
        includes: takes a language and whether its data is defective; returns whether it is averaged over.
        best: whether each task is scored with the prompt that is best on these languages, not with the mean over them.
        own_scale: whether scores are on the scale of the metric, not in percent of its range; of a single task.
    """
    used = [task for task in tasks if task.averaged or own_scale]
    has: dict[LeaderboardModel, set[Pair]] = {}
    for task in used:
        for model, entries in task.entries.items():
            pairs = {(task.task, code) for code in entries if includes(code, code in task.defects)}
            has.setdefault(model, set()).update(pairs)
    has = _distinct({model: pairs for model, pairs in has.items() if pairs}, used)
    fit = {model: pairs for model, pairs in has.items() if model.rows.concludes}
    chosen = sorted(common_pairs(list(fit.values())))  # models that cannot have a rank do not decide it
    whole = [model for model, pairs in fit.items() if chosen and pairs >= set(chosen)]
    by_name = {task.task: task for task in used}
    of_tasks = grouped(chosen, lambda pair: pair[0])
    contests = [
        Contest(
            1 / len(of_tasks),
            by_name[task].data,
            [by_name[task].scores_of(model, [code for _, code in pairs], best) for model in whole],
            by_name[task].scale,
        )
        for task, pairs in of_tasks.items()
    ]
    rank_of = dict(zip(whole, ranks(contests) if whole else [], strict=True))
    unscaled = []
    for model, pairs in has.items():
        whole_model = model in rank_of
        scored = _scored(by_name, model, chosen if whole_model else sorted(pairs), best)
        unscaled.append(scored._replace(pairs=sorted(pairs), rank=rank_of.get(model), whole=whole_model))
    unscaled.sort(key=lambda s: (not s.whole, not s.concludes, descending(s.score), s.side.name))
    order = best_first(unscaled, lambda s: s.rank)
    standings = [standing.over(used[0].factor) for standing in order] if own_scale else order
    return Board(name, chosen, len(set().union(*has.values())), standings)


def _distinct(
    has: dict[LeaderboardModel, set[Pair]], tasks: Sequence[TaskEntries]
) -> dict[LeaderboardModel, set[Pair]]:
    """Returns the models without those that differ from another one in tasks only that the board does not have.

    A model with two forms of answer is two models, both with the tasks that have one form.
    """
    by_name = {task.task: task for task in tasks}
    seen: dict[LeaderboardModel, list[list[TaskEntry]]] = {}
    distinct = {}
    for model, pairs in has.items():
        entries = [by_name[task].entries[model][code] for task, code in sorted(pairs)]
        others = seen.setdefault(model._replace(answer_form=""), [])
        if entries not in others:
            others.append(entries)
            distinct[model] = pairs
    return distinct


def common_pairs(sets: Sequence[set[Pair]]) -> set[Pair]:
    """Returns the pairs to average over: where the number of models that have all, times their number, is highest.

    A single model cannot be compared, so two or more are preferred. Candidates are what each model has in common with
    the k that share most with it.
    """
    # All intersections would be too many; a best one is nearly always what some model shares with its nearest ones.
    distinct = sorted(dict.fromkeys(map(frozenset, sets)), key=len, reverse=True)
    candidates: dict[frozenset[Pair], None] = {}
    for start in distinct:
        nearest = sorted(distinct, key=lambda other: -len(start & other))
        candidates |= dict.fromkeys(accumulate(nearest, frozenset.intersection, initial=start))

    def worth(common: frozenset[Pair]) -> tuple[bool, int, int]:
        models = sum(common <= pairs for pairs in sets)
        return models > 1 and bool(common), len(common) * models, len(common)

    return set(max(candidates, key=worth, default=()))


def _scored(tasks: Mapping[str, TaskEntries], model: LeaderboardModel, pairs: list[Pair], best: bool) -> ModelStanding:
    """Returns the standing of a model on some pairs, without a rank."""
    of_tasks = grouped(pairs, lambda pair: pair[0])
    shares = [
        TaskWeight(1 / len(of_tasks), tasks[task].data, tasks[task].scores_of(model, [code for _, code in of], best))
        for task, of in of_tasks.items()
    ]
    entries = {(task, code): tasks[task].entries[model][code] for task, code in pairs}
    counts = [entry.n for entry in entries.values()]
    n = None if None in counts else min(n for n in counts if n is not None)
    score = weighted_mean(shares)
    if not all(of.is_known for share in shares for of in share.languages.values()):
        interval = None
    elif len(pairs) == 1 and not best:  # a single score has its metric's own kind
        ends, factor = entries[pairs[0]].interval, tasks[pairs[0][0]].factor
        interval = Interval(*sorted(factor * end for end in ends)) if ends else None
    elif all(task.averaged for task in tasks.values()):
        interval = interval_of(shares)
    else:
        half = half_width(shares)
        interval = Interval(score - half, score + half)
    scores = {pair: of.scores for pair, of in entries.items()}
    many = {pair: of.unparsed for pair, of in scores.items() if isinstance(of, ByQuestion) and of.unparsed}
    floors = [tasks[task].floors.get(code) for task, code in pairs]
    lows = [tasks[task].factor * of.interval.low if of.interval else -math.inf for (task, _), of in entries.items()]
    lowest = 0.0 if all(tasks[task].scale for task, _ in pairs) else -math.inf
    not_above = [
        of for of, low, floor in zip(entries.values(), lows, floors, strict=True) if not floor or low <= floor.score
    ]
    unread = under_mean(floors, score, interval, bool(many), lowest) if not_above else None
    return Standing(
        side=model,
        score=score,
        interval=interval,
        pairs=pairs,
        n=n,
        floor=unread and unread._replace(reads=alike(of.reads for of in not_above)),
        concludes=model.rows.concludes,
        unparsed=many,
        unreviewed={of.unreviewed for of in entries.values() if of.unreviewed},
    )


OTHER = "other"  # family of languages that the suite does not have
LEAST = 3  # languages of a family with an average: the interval of a mean over two says nothing


@dataclass(frozen=True)
class Leaderboard:
    """All boards.

    Attributes:
        languages: of each language, the mean over tasks.
        pairs: of each task and language.
        means: of each task, the mean over African languages.
        results: what it was made of.
    """

    tasks: list[TaskEntries]
    averages: list[ModelBoard]
    languages: dict[str, ModelBoard]
    pairs: dict[Pair, ModelBoard]
    means: dict[str, ModelBoard]
    results: Inputs

    @property
    def models(self) -> list[LeaderboardModel]:
        """All models, sorted."""
        models = {model for task in self.tasks for model in task.entries}
        return sorted(models, key=lambda model: tuple(map(str, model)))

    @property
    def order(self) -> list[LeaderboardModel]:
        """All models in the order of the first average; those without one are last."""
        first = [standing.side for average in self.averages[:1] for standing in average.standings]
        return list(dict.fromkeys([*first, *self.models]))

    @property
    def model_names(self) -> list[str]:
        """The names of all models, sorted."""
        return sorted({model.name for model in self.models})


def leaderboard(inputs: Inputs) -> Leaderboard:
    """Returns the boards of all averages, languages, tasks and pairs of results."""
    tasks = tasks_with_entries(inputs.cells, inputs.published)
    codes = sorted({code for task in tasks for code in task.languages})
    return Leaderboard(
        tasks,
        averages(tasks),
        {code: language_board for code in codes if (language_board := of_language(tasks, code)).standings},
        {(task.task, code): of_pair(task, code) for task in tasks for code in task.languages},
        {task.task: of_task(task) for task in tasks},
        inputs,
    )


def averages(tasks: Sequence[TaskEntries]) -> list[ModelBoard]:
    """Returns the averages over tasks by name: suite, afrobench, and one per family of African languages."""
    boards = [board(tasks, name, RULES[name].includes, RULES[name].best) for name in ("suite", "afrobench")]
    african = [code for task in tasks for code in task.languages if is_african(code)]
    families = grouped(dict.fromkeys(african), lambda code: LANGUAGES[code].family if code in LANGUAGES else OTHER)
    for family, codes in sorted(families.items()):
        if len(codes) >= LEAST:
            boards.append(board(tasks, family, partial(_is_sound_in, codes)))
    return [each for each in boards if each.standings]


def _is_sound_in(codes: Collection[str], code: str, defective: bool) -> bool:
    return code in codes and not defective


def of_language(tasks: Sequence[TaskEntries], language: str) -> ModelBoard:
    """Returns the mean over tasks in a language: over those without a defect and with known errors, if any are."""
    with_language = [task for task in tasks if language in task.languages]
    sound = [task for task in with_language if language not in task.defects] or with_language
    sure = [task for task in sound if task.is_sure and task.averaged]
    return board(sure or sound, language, lambda code, _: code == language)


def of_task(task: TaskEntries) -> ModelBoard:
    """Returns the mean over a task's African languages."""
    return board([task], task.task, RULES["suite"].includes, own_scale=True)


def of_pair(task: TaskEntries, language: str) -> ModelBoard:
    """Returns the models in one task and language."""
    return board([task], f"{task.task} {language}", lambda code, _: code == language, own_scale=True)
