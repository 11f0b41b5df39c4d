"""What a plan is good for: how precise scores will be, and which differences are found, by number of questions.

Without stored runs, a score is expected to be 50 %, which has the widest interval, and two models to differ on three
questions of ten. Stored runs of the same tasks say how it is.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.means import of_languages
from afrieval.analysis.scores import averaged
from afrieval.analysis.uncertainty import TaskWeight, half_width
from afrieval.languages import LANGUAGES
from afrieval.models.work import Amount
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval
from afrieval.scoring.statistics.planning import WIDEST, Expected, fewest
from afrieval.tasks.cells.cell import Cell
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tools.plan.counting import Size, total

SAMPLES = (50, 100, 200)  # what the table always shows, as well as all rows
NONE: Mapping[str, Sequence[str]] = MappingProxyType({})
TaskLanguage = tuple[str, str]  # task and language


@dataclass(frozen=True)
class SampleEstimate:
    """The precision that a sample of each test set gives, and its costs.

    Attributes:
        sample: questions of each language; None for all rows.
        precision: half the widths of the narrowest and the widest interval of a language's score; None if it is not
            known for any.
        detectable: the smallest differences of two models that are found, in the best and the worst language; likewise.
        average: half the width of the average over tasks' interval, in exactly these languages; None for one task.
        mean: the same as precision of a task's mean over exactly these languages; None without stored runs.
        size: requests and tokens.
    """

    sample: int | None
    precision: Interval | None
    detectable: Interval | None
    mean: Interval | None
    average: float | None
    size: Size


@dataclass(frozen=True)
class Needed:
    """How many questions a task needs in each of its languages.

    Attributes:
        rows: of its smallest test set, without those that cannot be scored.
        precision: questions for the interval that was asked for; None if it was not, or is not known.
        mean: questions for this interval of the mean over exactly these languages; likewise, and without stored runs.
        difference: questions for the difference that was asked for; likewise.
        widest: half the width of the interval that all rows give, in the worst language.
        detectable: the smallest difference that all rows show, in the worst language.
    """

    task: str
    languages: int
    rows: int
    precision: int | None
    mean: int | None
    difference: int | None
    widest: float | None
    detectable: float | None


class Precision:
    """What is expected of the tasks of a plan."""

    def __init__(
        self,
        cells: Sequence[Cell],
        sizes: Sequence[Size],
        stored: Sequence[CellScores] = (),
        looks: int = 1,
        groups: Mapping[str, Sequence[str]] = NONE,
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

    @property
    def unknown(self) -> list[str]:
        """The tasks of which nothing is known: their metrics are no means of what is between 0 and 1."""
        return list(dict.fromkeys(task for task, _ in self.unknown_test_sets))

    @property
    def unknown_test_sets(self) -> list[TaskLanguage]:
        """Their test sets."""
        return [place for place, expected in self.expected.items() if expected is None]

    def of_sample(self, sample: int | None) -> SampleEstimate:
        """Returns what a sample of so many rows of each test set gives and takes; None is all of them."""
        return SampleEstimate(
            sample,
            self._of_languages(lambda e, n, tests: e.half_width(n, self._looks), sample),
            self._of_languages(lambda e, n, tests: e.detectable(n, tests * self._looks), sample),
            _span([half_width([share], self._taken(task, sample) / n, drawn=False) for task, share, n in self._means]),
            self.average(sample),
            total([_part(size, min(1.0, (sample or _rows(size)) / _rows(size))) for size in self.sizes]),
        )

    def average(self, sample: int | None) -> float | None:
        """Returns half the width of the interval of the average over tasks, in exactly these languages.

        Without stored runs, a question is taken to be answered alike in all languages, which has the widest interval.
        Tasks of which nothing is known are left out.

        Returns:
            None for less than two tasks.
        """
        halves = {task: half for task in self._tasks if (half := self._half_of_mean(task, sample)) is not None}
        groups = [[task for task in of if task in halves] for of in self._groups.values()] or [[t] for t in halves]
        groups = [of for of in groups if of]
        of_data: dict[str, float] = defaultdict(float)  # two tasks on the same questions may err alike
        for members in groups:
            for task in members:
                of_data[self._data[task]] += halves[task] / len(members) / len(groups)
        return math.hypot(*of_data.values()) if len(halves) > 1 else None

    def for_average(self, precision: float) -> int | None:
        """Returns how large a sample gives this interval of the average; None if all rows do not, or for one task."""
        whole = self.average(None)
        if whole is None or whole > precision:
            return None
        return fewest(lambda n: self.average(n) or 0.0, precision)

    def _half_of_mean(self, task: str, sample: int | None) -> float | None:
        """Returns half the width of the interval of a task's mean over exactly these languages."""
        test_sets = self._tasks[task]
        if of_runs := [(share, n) for of, share, n in self._means if of == task]:
            return max(half_width([share], self._taken(task, sample) / n, drawn=False) for share, n in of_runs)
        expected = [(e, self._n(place, sample)) for place in test_sets if (e := self.expected[place])]
        return max(e.half_width(n, self._looks) for e, n in expected) if len(expected) == len(test_sets) else None

    def needed(self, precision: float | None, difference: float | None) -> list[Needed]:
        """Returns how many questions each task needs for an interval and for a difference, both as shares."""
        return [self._needed(task, places, precision, difference) for task, places in self._tasks.items()]

    @property
    def _tasks(self) -> dict[str, list[TaskLanguage]]:
        return grouped(self._sizes, lambda test_set: test_set[0])

    def _needed(
        self, task: str, test_sets: list[TaskLanguage], precision: float | None, difference: float | None
    ) -> Needed:
        expected = [e for place in test_sets if (e := self.expected[place])]
        complete, tests = len(expected) == len(test_sets), len(test_sets) * self._looks
        rows = {place: self._n(place, None) for place in test_sets}

        def most(figure: Callable[[Expected, int], float], target: float | None) -> int | None:
            if target is None or not complete:
                return None
            numbers = [fewest(lambda n, e=e: figure(e, n), target) for e in expected]  # type: ignore[misc]
            return None if None in numbers else max(n for n in numbers if n is not None)

        means = [(share, n) for of, share, n in self._means if of == task]

        def of_mean(questions: int) -> float:
            return max(half_width([share], questions / n, drawn=False) for share, n in means)

        with_rows = [(e, rows[place]) for place in test_sets if (e := self.expected[place])]
        return Needed(
            task,
            len(test_sets),
            min(rows.values()),
            most(lambda e, n: e.half_width(n, self._looks), precision),
            fewest(of_mean, precision) if precision and means else None,
            most(lambda e, n: e.detectable(n, tests), difference),
            max(e.half_width(n, self._looks) for e, n in with_rows) if complete else None,
            max(e.detectable(n, tests) for e, n in with_rows) if complete else None,
        )

    def _of_languages(self, figure: Callable[[Expected, int, int], float], sample: int | None) -> Interval | None:
        tests = {task: len(places) for task, places in self._tasks.items()}
        expected = [(e, self._n(place, sample), tests[place[0]]) for place, e in self.expected.items() if e]
        return _span([figure(*each) for each in expected])

    def _n(self, test_set: TaskLanguage, sample: int | None) -> int:
        """Returns how many of the questions can be scored."""
        rows = _rows(self._sizes[test_set])
        return max(1, round(self._scored[test_set] * min(sample or rows, rows)))

    def _taken(self, task: str, sample: int | None) -> float:
        return float(np.mean([self._n(place, sample) for place in self._tasks[task]]))


def _rows(size: Size) -> int:
    return max(1, size.documents // size.cells)


def _span(values: list[float]) -> Interval | None:
    return Interval(min(values), max(values)) if values else None


def _part(size: Size, share: float) -> Size:
    """Returns the size of a share of all rows."""

    def part(amount: Amount) -> Amount:
        names = ("requests", "plain", "computed", "written", "most")
        return replace(amount, **{name: round(share * getattr(amount, name)) for name in names})

    documents = round(share * size.documents)
    return replace(size, documents=documents, likelihoods=part(size.likelihoods), answers=part(size.answers))


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
    for cells in grouped(african, lambda c: (c.task, *c.without_dimensions("language", "prompt").items())).values():
        low, high = cells[0].metric.bounds
        scores = {code: replace(of.times(1 / (high - low)), looks=looks) for code, of in of_languages(cells).items()}
        if len(scores) > 1 and np.isfinite(high - low):
            shares.append(
                (cells[0].task, TaskWeight(1.0, "", scores), float(np.mean([len(of) for of in scores.values()])))
            )
    return shares
