"""Ranks models in each language and in the mean over languages: the best, and those equal to it within chance."""

from collections.abc import Mapping
from typing import NamedTuple

from afrieval._util.grouping import grouped
from afrieval.analysis.means import Mean, means
from afrieval.analysis.ranks import Rank, best_first, ranked
from afrieval.analysis.scores import LanguageScore, averaged, by_language
from afrieval.analysis.verdicts import Floor, concluding, mean_not_above, not_above
from afrieval.languages import LANGUAGES
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.statistics.intervals import LEVEL

Sides = Mapping[str, list[CellScores]]


class LanguageEntry(NamedTuple):
    """A side's score in a language.

    Attributes:
        rank: among the sides that have this language; None if it is the only one, or how sure its score is is not
            known, or nothing can be concluded from its rows.
        is_highest: whether it has the highest score of those that may be the best.
        floor: what it is not above: a score that takes no reading.
        concludes: whether something can be concluded from its rows, next to the others'.
    """

    side: str
    score: LanguageScore
    rank: Rank | None
    is_highest: bool
    floor: Floor | None = None
    concludes: bool = True


def in_languages(sides: Sides) -> dict[str, list[LanguageEntry]]:
    """Returns for each language the sides that have it, best first."""
    scores = {side: {score.language: score for score in by_language(cells)} for side, cells in sides.items()}
    languages = dict.fromkeys(language for of_side in scores.values() for language in of_side)
    return {code: _in_language(code, sides, scores) for code in languages}


def _in_language(code: str, sides: Sides, scores: Mapping[str, Mapping[str, LanguageScore]]) -> list[LanguageEntry]:
    in_language = {
        side: [c for c in cells if c.language == code] for side, cells in sides.items() if code in scores[side]
    }
    fit = concluding(in_language)
    ranks = ranked({side: in_language[side] for side in fit}) if len(fit) > 1 else {}
    sign = _sign(in_language)
    by_score = sorted(in_language, key=lambda side: (side not in fit, -sign * scores[side][code].score))
    order = best_first(by_score, ranks.get)
    top = scores[order[0]][code].score
    floors = {side: not_above(averaged(in_language[side]), LEVEL / len(in_language)) for side in in_language}
    highest = {side for side in fit if scores[side][code].score == top}
    return [
        LanguageEntry(side, scores[side][code], ranks.get(side), side in highest, floors[side], side in fit)
        for side in order
    ]


class MeanEntry(NamedTuple):
    """A side's mean over African languages.

    Attributes:
        complete: whether it has all languages that any side has, and rows that something can be concluded from; others
            have no rank.
        rank: among the complete sides; None if it is the only one.
        floor: what it is not above: the mean of what takes no reading in each language.
    """

    side: str
    mean: Mean
    complete: bool
    rank: Rank | None
    floor: Floor | None = None


def over_languages(sides: Sides) -> list[MeanEntry]:
    """Returns the sides' means over African languages, the complete ones first, best first."""
    african = {
        side: [c for c in cells if LANGUAGES[c.language].african and not c.defect] for side, cells in sides.items()
    }
    side_means = {side: means(cells, ["Africa"])[0] for side, cells in african.items() if cells}
    widest = {code for mean in side_means.values() for code in mean.members}
    fit = concluding(african)
    widest = {code for side, mean in side_means.items() if side in fit for code in mean.members} or widest
    complete = {side: african[side] for side, mean in side_means.items() if side in fit and set(mean.members) == widest}
    ranks = ranked(complete) if len(complete) > 1 else {}
    sign = _sign(sides)
    by_score = sorted(side_means, key=lambda side: (side not in complete, -sign * side_means[side].score))
    order = best_first(by_score, ranks.get)
    averages = {side: [*map(averaged, grouped(african[side], lambda c: c.language).values())] for side in order}
    floors = {
        side: mean_not_above(of, side_means[side].score, side_means[side].interval) for side, of in averages.items()
    }
    return [MeanEntry(side, side_means[side], side in complete, ranks.get(side), floors[side]) for side in order]


def _sign(sides: Sides) -> int:
    return 1 if next(iter(sides.values()))[0].metric.higher_is_better else -1
