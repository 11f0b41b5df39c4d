"""The mean over prompts: of a language, of a part of its documents, of one side of a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.results.cell_key import CellKey, PromptId, prompt_order
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Numbers, Values, shared
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.corrected import FEWEST
from afrieval.scoring.statistics.intervals import LEVEL, Interval, IntervalEstimate, normal_quantile
from afrieval.scoring.statistics.score_intervals import macro, mean_values, over_parts, score_interval


@dataclass(frozen=True)
class PromptMean:
    """The mean score of one prompt or several.

    Attributes:
        cells: one per prompt, of the same documents in the same order.
        balanced: whether it is the mean over classes of the mean over their documents, so that each right answer has
            the same weight; of shares of right answers only.
    """

    cells: Sequence[CellScores]
    balanced: bool = False

    @property
    def metric(self) -> Metric:
        """The metric that is averaged."""
        return self.cells[0].metric

    @property
    def task(self) -> str:
        """The task of its documents."""
        return self.cells[0].task

    @property
    def dimensions(self) -> dict[str, Any]:
        """What the cells are, but for the prompt."""
        return self.cells[0].without_dimensions("prompt")

    @property
    def ids(self) -> Numbers:
        """The documents that all prompts have."""
        return self.cells[0].ids

    @property
    def measures(self) -> list[Values]:
        """The measures under each prompt."""
        return [cell.measures[cell.main] for cell in self.cells]

    @cached_property
    def values(self) -> Values:
        """A number per document whose mean is the score; for means, the document's mean over prompts."""
        values = mean_values(self.metric, self.measures)
        return values * self._weights if self.balanced else values

    @property
    def has_even_classes(self) -> bool:
        """Whether all right answers have the same number of documents, so that it does not matter if it is balanced."""
        return bool(np.ptp(self._weights) == 0)

    @property
    def _weights(self) -> Values:
        _, inverse, counts = np.unique(self.cells[0].golds, return_inverse=True, return_counts=True)
        return np.asarray(len(inverse) / (len(counts) * counts[inverse]))

    @property
    def score(self) -> float:
        """The mean over prompts."""
        return float(self.values.mean())

    @cached_property
    def best(self) -> CellScores:
        """The cell of the prompt with the best score, chosen on the evaluated documents themselves."""
        return max(self.cells, key=self._goodness)  # of equal scores the first counts

    @cached_property
    def worst(self) -> CellScores:
        """The cell of the prompt with the worst score."""
        return min(self.cells, key=self._goodness)

    def _goodness(self, cell: CellScores) -> float:
        return cell.score if self.metric.higher_is_better else -cell.score

    @property
    def spread(self) -> float:
        """The best score less the worst, without a sign."""
        return abs(self.best.score - self.worst.score)

    @property
    def n_sure(self) -> int:
        """How many documents say how sure the score is: under the prompt with the fewest."""
        return min(map(self.metric.n_sure, self.measures))

    @property
    def is_shown(self) -> bool:
        """Whether it has documents, and enough of them are rated if it is corrected by people."""
        return self.n_sure >= (FEWEST if self.metric.is_few else 1)

    @property
    def looks(self) -> int:
        """How many times it was to be looked at while its sample grew."""
        return max(cell.looks for cell in self.cells)

    @property
    def interval(self) -> Interval | None:
        """Its 95 % interval, which holds at all looks; for several prompts with documents as clusters."""
        return self.interval_at(LEVEL)

    def interval_at(self, level: float) -> Interval | None:
        """Returns the interval for another level of all looks together, which is 0.05 for a 95 % interval."""
        z = normal_quantile(level / self.looks)
        if not self.balanced:
            return score_interval(self.metric, self.measures, z=z)
        values, golds = mean_values(self.metric, self.measures), self.cells[0].golds
        return over_parts([values[golds == gold] for gold in np.unique(golds)], z)

    @property
    def macro(self) -> IntervalEstimate | None:
        """The mean over parts of the benchmark; None in tasks that declare none, and for metrics that are not means."""
        parts = self.cells[0].parts
        if parts is None or not self.metric.is_mean:
            return None
        return macro(self.values, parts.codes, normal_quantile(LEVEL / self.looks))

    def take(self, positions: Numbers) -> "PromptMean":
        """Returns the average over some of the documents."""
        return PromptMean([cell.take(positions) for cell in self.cells], self.balanced)


def averaged(cells: Sequence[CellScores], rows: Numbers | None = None, balanced: bool = False) -> PromptMean:
    """Returns the average of cells with the same main metric, over the documents that all of them have.

    Args:
        cells: one per prompt.
        rows: the documents to use, each of which all cells have; all that they have in common if not given.
        balanced: as in `PromptMean`.
    """
    ids = [cell.ids for cell in cells]
    alike = all(np.array_equal(ids[0], of) for of in ids[1:])  # almost always
    common = rows if rows is not None else ids[0] if alike else reduce(np.intersect1d, ids)
    whole = [np.array_equal(cell.ids, common) for cell in cells]
    common_cells = [c if all_ else c.take(np.searchsorted(c.ids, common)) for c, all_ in zip(cells, whole, strict=True)]
    return PromptMean(common_cells, balanced)


def alike_but_for(cells: Iterable[CellScores], *dimensions: str) -> list[list[CellScores]]:
    """Returns the cells of each task that differ in some dimensions alone, in the order of the first ones."""
    return [*grouped(cells, lambda cell: (cell.task, *cell.without_dimensions(*dimensions).items())).values()]


def over_prompts(cells: Sequence[CellScores]) -> list[PromptMean]:
    """Returns the mean over prompts of each language that has two prompts or more, in the order of the cells."""
    groups = alike_but_for(cells, "prompt")
    return [averaged(sorted(of, key=lambda c: prompt_order(c.prompt))) for of in groups if len(of) > 1]


@dataclass(frozen=True, kw_only=True)
class LanguageScore(CellKey):
    """A language's score, averaged over prompts of one set.

    Attributes:
        interval: of the metric's own kind; for several prompts with documents as clusters. None if it has none.
        others: the same mean for the other metrics, but for those of groups of documents.
        defect: the known defect of the language's whole data; usually empty.
        baselines: what a model gets by the metric that does not read the text; empty if unknown.
        unreviewed: as in `CellScores`.
        rank: among the models that it was ranked with; None if it was with none.
    """

    prompts: list[PromptId]
    metric: str
    score: float
    interval: Interval | None
    others: dict[str, float]
    n: int
    n_defect: int
    chance: float
    defect: str = ""
    baselines: Mapping[str, float] = field(default_factory=dict)
    unreviewed: bool | str = ""
    model: str = ""
    rank: tuple[int, int] | None = None

    @property
    def best_baseline(self) -> float | None:
        """The highest score by its metric without reading the text; None if none is known."""
        return max(self.baselines.values(), default=None)


def by_language(cells: list[CellScores]) -> list[LanguageScore]:
    """Returns a score per task, language and prompt language, in the order of the cells."""
    groups = grouped((c for c in cells if c.n), lambda c: (c.task, c.language, c.prompt_language, c.prompt_set))
    return [_language_score(group) for group in groups.values()]


def _language_score(cells: list[CellScores]) -> LanguageScore:
    first, average = cells[0], averaged(cells)
    names = [name for name in first.metrics if name != first.main and name not in first.of_groups]
    means = {
        name: averaged([c.with_metric(name) for c in cells]) for name in names if all(name in c.metrics for c in cells)
    }
    return LanguageScore(
        **vars(first.without("prompt")),
        prompts=sorted((c.prompt for c in cells), key=prompt_order),
        metric=first.main,
        score=average.score,
        interval=average.interval,
        others={name: mean.score for name, mean in means.items() if mean.is_shown},  # people may rate others per prompt
        n=len(average.ids),
        n_defect=int(np.sum(first.defects < min(c.rows for c in cells))),
        chance=first.chance,
        defect=first.defect,
        baselines=first.baseline_scores,
        unreviewed=next((cell.unreviewed for cell in cells if cell.unreviewed), ""),
        model=first.model,
    )


ANSWERS = 1 << 32  # right answers of a question, at most


@dataclass(frozen=True, eq=False)
class ByQuestion:
    """The scores of a language by question and right answer, each once; `by_question` makes one.

    Attributes:
        codes: a number for each question and right answer, the same in all languages, shape (n,).
        scores: shape (n,).
        looks: as in `CellScores`.
        sure: share of the questions that say how sure the score is.
        least: what its standard error is at least, since these are few.
        unparsed: share of unparsed answers, if they are many.
        right: what `scores` would be if all of these were right, shape (n,); None unless they are many.
    """

    codes: Numbers
    scores: Values
    looks: int = 1
    sure: float = 1.0
    least: float = 0.0
    unparsed: float = 0.0
    right: Values | None = None

    is_known = True  # how sure the score is

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByQuestion):
            return NotImplemented
        return np.array_equal(self.codes, other.codes) and np.array_equal(self.scores, other.scores)

    @property
    def score(self) -> float:
        """The mean over questions."""
        return float(np.mean(self.scores))

    @property
    def if_right(self) -> "ByQuestion":
        """The scores if unparsed answers were right; as they are unless these are many."""
        return self if self.right is None else replace(self, scores=self.right)

    def times(self, factor: float) -> "ByQuestion":
        """Returns all scores times a factor."""
        right = None if self.right is None else factor * self.right
        return replace(self, scores=factor * self.scores, least=abs(factor) * self.least, right=right)


def by_question(numbers: Numbers, golds: Numbers, scores: Values) -> ByQuestion:
    """Returns scores by question; of a question that a language has twice, the last one.

    Args:
        numbers: of questions, shape (n,).
        golds: right answers, -1 or more, shape (n,).
        scores: shape (n,).
    """
    codes = numbers * ANSWERS + golds + 1
    if np.all(codes[1:] > codes[:-1]):  # nearly always; one array for all languages saves memory and comparisons
        return ByQuestion(shared(codes), scores)
    distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    last, order = np.empty(len(distinct)), np.argsort(first)
    last[inverse] = scores
    return ByQuestion(shared(distinct[order]), last[order])


def question_positions(languages: Sequence[ByQuestion]) -> tuple[list[Numbers], int]:
    """Returns a position for each question of each language, in the order of first use, and how many there are."""
    arrays = [scores.codes for scores in languages]
    if all(codes is arrays[0] for codes in arrays):  # as `by_question` shares them
        return [np.arange(len(arrays[0]))] * len(arrays), len(arrays[0])
    distinct, first, flat = np.unique(np.concatenate(arrays), return_index=True, return_inverse=True)
    positions = np.empty(len(distinct), dtype=np.int64)
    positions[np.argsort(first)] = np.arange(len(distinct))
    return np.split(positions[flat], np.cumsum([len(codes) for codes in arrays])[:-1]), len(distinct)
