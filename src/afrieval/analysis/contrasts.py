"""Two sides of one dimension on the same documents: English against native prompts, model against model, and so on."""

from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.differences import Difference, difference
from afrieval.analysis.means import numbered
from afrieval.analysis.scores import averaged
from afrieval.analysis.unparsed import all_right, are_many, document_means
from afrieval.languages import ENGLISH, named
from afrieval.results.cell_key import prompt_order
from afrieval.results.cell_scores import KEPT_APART, CellScores
from afrieval.results.document_columns import Numbers
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.tests import direction

# What a dimension changes by its nature, and so may differ between its two sides.
CHANGES = {
    "prompt_language": {"prompt text"},
    "prompt": {"prompt text"},
    "model": set(),
    "shots": {"few-shot rows", "few-shot seed", "few-shot data", "few-shot selection"},
    "answer_form": {"limit of answers"},
    "language": {"data", "few-shot data", "prompt text"},
}

Pair = tuple[CellScores, CellScores]


@dataclass(frozen=True)
class Contrast:
    """One pair of values of a dimension, over languages.

    Attributes:
        fixed: the other dimensions, as far as more than one value of them was given.
        rows: one per language; their intervals hold at once.
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
    rows: list[Difference]
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

    def fixed_values(cell: CellScores) -> tuple[str | int, ...]:
        # English prompts are native in English, which compares with native ones elsewhere.
        is_both = dimension == "language" and cell.language == ENGLISH
        return tuple("eng" if is_both and d == "prompt_language" else cell.dimensions[d] for d in rest)

    groups = grouped(cells, lambda cell: (cell.task, fixed_values(cell)))
    comparisons = []
    for (task, values), of_group in groups.items():
        members = numbered(of_group) if dimension == "language" else of_group
        contrast_metrics = {cell.contrast for cell in members} if dimension == "prompt_language" else set()
        if len(contrast_metrics) == 1 and all(contrast_metrics):
            members = [cell.with_metric(cell.contrast) for cell in members]
        balanced = dimension == "prompt_language" and all(c.declared.get("labels") and c.is_accuracy for c in members)
        fixed = {d: v for d, v in zip(rest, values, strict=True) if d in several}
        sides = combinations(dict.fromkeys(c.dimensions[dimension] for c in members), 2)
        matched = [(pair, *_matched(members, dimension, pair)) for pair in sides]
        # Pairs of languages are looked at together, so all their rows are one family of tests.
        all_tests = sum(len(common) for *_, common in matched)
        for (first, second), languages, refused, common in matched:
            tests = all_tests if dimension == "language" else len(common)
            rows = [_row(code, languages[code], shared, balanced, tests, seed) for code, shared in common.items()]
            fitting = [pair for of_language in languages.values() for pair in of_language]
            compared = [cell for pair in fitting for cell in pair]
            uneven = balanced and any(not side.has_even_classes for row in rows for side in row.sides)
            by_length = any(len(set(cell.lengths)) > 1 and not cell.metric.calibrated for cell in compared)
            contrast = Contrast(
                task,
                dimension,
                first,
                second,
                fixed,
                rows,
                refused,
                sorted({line for pair in fitting for line in _settings(*pair)}),
                metric=compared[0].metric if compared else None,
                is_score=not uneven and not any(cell.contrast == cell.main for cell in compared),
                by_length=dimension == "prompt_language" and by_length,
                balanced=uneven,
            )
            comparisons += [contrast] if rows or refused else []
    return comparisons


def _matched(
    members: list[CellScores], dimension: str, sides: tuple[Any, Any]
) -> tuple[dict[str, list[Pair]], list[str], dict[str, Numbers]]:
    """Returns the pairs of cells that fit, by language, a line for each that does not, and the documents in common."""
    first, second = ([c for c in members if c.dimensions[dimension] == side] for side in sides)
    equal_dimensions = [d for d in ("language", "prompt") if d != dimension]
    fitting, refused = list[Pair](), dict[str, None]()
    for pair in (
        (a, b) for a in first for b in second if all(getattr(a, d) == getattr(b, d) for d in equal_dimensions)
    ):
        if reason := _mismatch(*pair, dimension):
            refused[f"{named(pair[0].language)}, prompt {pair[0].prompt}: {reason}"] = None
        else:
            fitting.append(pair)
    languages = grouped(fitting, lambda pair: pair[dimension == "language"].language)
    common = {}
    for language, of_language in languages.items():
        of_pairs = []  # the rows of each pair that have the same right answer on both sides
        for one, other in of_language:
            rows, left, right = np.intersect1d(one.ids, other.ids, assume_unique=True, return_indices=True)
            of_pairs.append(rows[one.golds[left] == other.golds[right]])
        if len(shared := reduce(np.intersect1d, of_pairs)):
            common[language] = shared
    return languages, list(refused), common


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
    """Returns a line for each setting that differs; of maps, the entries that do."""
    lines = []
    for name, setting in one.recorded_settings.items():
        if setting != (of_other := other.recorded_settings.get(name)):
            words = f"{setting} and {of_other}"
            if isinstance(setting, dict) and isinstance(of_other, dict):
                words = ", ".join(
                    f"{k} {setting[k]} and {of_other.get(k)}" for k in setting if setting[k] != of_other.get(k)
                )
            lines.append(f"{name}: {words}")
    if one.metric.normalise_over_cell and one.n != other.n:
        lines.append(f"number of questions that {one.main} depends on: {one.n} and {other.n}")
    return lines


def _row(language: str, pairs: list[Pair], common: Numbers, balanced: bool, tests: int, seed: int) -> Difference:
    """Returns the comparison of a language; `tests` says how many there are in its family."""
    everything = reduce(np.union1d, [cell.ids for pair in pairs for cell in pair])
    first, second = (averaged([pair[side] for pair in pairs], common, balanced) for side in (0, 1))
    whole = difference(first, second, tests, seed)
    fit = first.metric.ranked and all(cell.selection.concludes for pair in pairs for cell in pair)
    is_open = False
    if fit and any(are_many(side.cells) for side in (first, second)):
        # Whether the verdict would be another one if all unparsed answers of one side were right.
        one_right = (all_right(first), document_means(second)), (document_means(first), all_right(second))
        cases = [whole, *(difference(*sides, tests, seed) for sides in one_right)]
        is_open = len({(direction(case.difference, case.adjusted), case.floor is None) for case in cases}) > 1
    return replace(
        whole,
        language=language,
        prompts=sorted({one.prompt for one, _ in pairs}, key=prompt_order),
        dropped=len(everything) - len(common),
        concludes=fit and not is_open,
        open=is_open,
        sides=(first, second),
    )
