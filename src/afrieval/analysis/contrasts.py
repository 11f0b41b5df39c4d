"""Two sides of one dimension on the same documents: English against native prompts, model against model, and so on."""

from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.differences import Difference, difference
from afrieval.analysis.matching import numbered
from afrieval.analysis.scores import PromptMean, averaged
from afrieval.analysis.unparsed import all_right, are_many, document_means
from afrieval.analysis.verdicts import Floor, not_above
from afrieval.languages import ENGLISH, is_african, named
from afrieval.results.cell_key import prompt_order
from afrieval.results.cell_scores import KEPT_APART, CellScores
from afrieval.results.document_scores import Numbers
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import LEVEL, Interval
from afrieval.scoring.statistics.tests import direction, significant

# What a dimension changes by its nature, and so may differ between its two sides.
CHANGES = {
    "prompt_language": {"prompt text"},
    "prompt": {"prompt text"},
    "model": set(),
    "shots": {"few-shot rows", "few-shot seed", "few-shot data", "few-shot selection"},
    "answer_form": {"limit of answers"},
    "language": {"data", "few-shot data", "prompt text"},
}


@dataclass(frozen=True)
class LanguageContrast:
    """A language's two scores on the same documents.

    Attributes:
        second_language: the other language, where languages are compared.
        prompts: the prompt numbers averaged over.
        n: documents that both sides have.
        dropped: documents that only one of them has, or whose right answers differ.
        interval: of the difference, which holds at once with the others of the contrast, and contains 0 if and only if
            `adjusted` is not below the level; None if nothing shows how sure the difference is.
        p: exact McNemar, or the paired permutation test for means over prompts and other metrics.
        adjusted: for the number of languages of the contrast.
        detectable: the smallest true difference that would be found four times out of five, among so many languages.
        gained: documents that the second side has higher; `lost`: lower.
        floor: what the better side is not above, though the sides differ: a score that takes no reading.
        concludes: whether a verdict may be given: not on the first rows of a test set, which may be alike, not of
            scores that people have not corrected, and not if it is open.
        open: whether the verdict would be another one if all unparsed answers of one side were right.
        sides: both sides on these documents; empty if they are not known.
    """

    language: str
    prompts: list[Any]
    n: int
    dropped: int
    first: float
    second: float
    interval: Interval | None
    p: float
    adjusted: float
    detectable: float
    gained: int
    lost: int
    floor: Floor | None = None
    concludes: bool = True
    open: bool = False
    sides: tuple[PromptMean, ...] = field(default=(), repr=False, compare=False)

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.second - self.first

    @property
    def is_averaged(self) -> bool:
        """Whether means over African languages and tasks include it."""
        cells = [cell for side in self.sides for cell in side.cells]
        return is_african(self.language) and all(c.is_averaged and c.concludes and not c.defect for c in cells)

    @property
    def differs(self) -> bool:
        """Whether one side is higher beyond chance, if only by what takes no reading."""
        return significant(self.adjusted)

    @property
    def verdict(self) -> int:
        """1 if the second side is higher, -1 if it is lower, 0 if neither can be concluded."""
        return direction(self.difference, self.adjusted) if self.concludes and not self.floor else 0


@dataclass(frozen=True)
class Contrast:
    """One pair of values of a dimension, over languages.

    Attributes:
        fixed: the other dimensions, as far as more than one value of them was given.
        rows: one per language.
        refused: a line for each pair that does not match.
        settings: a line for each setting that differs and may.
        is_score: whether that is the task's score.
        by_length: whether the effects of prompt language and label length cannot be separated.
        balanced: whether scores are means over the right answers of the mean over their documents.
    """

    task: str
    dimension: str
    first: Any
    second: Any
    fixed: dict[str, Any]
    rows: list[LanguageContrast]
    refused: list[str]
    settings: list[str]
    metric: Metric | None = None
    is_score: bool = True
    by_length: bool = False
    balanced: bool = False

    @property
    def cells(self) -> list[CellScores]:
        """The cells that were compared; none if only their scores are known."""
        return [cell for row in self.rows for side in row.sides for cell in side.cells]


class _Matched(NamedTuple):
    """What is compared along a dimension: pairs of cells that fit, by language, and the documents that they share."""

    sides: tuple[Any, Any]
    languages: dict[str, list[tuple[CellScores, CellScores]]]
    common: dict[str, Numbers]
    refused: list[str]


def contrasts(
    cells: list[CellScores], dimension: str, seed: int, among: list[CellScores] | None = None
) -> list[Contrast]:
    """Returns the contrasts along a dimension: its values in the order given, each against each before it.

    Prompt languages are compared under the metric that the task declares for it, if all cells have it, and else under
    its score. Where all rows have the same choices, each right answer then has the same weight, so that a model that
    always picks the same label scores alike with every prompt. All else is the same on both sides. Scores are averaged
    over the prompt numbers that both have, first for each document, unless prompts are what is compared.

    The rows of a contrast are one family of tests; where languages are compared, the rows of all pairs are one.

    Args:
        cells: of one or more runs.
        dimension: one of `results.cell_scores.DIMENSIONS`.
        seed: of permutations.
        among: all cells at hand, which tell what a title has to say; these if not given.
    """
    averaged_over = {"prompt", "language"} - {dimension} if dimension != "language" else {"prompt"}
    of_prompt = {"prompt_set"} if dimension == "prompt" else set()
    rest = [d for d in KEPT_APART if d not in {dimension, *averaged_over, *of_prompt}]
    several = [d for d in rest if len({c.dimensions[d] for c in among or cells}) > 1]
    groups = grouped(cells, lambda c: (c.task, tuple(_value(c, d, dimension) for d in rest)))
    comparisons = []
    for (task, values), of_group in groups.items():
        members = numbered(of_group) if dimension == "language" else of_group
        contrast_metrics = {cell.contrast for cell in members} if dimension == "prompt_language" else set()
        if len(contrast_metrics) == 1 and all(contrast_metrics):
            members = [cell.with_metric(cell.contrast) for cell in members]
        balanced = dimension == "prompt_language" and all(c.declared.get("labels") and c.is_accuracy for c in members)
        fixed = {d: v for d, v in zip(rest, values, strict=True) if d in several}
        pairs = combinations(dict.fromkeys(c.dimensions[dimension] for c in members), 2)
        matched = [_matched(members, dimension, pair) for pair in pairs]
        # Pairs of languages are looked at together, so all their rows are one family of tests.
        all_tests = sum(len(match.common) for match in matched)
        for match in matched:
            tests = all_tests if dimension == "language" else len(match.common)
            comparisons.append(_contrast(match, dimension, (task, fixed), balanced, tests, seed))
    return [c for c in comparisons if c.rows or c.refused]


def _value(cell: CellScores, name: str, dimension: str) -> str | int:
    """Returns a cell's value; English prompts are native in English, which compares with native ones elsewhere."""
    if dimension == "language" and name == "prompt_language" and cell.language == ENGLISH:
        return "eng"
    return cell.dimensions[name]


def _matched(members: list[CellScores], dimension: str, sides: tuple[Any, Any]) -> _Matched:
    first, second = ([c for c in members if c.dimensions[dimension] == side] for side in sides)
    equal_dimensions = [d for d in ("language", "prompt") if d != dimension]
    pairs = [(a, b) for a in first for b in second if all(getattr(a, d) == getattr(b, d) for d in equal_dimensions)]
    reasons = [_mismatch(*pair, dimension) for pair in pairs]
    judged = list(zip(pairs, reasons, strict=True))
    refused = [f"{named(one.language)}, prompt {one.prompt}: {reason}" for (one, _), reason in judged if reason]
    fitting = [pair for pair, reason in judged if not reason]
    languages = grouped(fitting, lambda pair: pair[dimension == "language"].language)
    common = {language: _common(of_language) for language, of_language in languages.items()}
    shared = {language: rows for language, rows in common.items() if len(rows)}
    return _Matched(sides, languages, shared, list(dict.fromkeys(refused)))


def _contrast(
    matched: _Matched, dimension: str, about: tuple[str, dict[str, Any]], balanced: bool, tests: int, seed: int
) -> Contrast:
    task, fixed = about
    rows = [
        _row(language, matched.languages[language], common, balanced, tests, seed)
        for language, common in matched.common.items()
    ]
    compared = [cell for of_language in matched.languages.values() for pair in of_language for cell in pair]
    settings = {line for of_language in matched.languages.values() for pair in of_language for line in _settings(*pair)}
    uneven = balanced and any(not side.has_even_classes for row in rows for side in row.sides)
    return Contrast(
        task,
        dimension,
        *matched.sides,
        fixed,
        rows,
        matched.refused,
        sorted(settings),
        metric=compared[0].metric if compared else None,
        is_score=not uneven and not any(cell.contrast == cell.main for cell in compared),
        by_length=dimension == "prompt_language"
        and any(len(set(cell.lengths)) > 1 and not cell.metric.calibrated for cell in compared),
        balanced=uneven,
    )


def _mismatch(one: CellScores, other: CellScores, dimension: str) -> str:
    """Returns what forbids to compare two cells; empty if nothing does."""
    if defective := next((cell for cell in (one, other) if dimension == "language" and cell.defect), None):
        return f"known defect of {named(defective.language)}: {defective.defect}"
    free = CHANGES[dimension]
    for name in one.comparable_on:
        if name not in free and one.comparable_on[name] != other.comparable_on.get(name):
            sides = [str(cell.comparable_on.get(name)) for cell in (one, other)]
            return f"{name} differs: {' and '.join(s if len(s) <= 24 else f'{s[:20]}...' for s in sides)}"
    if one.main != other.main:
        return f"one has {one.main}, the other {other.main}"
    if dimension == "language" and not len(np.intersect1d(one.ids, other.ids)):
        return f"no rows of {named(one.language)} and {named(other.language)} are known to be translations"
    return ""


def _settings(one: CellScores, other: CellScores) -> list[str]:
    other_settings = other.recorded_settings
    lines = [
        f"{k}: {_setting(v, other_settings.get(k))}"
        for k, v in one.recorded_settings.items()
        if v != other_settings.get(k)
    ]
    if one.metric.normalise_over_cell and one.n != other.n:
        lines.append(f"number of questions that {one.main} depends on: {one.n} and {other.n}")
    return lines


def _setting(one: object, other: object) -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        return ", ".join(f"{k} {one[k]} and {other.get(k)}" for k in one if one[k] != other.get(k))
    return f"{one} and {other}"


def _row(
    language: str, pairs: list[tuple[CellScores, CellScores]], common: Numbers, balanced: bool, tests: int, seed: int
) -> LanguageContrast:
    """Returns the comparison of a language; `tests` says how many there are in its family."""
    everything = reduce(np.union1d, [cell.ids for pair in pairs for cell in pair])
    first, second = (averaged([pair[side] for pair in pairs], common, balanced) for side in (0, 1))
    statistics, floor = _concluded(first, second, tests, seed)
    fit = first.metric.ranked and all(cell.selection.concludes for pair in pairs for cell in pair)
    is_open = fit and _is_open(first, second, tests, seed)
    return LanguageContrast(
        language=language,
        prompts=sorted({one.prompt for one, _ in pairs}, key=prompt_order),
        n=len(common),
        dropped=len(everything) - len(common),
        first=first.score,
        second=second.score,
        **statistics._asdict(),
        floor=floor,
        concludes=fit and not is_open,
        open=is_open,
        sides=(first, second),
    )


def _concluded(first: PromptMean, second: PromptMean, tests: int, seed: int) -> tuple[Difference, Floor | None]:
    """Returns the difference, and what the better side is not above if they differ."""
    statistics = difference(first, second, tests, seed)
    better = max(first, second, key=lambda side: side.score)
    return statistics, not_above(better, LEVEL / tests) if significant(statistics.adjusted) else None


def _is_open(first: PromptMean, second: PromptMean, tests: int, seed: int) -> bool:
    """Returns whether the verdict would be another one if all unparsed answers of one side were right."""

    def verdict(one: PromptMean, other: PromptMean) -> tuple[int, bool]:
        statistics, floor = _concluded(one, other, tests, seed)
        return direction(other.score - one.score, statistics.adjusted), floor is None

    one_right = (all_right(first), document_means(second)), (document_means(first), all_right(second))
    each = ((first, second), *one_right)
    return any(are_many(side.cells) for side in each[0]) and len({verdict(*sides) for sides in each}) > 1


def _common(pairs: list[tuple[CellScores, CellScores]]) -> Numbers:
    """Returns the rows that all cells have, and that have the same right answer on both sides."""
    shared = []
    for one, other in pairs:
        rows, left, right = np.intersect1d(one.ids, other.ids, assume_unique=True, return_indices=True)
        shared.append(rows[one.golds[left] == other.golds[right]])
    return reduce(np.intersect1d, shared)
