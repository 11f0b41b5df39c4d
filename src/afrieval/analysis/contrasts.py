"""Two sides of one dimension on the same documents: English against native prompts, model against model, and so on."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from afrieval.analysis.questions import numbered
from afrieval.languages import ENGLISH
from afrieval.results.units import DIMENSIONS, Unit, Values
from afrieval.statistics.intervals import Interval, bootstrap
from afrieval.statistics.significance import LEVEL, flips, holm, mcnemar, sign_permutation, smallest_visible

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
class Row:
    """A language's two scores on the same documents.

    Attributes:
        second_language: the other language, where languages are compared.
        prompts: the prompt numbers averaged over.
        n: documents that both sides have.
        dropped: documents that only one of them has, or whose right answers differ.
        interval: of the difference, by paired bootstrap; None where all documents differ alike.
        p: exact McNemar, or the paired permutation test for means over prompts.
        adjusted: after Holm, over the languages of the contrast.
        visible: the smallest true difference that would be found four times out of five, among so many languages.
        gained: documents that the second side has higher; `lost`: lower.
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
    visible: float
    gained: int
    lost: int

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.second - self.first

    @property
    def verdict(self) -> int:
        """1 if the second side is higher beyond chance, -1 if it is lower, 0 if nothing can be seen."""
        return int(np.sign(self.difference)) if self.adjusted < LEVEL else 0


@dataclass(frozen=True)
class Contrast:
    """One pair of values of a dimension, over languages.

    Attributes:
        fixed: the other dimensions, as far as more than one value of them was given.
        rows: one per language.
        refused: a line for each pair that does not match.
        settings: a line for each setting that differs and may.
    """

    task: str
    dimension: str
    first: Any
    second: Any
    fixed: dict[str, Any]
    rows: list[Row]
    refused: list[str]
    settings: list[str]


def contrasts(units: list[Unit], dimension: str, seed: int, among: list[Unit] | None = None) -> list[Contrast]:
    """Returns the contrasts along a dimension: its values in the order given, each against each before it.

    All else is the same on both sides. Scores are averaged over the prompt numbers that both have, first for each
    document, unless prompts are what is compared.

    Args:
        units: cells of one or more runs.
        dimension: one of `DIMENSIONS`.
        seed: of bootstrap and permutations.
        among: all cells at hand, which tell what a title has to say; these if not given.
    """
    averaged = {"prompt", "language"} - {dimension} if dimension != "language" else {"prompt"}
    rest = [d for d in DIMENSIONS if d != dimension and d not in averaged]
    groups: dict[tuple[Any, ...], list[Unit]] = {}
    for unit in units:
        groups.setdefault((unit.task, *(_value(unit, d, dimension) for d in rest)), []).append(unit)
    found = []
    for (task, *values), of_group in groups.items():
        members = numbered(of_group) if dimension == "language" else of_group
        fixed = {d: v for d, v in zip(rest, values, strict=True) if len({u.dimensions[d] for u in among or units}) > 1}
        sides = list(dict.fromkeys(u.dimensions[dimension] for u in members))
        pairs = list(combinations(sides, 2))
        tests = len(pairs) if dimension == "language" else None
        of_pairs = [_contrast(members, dimension, pair, (task, fixed), tests, seed) for pair in pairs]
        found += [c for c in (_adjusted_together(of_pairs) if tests else of_pairs) if c.rows or c.refused]
    return found


def _adjusted_together(found: list[Contrast]) -> list[Contrast]:
    """Returns contrasts of one row each, adjusted as one family: where languages are compared, pairs are many."""
    adjusted = iter(holm([row.p for contrast in found for row in contrast.rows]))
    return [replace(c, rows=[replace(row, adjusted=next(adjusted)) for row in c.rows]) for c in found]


def _value(unit: Unit, name: str, dimension: str) -> Any:
    """Returns a unit's value; English prompts are native in English, which compares with native ones elsewhere."""
    if dimension == "language" and name == "prompt_language" and unit.language == ENGLISH:
        return "eng"
    return unit.dimensions[name]


def _contrast(
    members: list[Unit],
    dimension: str,
    sides: tuple[Any, Any],
    about: tuple[str, dict[str, Any]],
    tests: int | None,
    seed: int,
) -> Contrast:
    first, second = ([u for u in members if u.dimensions[dimension] == side] for side in sides)
    pairs: dict[str, list[tuple[Unit, Unit]]] = {}
    refused: list[str] = []
    for one in first:
        for other in second:
            if not _same_place(one, other, dimension):
                continue
            if reason := _mismatch(one, other, dimension):
                refused.append(f"{one.language}, prompt {one.dimensions['prompt']}: {reason}")
            else:
                pairs.setdefault(other.language if dimension == "language" else one.language, []).append((one, other))
    rows = [_row(language, of_language, tests or len(pairs), seed) for language, of_language in pairs.items()]
    rows = [row for row in rows if row is not None]
    adjusted = holm([row.p for row in rows if row])
    settings = sorted({line for of_language in pairs.values() for pair in of_language for line in _settings(*pair)})
    task, fixed = about
    whole = [replace(row, adjusted=p) for row, p in zip(rows, adjusted, strict=True) if row]
    return Contrast(task, dimension, *sides, fixed, whole, list(dict.fromkeys(refused)), settings)


def _same_place(one: Unit, other: Unit, dimension: str) -> bool:
    return all(one.dimensions[d] == other.dimensions[d] for d in ("language", "prompt") if d != dimension)


def _mismatch(one: Unit, other: Unit, dimension: str) -> str:
    """Returns what forbids to compare two units; empty if nothing does."""
    free = CHANGES[dimension]
    for name in one.must:
        if name not in free and one.must[name] != other.must.get(name):
            return f"{name} differs: {_short(one.must[name])} and {_short(other.must.get(name))}"
    if one.metric != other.metric:
        return f"one has {one.metric}, the other {other.metric}"
    if dimension == "language" and not len(np.intersect1d(one.ids, other.ids)):
        return f"no rows of {one.language} and {other.language} are known to be translations"
    return ""


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:20]}..."


def _settings(one: Unit, other: Unit) -> list[str]:
    different = [name for name in one.may if one.may[name] != other.may.get(name)]
    return [f"{name}: {_setting(one.may[name], other.may.get(name))}" for name in different]


def _setting(one: Any, other: Any) -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        return ", ".join(f"{k} {one[k]} and {other.get(k)}" for k in one if one[k] != other.get(k))
    return f"{one} and {other}"


def _row(language: str, pairs: list[tuple[Unit, Unit]], tests: int, seed: int) -> Row | None:
    """Returns the comparison of a language, before the adjustment; None if no document is on both sides."""
    common = _common(pairs)
    everything = set().union(*(set(u.ids.tolist()) for pair in pairs for u in pair))
    if not len(common):
        return None
    first, second = (_mean([pair[side] for pair in pairs], common) for side in (0, 1))
    rng = np.random.default_rng(seed)
    binary = set(np.unique(np.concatenate([first, second]))) <= {0.0, 1.0}
    gained, lost = flips(first, second)
    return Row(
        language=language,
        prompts=sorted({pair[0].dimensions["prompt"] for pair in pairs}),
        n=len(common),
        dropped=len(everything) - len(common),
        first=float(first.mean()),
        second=float(second.mean()),
        interval=bootstrap(second - first, rng),
        p=mcnemar(first, second) if binary else sign_permutation(second - first, rng),
        adjusted=1.0,
        visible=smallest_visible(second - first, tests),
        gained=gained,
        lost=lost,
    )


def _common(pairs: Iterable[tuple[Unit, Unit]]) -> Any:
    """Returns the rows that all units have, and that have the same right answer on both sides."""
    common: Any = None
    for pair in pairs:
        one, other = pair
        shared, at, there = np.intersect1d(one.ids, other.ids, assume_unique=True, return_indices=True)
        shared = shared[one.golds[at] == other.golds[there]]
        common = shared if common is None else np.intersect1d(common, shared, assume_unique=True)
    return common


def _mean(units: list[Unit], rows: Any) -> Values:
    values = [unit.values[np.searchsorted(unit.ids, rows)] for unit in units]
    return np.asarray(np.mean(values, axis=0), dtype=np.float64)
