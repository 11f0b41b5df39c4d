"""Who is best, and how sure that is: in a task over African languages, in a language, and in a sentence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.best import LanguageEntry, MeanEntry
from afrieval.analysis.contrasts import Contrast, LanguageContrast
from afrieval.analysis.means import Mean
from afrieval.analysis.ranks import Rank
from afrieval.analysis.scores import LanguageScore
from afrieval.analysis.verdicts import Floor
from afrieval.report.contrast_tables import ALIKE, SETTINGS, ComparableScores, contrast_metric, why_not
from afrieval.report.native import verdict
from afrieval.report.score_tables import AS_WRONG
from afrieval.report.values import (
    Bounds,
    bounds_of,
    language_name,
    language_names,
    listed,
    shown_change,
    shown_interval,
    shown_score,
)
from afrieval.report.verdict_words import OPEN, unread_words
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval

NAMED = 3  # models that a sentence or cell names; others are counted
Entries = Mapping[str, Sequence[LanguageEntry]]
Effects = Mapping[tuple[object, ...], Mapping[str, "Effect"]]  # of each side of a task, by language


class Effect(NamedTuple):
    """What native prompts change in a language.

    Attributes:
        by: the metric that prompts are compared by, if it is not the task's own.
    """

    row: LanguageContrast
    metric: Metric | None
    by: str

    @property
    def bounds(self) -> Bounds:
        """The scale of the difference."""
        return bounds_of(self.metric)

    @property
    def verdict(self) -> int | None:
        """As `native.verdict` has it."""
        return verdict(self.row, self.metric)

    @property
    def words(self) -> str:
        """What follows from it."""
        return {1: "help", -1: "hurt"}.get(self.verdict or 0) or why_not(self.row, self.metric)


class Best(NamedTuple):
    """The best of several, or the first of those that may be.

    Attributes:
        rivals: what cannot be told apart from it.
        alone: whether there is nothing to compare it with.
        unread: what it, or of the best one, none is above; empty if it is above all that takes no reading.
    """

    side: str
    score: float
    interval: Interval | None
    bounds: Bounds
    rank: Rank | None
    rivals: list[str]
    alone: bool
    unread: str

    @property
    def sure(self) -> str:
        """Its interval; the score itself where none is known."""
        return shown_interval(self.interval, self.bounds) if self.interval else shown_score(self.score, self.bounds)

    @property
    def words(self) -> str:
        """Who is best, and how sure that is; or that no score is above what takes no reading."""
        if self.unread:
            return f"{self.side if self.alone else 'no model'} is {'not ' if self.alone else ''}above {self.unread}"
        score = shown_score(self.score, self.bounds)
        if self.alone:
            return f"{self.side} scores {score}{f' (95% CI {self.sure})' if self.interval else ''}"
        if self.rank is None:
            return f"{self.side} has the best score, {self.sure}, whose error is not known"
        others = listed(self.rivals, NAMED)
        rest = f"{others} cannot be told apart from it" if others else "all others are significantly worse"
        return f"{self.side} is best, {self.sure}; {rest}"


class Place(NamedTuple):
    """A side's score in a task, in a language or in the mean over African languages.

    Attributes:
        language: its code; empty for the mean.
        n: how many languages a mean is over, or documents a score.
        leads: whether it is the best, or the first of those that may be.
        effects: what native prompts change in the languages that it is over.
    """

    task: str
    language: str
    model: str
    best: Best
    n: int
    leads: bool
    concludes: bool
    effects: list[Effect]


def effects_of(contrasts: Iterable[Contrast]) -> Effects:
    """Returns what native prompts change for each side, from the contrasts of prompt languages."""
    effects: dict[tuple[object, ...], dict[str, Effect]] = {}
    for contrast in contrasts:
        for row in (row for row in contrast.rows if row.sides):
            key = _key(row.sides[0].cells[0])
            effects.setdefault(key, {})[row.language] = Effect(row, contrast.metric, contrast_metric(contrast))
    return effects


def _key(cell: CellScores) -> tuple[object, ...]:
    return (cell.task, cell.model, *(cell.dimensions[name] for name in SETTINGS))


def places(part: ComparableScores, means: Sequence[MeanEntry], entries: Entries, effects: Effects) -> Iterator[Place]:
    """Yields all sides of a task, the best first: in the mean over African languages, and in each language."""
    levels: list[tuple[str, Sequence[MeanEntry | LanguageEntry]]] = [("", means)] if len(entries) > 1 else []
    for code, standings in [*levels, *sorted(entries.items(), key=lambda each: language_name(each[0]))]:
        rivals = [each.side for each in standings[1:] if each.rank and each.rank.first == 1]
        for each in standings:
            first = part.sides[each.side][0]
            by_language = effects.get(_key(first), {})
            score: Mean | LanguageScore
            if isinstance(each, MeanEntry):
                score, codes, n = each.mean, each.mean.members, len(each.mean.members)
                concludes = each.complete and each.side in part.concluding
            else:
                score, codes, n, concludes = each.score, [code], each.score.n, each.concludes
            leads = each is standings[0]
            unread = not_read([each.floor, *(other.floor for other in standings if leads)], part.metric.bounds)
            best = Best(
                each.side, score.score, score.interval, part.metric.bounds, each.rank, rivals if leads else [],
                len(standings) == 1, unread,
            )  # fmt: skip
            known_effects = [by_language[of_code] for of_code in codes if of_code in by_language]
            yield Place(part.task, code, first.model, best, n, leads, concludes, known_effects)


def not_read(floors: Sequence[Floor | None], bounds: Bounds) -> str:
    """Returns what the first of several scores is not above, maybe for unparsed answers of any; empty if it is."""
    is_open = any(floor and floor.open for floor in floors)
    return unread_words(floors[0]._replace(open=is_open), bounds) if floors[0] else ""


def effect_words(effects: Sequence[Effect]) -> str:
    """Returns what native prompts change in a language, or in how many of several; empty if it is not known."""
    if not effects:
        return ""
    change = shown_change(float(np.mean([each.row.difference for each in effects])), effects[0].bounds)
    if len(effects) == 1:
        words = effects[0].words
        return f"{words} ({change})" if effects[0].verdict else f"{change}, {words}"
    verdicts = [each.verdict for each in effects]
    if set(verdicts) == {None}:
        return next((each.words for each in effects if each.row.open), effects[0].words)
    words_of = ((1, "help"), (-1, "hurt"), (None, "nothing is concluded"))
    counts = [f"{word} in {verdicts.count(which)}" for which, word in words_of if which in verdicts]
    return f"{change} on average; {' and '.join(counts) or ALIKE} {'of' if counts else 'in'} {len(effects)} languages"


def sentence(of_language: Sequence[Place], named: bool) -> str:
    """Returns who is best in a language, how sure that is, and what native prompts change, after the language's name.

    Args:
        of_language: the best side of each task, of those that something can be concluded from.
        named: whether tasks are named.
    """
    if not named:
        (only,) = of_language
        parts = [] if only.best.unread and not only.effects else [*_native_words([only], False)]
        return f"{'; '.join([only.best.words, *parts])}."
    read = [side for side in of_language if not side.best.unread]
    parts = []
    for name, sides in grouped((side for side in read if not side.best.rivals), lambda side: side.best.side).items():
        alone = all(side.best.alone for side in sides)
        scores = [f"{p.best.sure} in {p.task}" if alone else f"{p.task} ({p.best.sure})" for p in sides]
        parts.append(f"{name} {'scores' if alone else 'is best in'} {listed(scores)}")
    parts += _open_words([side for side in read if side.best.rivals])
    if unread := [side for side in of_language if side.best.unread]:
        where = f"nothing is above chance in {listed([p.task for p in unread])}" if read else "no score is above chance"
        parts.append(where + _why(unread))
    return f"{'; '.join([*parts, *_native_words(read, True)])}."


def _open_words(best: Sequence[Place]) -> list[str]:
    """Returns which sides may be the best in most of the tasks in which several may be; empty without such tasks."""
    counts = Counter(name for side in best for name in (side.best.side, *side.best.rivals))
    most = max(counts.values(), default=0)
    names = listed([name for name in counts if counts[name] == most], NAMED - 1)
    where = listed([side.task for side in best], NAMED)
    if most < len(best):
        where = f"{most} of {len(best)} tasks ({where})"
    return [f"{names} may be the best in {where}"] if best else []


def _native_words(best: Sequence[Place], named: bool) -> list[str]:
    """Returns what native prompts change for the best side of each task; nothing where that is not known."""
    effects = [(side.task, effect) for side in best for effect in side.effects]
    if not effects:
        return []
    if not named:
        return [f"native prompts {effect_words([effect for _, effect in effects])}"]
    parts = []
    for which, word in ((1, "help"), (-1, "hurt")):
        tasks = [f"{task} ({shown_change(e.row.difference, e.bounds)})" for task, e in effects if e.verdict == which]
        parts += [f"{word} in {listed(tasks)}"] if tasks else []
    if any(effect.row.open for _, effect in effects):
        parts.append(OPEN if not parts else "elsewhere, unparsed answers could decide it")
    return [f"native prompts {', '.join(parts) or f'make {ALIKE}'}"]


def language_sentences(sides: Iterable[Place]) -> Iterator[tuple[str, str, str]]:
    """Yields the sentences of languages, each with its code and when it is shown, as pages have it.

    Languages in which no score is above chance share one sentence; each has its own when it is chosen.
    """
    best = [side for side in sides if side.leads and side.language and side.concludes]
    of_languages = grouped(best, lambda side: side.language)
    unread = [code for code, of in of_languages.items() if all(side.best.unread for side in of)]
    several, named = len(unread) > 1, len({side.task for side in best}) > 1
    for code in sorted(of_languages, key=language_name):
        yield code, "language" if several and code in unread else "", sentence(of_languages[code], named)
    if several:
        why = _why(side for code in unread for side in of_languages[code])
        yield "", "all", f"No score is above chance in {language_names(unread)}{why}."


def _why(unread: Iterable[Place]) -> str:
    return AS_WRONG * any(side.best.unread.endswith(AS_WRONG) for side in unread)
