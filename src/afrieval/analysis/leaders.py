"""Who scores best, in a language and in the mean over languages, and who cannot be told apart from the best."""

from collections.abc import Mapping
from typing import NamedTuple

from afrieval.analysis.means import Mean, means
from afrieval.analysis.ranks import Rank, best_first, ranked
from afrieval.analysis.scores import LanguageScore, by_language
from afrieval.languages import LANGUAGES
from afrieval.results.scores import CellScores

Sides = Mapping[str, list[CellScores]]


class Entry(NamedTuple):
    """A side's score in a language.

    Attributes:
        rank: among the sides that have this language; None if it is the only one, or how sure its score is is not
            known.
        is_highest: whether it has the highest score of those that may be the best.
    """

    side: str
    score: LanguageScore
    rank: Rank | None
    is_highest: bool


def in_languages(sides: Sides) -> dict[str, list[Entry]]:
    """Returns for each language the sides that have it, best first.

    Args:
        sides: cells of one task, metric and language of prompts.
    """
    scores = {side: {score.language: score for score in by_language(cells)} for side, cells in sides.items()}
    languages = dict.fromkeys(language for of_side in scores.values() for language in of_side)
    return {code: _in_language(code, sides, scores) for code in languages}


def _in_language(code: str, sides: Sides, scores: Mapping[str, Mapping[str, LanguageScore]]) -> list[Entry]:
    here = {side: [c for c in cells if c.language == code] for side, cells in sides.items() if code in scores[side]}
    places = ranked(here) if len(here) > 1 else dict.fromkeys(here)
    sign = _sign(here)
    order = best_first(sorted(here, key=lambda side: -sign * scores[side][code].score), places.__getitem__)
    top = scores[order[0]][code].score
    return [Entry(side, scores[side][code], places[side], scores[side][code].score == top) for side in order]


class MeanEntry(NamedTuple):
    """A side's mean over African languages.

    Attributes:
        complete: whether it has all languages that any side has; others are over other languages, and have no rank.
        rank: among the complete sides; None if it is the only one.
    """

    side: str
    mean: Mean
    complete: bool
    rank: Rank | None


def over_languages(sides: Sides) -> list[MeanEntry]:
    """Returns the sides' means over African languages, the complete ones first, best first.

    Args:
        sides: as for `in_languages`; those without an African language are left out.
    """
    african = {
        side: [c for c in cells if LANGUAGES[c.language].african and not c.defect] for side, cells in sides.items()
    }
    found = {side: means(cells, ["Africa"])[0] for side, cells in african.items() if cells}
    widest = {code for mean in found.values() for code in mean.members}
    complete = {side: african[side] for side, mean in found.items() if set(mean.members) == widest}
    places = ranked(complete) if len(complete) > 1 else {}
    sign = _sign(sides)
    by_score = sorted(found, key=lambda side: (side not in complete, -sign * found[side].score))
    order = best_first(by_score, places.get)
    return [MeanEntry(side, found[side], side in complete, places.get(side)) for side in order]


def _sign(sides: Sides) -> int:
    return 1 if next(iter(sides.values()))[0].metric.higher_is_better else -1
