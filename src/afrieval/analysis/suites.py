"""The average of a suite: the mean over its groups of the mean over their tasks of the mean over languages."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.means import of_languages
from afrieval.analysis.published_files import NOT_AVERAGED
from afrieval.analysis.scores import ByQuestion, averaged
from afrieval.analysis.uncertainty import TaskWeight, interval_of
from afrieval.analysis.verdicts import by_quality
from afrieval.languages import is_african
from afrieval.results.cell_key import PromptId, prompt_order
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval

APART = ("eng", "fra")  # next to a mean over African languages, never in it


class Rule(NamedTuple):
    """How an average is taken.

    Attributes:
        includes: whether a language is averaged over; the second argument is whether its data is known to be defective
            as a whole.
        best: whether each group is scored with its best prompt, not with the mean over prompts; such a group is a mean
            over all pairs of task and language, not the mean over its tasks.
    """

    includes: Callable[[str, bool], bool]
    best: bool
    says: str


RULES = {
    "suite": Rule(
        lambda code, defective: is_african(code) and not defective,
        best=False,
        says="African languages have the same weight in a task, tasks in a group, and groups in the average.",
    ),
    "afrobench": Rule(
        lambda code, _: code not in NOT_AVERAGED,
        best=True,
        says="As on AfroBench's leaderboard: pairs of task and language have the same weight in a group, and groups in "
        "the average; all languages but English and French; each group with its best prompt, chosen on test, so that "
        "scores are too high.",
    ),
}


@dataclass(frozen=True)
class AveragedTask:
    """A task in an average; numbers are in percent.

    Attributes:
        apart: scores in English and French.
        prompt: the prompt that was chosen for its group; None for the mean over prompts.
    """

    group: str
    task: str
    metric: str
    weight: float
    languages: list[str]
    score: float
    interval: Interval | None
    apart: dict[str, float]
    prompt: PromptId | None = None


@dataclass(frozen=True)
class SuiteAverage:
    """The average over the tasks of a suite, or over all tasks at hand, in percent.

    Attributes:
        suite: its name; empty without one.
        dimensions: what the cells are, but for task, language and prompt.
        missing: tasks of the suite without scores.
        outside: tasks that cannot be averaged, since their scores have no lowest and highest value, or are the better
            the lower they are, or do not say how good answers are.
    """

    suite: str
    dimensions: dict[str, Any]
    parts: list[AveragedTask]
    score: float
    interval: Interval | None
    missing: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    @property
    def groups(self) -> list[str]:
        """The groups averaged over."""
        return list(dict.fromkeys(part.group for part in self.parts))


def suite_averages(cells: list[CellScores], rule: str = "suite") -> list[SuiteAverage]:
    """Returns an average for each model, set and language of prompts, number of shots, and form of answer.

    Tasks that have one form of answer only are in the averages of all forms. Tasks that declare so
    are in none.
    """
    averages = []
    scored = (c for c in by_quality(cells) if c.n and c.is_averaged)
    dimensions = ("language", "prompt", "answer_form")
    for of_side in grouped(scored, lambda c: tuple(c.without_dimensions(*dimensions).values())).values():
        averages += [_average(of_form, RULES[rule], form) for form, of_form in by_form(of_side)]
    return [average for average in averages if average.parts]


def by_form(cells: list[CellScores]) -> Iterator[tuple[str, list[CellScores]]]:
    """Yields the cells for each form of answer that some task has next to another one; all cells if none has."""
    forms = {task: {c.answer_form for c in of_task} for task, of_task in grouped(cells, lambda c: c.task).items()}
    several = dict.fromkeys(c.answer_form for c in cells if len(forms[c.task]) > 1)
    for form in several or [""]:
        yield form, [c for c in cells if len(forms[c.task]) == 1 or c.answer_form == form]


def _average(cells: list[CellScores], rule: Rule, form: str) -> SuiteAverage:
    suite, groups = next(((c.suite, c.suite_groups) for c in cells if c.suite), ("", {}))
    group_of = {task: group for group, members in groups.items() for task in members}
    ranked = [c for c in cells if c.metric.ranked]
    included = grouped((c for c in ranked if rule.includes(c.language, bool(c.defect))), lambda c: c.task)
    order = [*(task for task in group_of if task in included), *(task for task in included if task not in group_of)]
    outside = [task for task in order if percent(included[task][0].metric) is None]
    tasks = [(group_of.get(task, task), included[task]) for task in order if task not in outside]
    outside += dict.fromkeys(c.task for c in cells if not c.metric.ranked and c.task not in included)
    chosen = {
        group: _best_prompt([of for _, of in of_group], rule.best)
        for group, of_group in grouped(tasks, lambda pair: pair[0]).items()
    }
    parts, shares = [], []
    for group, of_tasks in chosen.items():
        scored = [(of_task, _in_percent(of_task)) for of_task in of_tasks]
        for of_task, scores in scored:
            within = len(scores) / sum(len(each) for _, each in scored) if rule.best else 1 / len(scored)
            first = of_task[0]
            shares.append(TaskWeight(within / len(chosen), first.data_set or first.task, scores))
            parts.append(_part(group, of_task, shares[-1], [c for c in ranked if c.task == first.task], rule.best))
    score = sum(part.weight * part.score for part in parts)
    has_errors = all(of_task[0].metric.interval != "none" for of_tasks in chosen.values() for of_task in of_tasks)
    # A single task has the interval that its own table shows, whatever the kind of its metric.
    interval = parts[0].interval if len(parts) == 1 else interval_of(shares) if has_errors else None
    dimensions = cells[0].without_dimensions("language", "prompt") | {"answer_form": form}
    missing = [task for task in group_of if task not in included and task not in outside]
    return SuiteAverage(suite, dimensions, parts, score, interval, missing, outside)


def percent(metric: Metric) -> float | None:
    """Returns the factor that makes a score percent of the metric's range; None if that makes no sense."""
    low, high = metric.bounds
    return 100 / high if low == 0 and math.isfinite(high) and metric.higher_is_better else None


def factor_of(metric: Metric) -> float:
    """Returns the factor that makes a score percent of the metric's range; without one, higher if it is better."""
    return percent(metric) or (1.0 if metric.higher_is_better else -1.0)


def _in_percent(cells: list[CellScores]) -> dict[str, ByQuestion]:
    factor = percent(cells[0].metric) or 0.0
    return {code: of.times(factor) for code, of in of_languages(cells).items()}


def _best_prompt(tasks: list[list[CellScores]], best: bool) -> list[list[CellScores]]:
    """Returns the cells of a group's tasks; `best`: with the best prompt that all of them have, if there is one."""
    common = set.intersection(*({c.prompt for c in of_task} for of_task in tasks)) if best else set()
    of_prompts = [
        [[c for c in of_task if c.prompt == prompt] for of_task in tasks] for prompt in sorted(common, key=prompt_order)
    ]

    def mean(of_prompt: list[list[CellScores]]) -> float:
        return float(np.mean([of.score for of_task in of_prompt for of in _in_percent(of_task).values()]))

    return max(of_prompts, key=mean, default=tasks)


def _part(group: str, cells: list[CellScores], share: TaskWeight, of_all: list[CellScores], best: bool) -> AveragedTask:
    """Returns a task in an average; its interval over one language is the one that tables of scores show."""
    first, factor, prompts = cells[0], percent(cells[0].metric) or 0.0, {c.prompt for c in cells}
    if first.metric.interval == "none":
        interval = None
    elif len(share.languages) > 1:
        interval = interval_of([share._replace(weight=1.0)])
    elif interval := averaged(cells).interval:
        interval = Interval(factor * interval.low, factor * interval.high)
    apart = {code: [c for c in of_all if c.language == code and c.prompt in prompts] for code in APART}
    return AveragedTask(
        group=group,
        task=first.task,
        metric=first.main,
        weight=share.weight,
        languages=list(share.languages),
        score=share.score,
        interval=interval,
        apart={code: factor * averaged(of).score for code, of in apart.items() if of},
        prompt=next(iter(prompts)) if best and len(prompts) == 1 else None,
    )
