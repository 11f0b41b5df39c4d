"""What a plan is good for: how precise scores will be, and which differences are found, by number of questions.

Without stored runs, a score is expected to be 50 %, which has the widest interval, and two models to differ on three
questions of ten. Stored runs of the same tasks say how it is.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.means import of_languages
from afrieval.analysis.scores import alike_but_for, averaged
from afrieval.analysis.uncertainty import TaskWeight, half_width
from afrieval.config.api_settings import Prices
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column, rows_of
from afrieval.report.table import Table
from afrieval.report.values import SHARE, shown_score
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval
from afrieval.scoring.statistics.planning import WIDEST, Expected, fewest
from afrieval.tasks.cells.cell import Cell
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tools.plan.counting import Size, total
from afrieval.tools.plan.rates import Rates, hours
from afrieval.tools.plan.tables import costs

SAMPLES = (50, 100, 200)  # what the table always shows, as well as all rows
OF_A_LANGUAGE = "half the width of the 95% interval of a language's score, the narrowest and the widest"
OF_A_MEAN = "the same of a task's mean over exactly these languages, as sure as in the runs of --like"
OF_AN_AVERAGE = "half the width of the interval of the average over tasks, in exactly these languages"
FOUND = "the smallest difference between two models that is found four times out of five, in the best and worst case"
ASSUMED = (
    "Half of the answers are taken to be right, which has the widest interval, and two models to differ on three "
    "questions of ten."
)
TaskLanguage = tuple[str, str]  # task and language


class Precision:
    """What is expected of the tasks of a plan."""

    def __init__(
        self,
        cells: Sequence[Cell],
        sizes: Sequence[Size],
        stored: Sequence[CellScores],
        looks: int,
        groups: Mapping[str, Sequence[str]],
    ):
        """Looks up what is expected of each task and language.

        Args:
            cells: of the whole plan, with all rows.
            sizes: of these cells, by task and language.
            stored: cells of runs of the same tasks.
            looks: how many times scores are to be looked at while their sample grows.
            groups: the tasks of each group of a suite, which all have the same weight in its average.
        """
        self._groups = groups
        declared = {cell.key.task: cell.facts.get("declared", {}).get(cell.key.task, {}) for cell in cells}
        self._data = {task: str(facts.get("data", "")) or task for task, facts in declared.items()}
        self._looks = looks
        self._sizes = {(size.task, size.language): size for size in sizes}
        planned = grouped(cells, lambda c: (c.key.task, c.key.language))
        of_runs = grouped(stored, lambda cell: (cell.task, cell.language))
        observed = {test_set: _observed(run_cells) for test_set, run_cells in of_runs.items()}
        self.expected = {test_set: observed.get(test_set) or _assumed(planned[test_set]) for test_set in self._sizes}
        firsts = {test_set: test_set_cells[0] for test_set, test_set_cells in planned.items()}
        self._scored = {  # the share of rows that can be scored; tasks of the harness do not tell
            test_set: len(cell.scorable) / cell.n if isinstance(cell, TaskCell) and cell.n else 1.0
            for test_set, cell in firsts.items()
        }
        self.from_runs = [test_set for test_set in self._sizes if observed.get(test_set)]
        self._means = _shares([cell for cell in stored if (cell.task, cell.language) in self._sizes], looks)

    @property
    def sizes(self) -> list[Size]:
        """What all rows take, by task and language."""
        return [*self._sizes.values()]

    @cached_property
    def tasks(self) -> dict[str, list[TaskLanguage]]:
        """The test sets of each task."""
        return grouped(self._sizes, lambda test_set: test_set[0])

    def of_sample(self, sample: int | None) -> dict[str, Any]:
        """Returns the precision that so many rows of each test set give, as a row of a table; None is all of them.

        `precision` are half the widths of the narrowest and the widest interval of a language's score, `mean` the same
        of a task's mean over exactly these languages, which only stored runs tell, and `difference` the smallest
        differences of two models that are found, in the best and the worst language; None for what is not known.
        """
        expected = [(e, self._n(place, sample), len(self.tasks[place[0]])) for place, e in self.expected.items() if e]
        return {
            "sample": "all" if sample is None else f"{sample:,}",
            "precision": _span([e.half_width(n, self._looks) for e, n, _ in expected]),
            "mean": _span(
                [half_width([share], self._taken(task, sample) / n, drawn=False) for task, share, n in self._means]
            ),
            "average": self.average(sample),
            "difference": _span([e.detectable(n, tests * self._looks) for e, n, tests in expected]),
        }

    def size(self, sample: int | None) -> Size:
        """Returns what a sample takes, in proportion to what all rows do."""
        counts, parts = ("requests", "plain", "computed", "written", "most"), []
        for size in self.sizes:
            share = min(1.0, (sample or _rows(size)) / _rows(size))
            likelihoods, answers = (
                replace(amount, **{name: round(share * getattr(amount, name)) for name in counts})
                for amount in (size.likelihoods, size.answers)
            )
            documents = round(share * size.documents)
            parts.append(replace(size, documents=documents, likelihoods=likelihoods, answers=answers))
        return total(parts)

    def average(self, sample: int | None) -> float | None:
        """Returns half the width of the interval of the average over tasks, in exactly these languages.

        Without stored runs, a question is taken to be answered alike in all languages, which has the widest interval.
        Tasks of which nothing is known are left out.

        Returns:
            None for less than two tasks.
        """
        halves = {task: half for task in self.tasks if (half := self._half_of_mean(task, sample)) is not None}
        groups = [[task for task in of if task in halves] for of in self._groups.values()] or [[t] for t in halves]
        groups = [of for of in groups if of]
        of_data: dict[str, float] = defaultdict(float)  # two tasks on the same questions may err alike
        for members in groups:
            for task in members:
                of_data[self._data[task]] += halves[task] / len(members) / len(groups)
        return math.hypot(*of_data.values()) if len(halves) > 1 else None

    def _half_of_mean(self, task: str, sample: int | None) -> float | None:
        """Returns half the width of the interval of a task's mean over exactly these languages."""
        test_sets = self.tasks[task]
        if of_runs := [(share, n) for of, share, n in self._means if of == task]:
            return max(half_width([share], self._taken(task, sample) / n, drawn=False) for share, n in of_runs)
        expected = [(e, self._n(place, sample)) for place in test_sets if (e := self.expected[place])]
        return max(e.half_width(n, self._looks) for e, n in expected) if len(expected) == len(test_sets) else None

    def needed(self, task: str, precision: float | None, difference: float | None) -> dict[str, Any]:
        """Returns how many questions of each language a task needs, as a row of a table.

        `rows` are those of its smallest test set that can be scored. `for_precision`, `for_mean` (over exactly these
        languages) and `for_difference` are the questions for what is asked for, both as shares. `precision` and
        `difference` are what all rows give in the worst language. None is for what is not asked for, or not known.
        """
        test_sets = self.tasks[task]
        rows = {test_set: self._n(test_set, None) for test_set in test_sets}
        expected = [(e, rows[test_set]) for test_set in test_sets if (e := self.expected[test_set])]
        complete, tests = len(expected) == len(test_sets), len(test_sets) * self._looks
        means = [(share, n) for of, share, n in self._means if of == task]

        def most(figure: Callable[[Expected, int], float], target: float | None) -> int | None:
            if target is None or not complete:
                return None
            numbers = [fewest(lambda n, e=e: figure(e, n), target) for e, _ in expected]  # type: ignore[misc]
            return None if None in numbers else max(n for n in numbers if n is not None)

        def width(expected: Expected, n: int) -> float:
            return expected.half_width(n, self._looks)

        def detectable(expected: Expected, n: int) -> float:
            return expected.detectable(n, tests)

        def width_of_mean(questions: int) -> float:
            return max(half_width([share], questions / n, drawn=False) for share, n in means)

        return {
            "task": task,
            "languages": len(test_sets),
            "rows": min(rows.values()),
            "for_precision": most(width, precision),
            "for_mean": fewest(width_of_mean, precision) if precision and means else None,
            "precision": max(width(e, n) for e, n in expected) if complete else None,
            "for_difference": most(detectable, difference),
            "difference": max(detectable(e, n) for e, n in expected) if complete else None,
        }

    def _n(self, test_set: TaskLanguage, sample: int | None) -> int:
        """Returns how many of the questions can be scored."""
        rows = _rows(self._sizes[test_set])
        return max(1, round(self._scored[test_set] * min(sample or rows, rows)))

    def _taken(self, task: str, sample: int | None) -> float:
        return float(np.mean([self._n(place, sample) for place in self.tasks[task]]))


def _rows(size: Size) -> int:
    return max(1, size.documents // size.cells)


def _span(values: list[float]) -> Interval | None:
    return Interval(min(values), max(values)) if values else None


def _assumed(cells: Sequence[Cell]) -> Expected | None:
    """Returns what is expected of a language without stored runs, where a question's score is from 0 to 1.

    Args:
        cells: one for each prompt.
    """
    first = cells[0]
    if not isinstance(first, TaskCell):
        return None
    metrics = first.task.scoring.metrics_of(first.answer_form, language=first.task.answers_in(first.language))
    prompts = len([cell for cell in cells if cell.key.prompt_language == first.key.prompt_language])
    return replace(WIDEST, prompts=prompts) if metrics and _is_share(metrics[0]) else None


def _is_share(metric: Metric) -> bool:
    return metric.is_mean and metric.bounds == (0.0, 1.0) and metric.interval != "none"


def _observed(cells: Sequence[CellScores]) -> Expected | None:
    """Returns what runs say of a language: of the model and prompt language with the widest interval.

    Two models differ as those do, with the same prompts, that differ most.
    """
    metric = cells[0].metric
    low, high = metric.bounds
    sides = grouped(cells, lambda c: (c.model, c.prompt_language, c.prompt_set, c.shots, c.answer_form))
    means = {side: averaged(of_side) for side, of_side in sides.items()}
    means = {side: mean for side, mean in means.items() if len(mean.ids) > 1}
    if metric.interval == "none" or not np.isfinite(high - low) or not means:
        return None
    values = {side: (mean.values - low) / (high - low) for side, mean in means.items()}
    share, binary = _is_share(metric), {*np.unique(np.concatenate([*values.values()]))} <= {0.0, 1.0}
    pairs = [(a, b) for a, b in combinations(means, 2) if a[0] != b[0] and a[1:] == b[1:]]
    spreads = []
    for one, other in pairs:
        _, rows, other_rows = np.intersect1d(means[one].ids, means[other].ids, assume_unique=True, return_indices=True)
        differences = values[one][rows] - values[other][other_rows]
        if len(differences) > 1:  # of right and wrong answers, the share that differs says how far apart they are
            spreads.append(float(np.sqrt(np.mean(differences**2)) if binary else np.std(differences)))
    differing = max(spreads, default=WIDEST.differing)
    expected_of = {
        side: Expected(float(v.mean()), float(np.std(v, ddof=1)), differing, len(sides[side]), share, share and binary)
        for side, v in values.items()
    }
    return expected_of[max(expected_of, key=lambda side: expected_of[side].half_width(len(values[side])))]


def _shares(stored: Iterable[CellScores], looks: int) -> list[tuple[str, TaskWeight, float]]:
    """Returns each task's scores by language, of each model and prompt language, and the mean number of questions."""
    african = [c for c in stored if LANGUAGES[c.language].african and not c.defect and c.metric.interval != "none"]
    shares = []
    for cells in alike_but_for(african, "language", "prompt"):
        low, high = cells[0].metric.bounds
        scores = {code: replace(of.times(1 / (high - low)), looks=looks) for code, of in of_languages(cells).items()}
        if len(scores) > 1 and np.isfinite(high - low):
            shares.append(
                (cells[0].task, TaskWeight(1.0, "", scores), float(np.mean([len(of) for of in scores.values()])))
            )
    return shares


def precision_tables(
    precision: Precision, targets: tuple[float | None, float | None], rates: Rates, prices: Prices | None
) -> list[Table]:
    """Returns a table by sample, and one by task.

    Args:
        precision: what is expected.
        targets: the interval and the difference that were asked for, as shares.
        rates: how fast the model answers.
        prices: of its tokens; None if they are not known.
    """
    needed = [precision.needed(task, *targets) for task in precision.tasks]
    whole, enough = precision.average(None), None  # a sample that gives the interval of the average over tasks
    if targets[0] and whole is not None and whole <= targets[0]:
        enough = fewest(lambda n: precision.average(n) or 0.0, targets[0])
    questions = {of[key] for of in needed for key in ("for_precision", "for_difference") if of[key]}
    samples = sorted({*SAMPLES, *questions, *filter(None, [enough])})
    longest = max(size.documents // size.cells for size in precision.sizes)
    rows = [precision.of_sample(n) | _costs(precision.size(n), rates, prices) for n in samples if n < longest]
    of_all = precision.of_sample(None) | _costs(precision.size(None), rates, prices)
    columns = [
        Column("sample", "text"),
        Column("+/-", "limits", "precision", says=OF_A_LANGUAGE),
        Column("+/- of mean", "hidden" if of_all["mean"] is None else "limits", "mean", says=OF_A_MEAN),
        Column("+/- of average", "hidden" if of_all["average"] is None else "score", "average", says=OF_AN_AVERAGE),
        Column("difference", "limits", says=FOUND),
        Column("requests", "amount"),
        Column("prompt tokens", "amount", "prompt_tokens"),
        Column("answer tokens", "amount" if of_all["answer_tokens"] else "hidden", "answer_tokens"),
        *([] if of_all["hours"] is None else [Column("time", "time", "hours")]),
        *([Column("cost", "money")] if prices else []),
    ]
    findings = []
    if whole is not None and targets[0] is not None:
        target = f"For an average over tasks of +/- {shown_score(targets[0], SHARE)} points"
        are_enough = f"a sample of {enough:,} is enough" if enough else "there are too few rows"
        findings.append(f"{target}, {are_enough}.")
    title = "What a sample of each test set gives and takes"
    by_sample = Table("samples", title, columns, rows_of(columns, [*rows, of_all]), _notes(precision), findings)
    return [by_sample, _by_task(needed, *("" if of is None else shown_score(of, SHARE) for of in targets))]


def _costs(size: Size, rates: Rates, prices: Prices | None) -> dict[str, Any]:
    amounts = {"requests": size.requests, "prompt_tokens": size.plain, "answer_tokens": size.most}
    return amounts | {"hours": hours(size, rates), "cost": sum(costs(size, prices)) if prices else None}


def _notes(precision: Precision) -> list[str]:
    unknown = [test_set for test_set, expected in precision.expected.items() if expected is None]
    n_observed, n_expected = len(precision.from_runs), len(precision.expected) - len(unknown)
    notes = ["Requests, tokens and time are in proportion to those of all rows."]
    if n_observed:
        notes.append(
            f"Scores and differences of {n_observed} of {n_expected} test sets are expected as in the runs of --like."
        )
    if n_observed < n_expected:
        notes.append(f"Of the others, {ASSUMED[0].lower()}{ASSUMED[1:]}" if n_observed else ASSUMED)
        if precision.average(None) is not None:
            notes.append(
                "For the average, a question is taken to be answered alike in all languages, as it is at worst."
            )
    if unknown:
        tasks = ", ".join(dict.fromkeys(task for task, _ in unknown))
        notes.append(f"Not known without --like, since their metrics are no shares: {tasks}.")
    return notes


def _by_task(needed: Sequence[Mapping[str, Any]], precision: str, difference: str) -> Table:
    """Returns the table by task, with the tasks that have too few rows for what was asked."""
    columns = [Column("task"), Column("languages", "amount"), Column("rows", "amount")]
    if precision:
        columns.append(Column(f"for +/- {precision}", "amount", "for_precision", says="questions in each language"))
        of_means = "amount" if any(of["for_mean"] for of in needed) else "hidden"
        columns.append(
            Column("of mean", of_means, "for_mean", says="the same for the mean over exactly these languages")
        )
    columns.append(Column("all rows: +/-", "score", "precision"))
    if difference:
        columns.append(Column(f"to show {difference}", "amount", "for_difference", says="questions in each language"))
    columns.append(Column("all rows show", "score", "difference"))
    findings = []
    for what, key, where in (
        (f"an interval of +/- {precision}", "for_precision", "in each language"),
        (f"an interval of +/- {precision}", "for_mean", "of the mean over exactly these languages"),
        (f"a difference of {difference}", "for_difference", "in each language"),
    ):
        if needs := [of for of in needed if of[key] is not None]:
            most = max(of[key] for of in needs)
            findings.append(f"For {what} points {where}, up to {most:,} questions are needed.")
        if few := [of["task"] for of in needs if of[key] > of["rows"]]:
            findings.append(f"Too few rows for that: {', '.join(few)}.")
    title = "Questions that each task needs in each language"
    return Table("questions", title, columns, rows_of(columns, needed), [], findings)
