"""Says what may be concluded of scores: on which rows they are, and what without reading they must be above."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.scores import PromptMean, averaged
from afrieval.analysis.unparsed import are_many
from afrieval.results.cell_scores import ACCURACY, BALANCED, CellScores
from afrieval.results.identity import Selection
from afrieval.scoring.base import Metric
from afrieval.scoring.learned import CORRECTED, is_learned
from afrieval.scoring.statistics.intervals import LEVEL, Interval
from afrieval.scoring.statistics.tests import holm, significant
from afrieval.tasks.data.baselines import Baselines, baselines
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.lock import DataLock
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec

CHANCE, CONSTANT, SEVERAL, LOWEST = "chance", "majority", "several", "lowest"
NEARLY_ALL = 0.9


class Floor(NamedTuple):
    """What a model gets without reading.

    Attributes:
        name: `chance`, or the baseline's; `several` for a mean of different ones; `lowest` for the lowest score.
        score: on the scale of the metric.
        open: whether a score might be above it, since many of its answers are unparsed.
        reads: the metric that shows, as `reading` has it, that a model which is not above it reads; empty without one.
    """

    name: str
    score: float
    open: bool = False
    reads: str = ""


def floor(average: PromptMean) -> Floor | None:
    """Returns the highest score that is known to take no reading; None if none is known."""
    first = average.cells[0]
    scores = first.baselines_by(
        [BALANCED] if average.balanced else [average.metric.name, *[ACCURACY] * first.is_accuracy]
    )
    if first.is_accuracy:
        counts = np.unique(first.golds, return_counts=True)[1]
        of_these = {} if scores or average.balanced else {CONSTANT: float(counts.max() / first.n)}
        scores |= {CHANCE: 1 / len(counts) if average.balanced else first.chance, **of_these}
    floors = [Floor(name, score) for name, score in scores.items() if not math.isnan(score)]
    return max(floors, key=lambda each: each.score, default=None)


def not_above(average: PromptMean, level: float = LEVEL) -> Floor | None:
    """Returns the highest score without reading, if an average is not above it beyond chance; else None.

    Where none is known, it is the lowest score that there is.
    """
    highest = floor(average) or Floor(LOWEST, average.metric.bounds[0])
    if not average.metric.higher_is_better:
        return None
    interval = None if highest.name == LOWEST else average.interval_at(level)
    low = interval.low if interval else average.score if highest.name == LOWEST else -math.inf
    if not low <= highest.score:
        return None
    by = reading(average.cells)
    another = by.balanced and by.cells[0].is_accuracy and by.metric.name != average.metric.name
    return highest._replace(
        open=are_many(average.cells), reads=by.metric.name if another and not not_above(by, level) else ""
    )


def reading(cells: Sequence[CellScores]) -> PromptMean:
    """Returns the average over prompts that says whether a model reads.

    A model that prefers a label, whatever the question, scores low however much it reads, and where one label is often
    right, high without reading. So of labels it is the metric that compares prompt languages, which makes all labels
    equally frequent, averaged over right answers; that of picks without regard to the question is chance.
    """
    if (name := cells[0].contrast) and cells[0].declared.get("labels") and all(name in c.metrics for c in cells):
        return averaged([cell.with_metric(name) for cell in cells], balanced=True)
    return averaged(cells)


def mean_not_above(
    averages: Sequence[PromptMean],
    mean: float,
    interval: Interval | None,
    factor: Callable[[Metric], float] = lambda metric: 1.0,
) -> Floor | None:
    """Returns `not_above` for a mean of scores times the factors of their metrics; None if each is above its own floor.

    The interval of a mean over few languages is wide, even if the score of each is sure.
    """
    under = [not_above(average) for average in averages]
    if len(averages) == 1 or not any(under):
        return under[0]
    pairs = [(factor(average.metric), floor(average)) for average in averages]
    floors = [low and low._replace(score=times * low.score) for times, low in pairs]
    is_open = are_many([cell for average in averages for cell in average.cells])
    low = under_mean(floors, mean, interval, is_open, averages[0].metric.bounds[0])
    return low and low._replace(reads=alike(each.reads for each in under if each))


def alike(names: Iterable[str]) -> str:
    """Returns a name that all share; empty if they differ."""
    distinct = {*names}
    return distinct.pop() if len(distinct) == 1 else ""


def under_mean(
    floors: Sequence[Floor | None], mean: float, interval: Interval | None, is_open: bool, lowest: float
) -> Floor | None:
    """Returns the mean of floors, if a mean of scores is not above it; unknown ones are the lowest score.

    If none is known, the mean itself has to be the lowest score.
    """
    if not any(floors) or interval is None or (None in floors and math.isinf(lowest)):
        return Floor(LOWEST, lowest, is_open) if mean <= lowest else None
    score = float(np.mean([each.score if each else lowest for each in floors]))
    names = {each.name for each in floors if each}
    name = names.pop() if len(names) == 1 and None not in floors else SEVERAL
    return Floor(name, score, is_open) if interval.low <= score else None


def one_answer(cell: CellScores) -> tuple[int, float] | None:
    """Returns the place of the choice that nearly all answers are, and its share; None if right answers are alike."""
    answers, counts = np.unique(cell.picked, return_counts=True)
    if not len(answers) or answers[counts.argmax()] < 0 or len(np.unique(cell.golds)) < 2:
        return None
    share = float(counts.max() / len(cell.picked))
    return (int(answers[counts.argmax()]), share) if share >= NEARLY_ALL else None


OWN = "the suite's own sample rows, written by hand"
OTHER = "other data"
ORDER = ("all", "sample", "first")  # of selections, the best first


class ScoredRows(NamedTuple):
    """The rows that scores are on.

    Attributes:
        words: what they are called; empty for all rows of a data set.
        concludes: whether scores on them may have a rank.
    """

    words: str = ""
    concludes: bool = True


def rows_of(cells: Sequence[CellScores]) -> list[ScoredRows]:
    """Returns the rows of each cell.

    A run has one selection of rows, although some of its test sets may be smaller than its sample. In a task and
    language, ranks are on the data that most models have, then on that with most rows.
    """
    # A small test set may lie whole within a sample: what a run sampled is seen at its largest one.
    selected = {
        folder: max(
            (cell.selection for cell in of_run), key=lambda selection: (ORDER.index(selection.kind), selection.n)
        )
        for folder, of_run in grouped(cells, lambda cell: cell.folder).items()
    }
    usual: dict[tuple[str, str], object] = {}
    for test_set, run_cells in grouped(cells, lambda cell: (cell.task, cell.language)).items():
        of_data = grouped((cell for cell in run_cells if not cell.own_rows), data_of)
        usual[test_set] = max(
            of_data,
            key=lambda data: (len({c.model for c in of_data[data]}), max(c.rows for c in of_data[data]), str(data)),
            default=None,
        )
    return [_rows(cell, selected[cell.folder], usual[cell.task, cell.language]) for cell in cells]


def _rows(cell: CellScores, selection: Selection, usual: object) -> ScoredRows:
    if cell.metrics and not cell.metric.ranked:
        why = "not corrected by people" if is_learned(cell.main) else "which does not say how good answers are"
        return ScoredRows(f"scores by {cell.main} alone, {why}", False)
    if cell.own_rows:
        return ScoredRows(OWN, concludes=False)
    if (data := data_of(cell)) and data != usual:
        return ScoredRows(f"{OTHER} ({str(data)[:8]})", concludes=False)
    if selection.kind == "all":
        return ScoredRows()
    rows = f"{selection.kind} {selection.n:,} rows" if selection.kind == "first" else f"sample of {selection.n:,} rows"
    return ScoredRows(rows if selection.concludes else f"{rows}: for debugging", selection.concludes)


def by_quality(cells: Sequence[CellScores]) -> list[CellScores]:
    """Returns cells, of tasks whose own score says nothing about quality with the corrected score of a judge.

    All models get that of the same judge, which most of them have; cells without it stay as they are.
    """
    chosen = {}
    for task, of_task in grouped(cells, lambda cell: cell.task).items():
        open_ = [cell for cell in of_task if cell.metrics and not (cell.metric.ranked or is_learned(cell.main))]
        judges = {(cell.model, judge) for cell in open_ for judge in _judges(cell)}
        if counts := Counter(judge for _, judge in sorted(judges)):
            chosen[task] = max(counts, key=lambda judge: counts[judge])
    return [
        cell.with_metric(chosen[cell.task][0]) if chosen.get(cell.task) in _judges(cell) else cell for cell in cells
    ]


def _judges(cell: CellScores) -> list[tuple[str, str]]:
    """Returns the corrected scores of a cell, with what they were made with."""
    signatures = cell.declared.get("signatures", {})
    return [(name, signatures.get(name, "")) for name in cell.metrics if name.startswith(CORRECTED)]


def data_of(cell: CellScores) -> object:
    """Returns the hash of a cell's data; None of other programs' runs, whose documents are compared one by one."""
    return None if cell.request_hashes else cell.comparable_on.get("data")


def preference(cell: CellScores) -> tuple[bool, int, int]:
    """Returns what makes a cell preferred to another one of the same model, task, language and prompt, if higher.

    Rows of a data set are preferred to sample rows of the suite, all to a sample, and both to the first rows.
    """
    return not cell.own_rows, -ORDER.index(cell.selection.kind), cell.n


def concluding(sides: Mapping[str, Sequence[CellScores]]) -> list[str]:
    """Returns the sides that may have ranks among each other; others have other data, or rows that conclude nothing."""
    pairs = [(side, cell) for side, cells in sides.items() for cell in cells]
    side_rows = zip((side for side, _ in pairs), rows_of([cell for _, cell in pairs]), strict=True)
    return [
        side for side, of in grouped(side_rows, lambda pair: pair[0]).items() if all(rows.concludes for _, rows in of)
    ]


def marks(cells: Iterable[CellScores]) -> list[str]:
    """Returns a sentence for each kind of rows that have no ranks, with what they are of."""
    cell_list = list(cells)
    by_rows = grouped(zip(cell_list, rows_of(cell_list), strict=True), lambda pair: pair[1])
    lines = []
    for rows, pairs in by_rows.items():
        if not rows.concludes:
            names = dict.fromkeys(f"{cell.model}, {cell.task}" for cell, _ in pairs)
            what = "rows" if pairs[0][0].metric.ranked else "scores"
            sentence = f"Nothing can be concluded from these {what}, so they have no ranks."
            lines.append(f"{rows.words[0].upper()}{rows.words[1:]}: {'; '.join(names)}. {sentence}")
    return lines


@dataclass(frozen=True)
class LanguageBaselines:
    """The baselines of a language.

    Attributes:
        above: the baselines that are above chance, beyond what chance explains in all languages together.
        whole: whether these are all rows of the data set.
    """

    language: str
    baselines: Baselines
    above: frozenset[str]
    whole: bool


def language_baselines(
    spec: TaskSpec, languages: Sequence[str], source: str, lock: DataLock
) -> list[LanguageBaselines]:
    """Returns the baselines of each language that a source has; none for the suite's own rows, which are a few.

    Raises:
        UserError: if the source is not usable, or a file is damaged.
    """
    if source == SAMPLES or not spec.scoring.answer.has_choices:
        return []
    loaded = {code: load_split(spec, code, spec.data.evaluate, source, lock) for code in languages}
    by_language = {
        code: (scores, split)
        for code, split in loaded.items()
        if split and (scores := baselines(spec, code, split.documents))
    }
    above = above_chance({code: scores for code, (scores, _) in by_language.items()})
    return [
        LanguageBaselines(code, scores, above[code], split.excerpt is None)
        for code, (scores, split) in by_language.items()
    ]


def above_chance(by_language: Mapping[str, Baselines]) -> dict[str, frozenset[str]]:
    """Returns the baselines of each language that are above chance, all tests of the languages together (Holm)."""
    tests = [(code, name) for code, of in by_language.items() for name in of.scores]
    adjusted = holm([by_language[code].p[name] for code, name in tests])
    small = [test for test, p in zip(tests, adjusted, strict=True) if significant(p)]
    return {code: frozenset(name for other, name in small if other == code) for code in by_language}
