"""Where sides stand: the score of each, its rank, and what it is not above, in a language or in a mean over several."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from afrieval._util.grouping import grouped
from afrieval.analysis.means import means
from afrieval.analysis.ranks import Rank, best_first, ranked
from afrieval.analysis.scores import averaged, by_language
from afrieval.analysis.verdicts import Floor, concluding, mean_not_above, not_above
from afrieval.languages import LANGUAGES
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.statistics.intervals import LEVEL, Interval

S = TypeVar("S")
Pair = tuple[str, str]  # task and language


class Standing(NamedTuple, Generic[S]):
    """The score and rank of a side, in a task and language or in a mean over several.

    Attributes:
        side: what is ranked, such as a model.
        score: of a single task on its metric's scale, of several in percent of the metrics' ranges.
        pairs: the tasks and languages in which it has scores.
        n: the smallest number of documents in a pair; None if it is not known.
        rank: None if it is the only side, or over other pairs than the board, or its error is not known, or nothing can
            be concluded from its rows.
        floor: what it is not above: a score that takes no reading.
        whole: whether its score is over the pairs of the board; if not, it is over those that it has.
        concludes: whether something can be concluded from its rows, next to the others'.
        unparsed: the shares of unparsed answers in its pairs, where they are many.
        unreviewed: how its native prompts that nobody has reviewed were made; empty without any.
        baseline: the best score without reading the text; None if none is known.
    """

    side: S
    score: float
    interval: Interval | None
    pairs: Sequence[Pair]
    n: int | None
    rank: Rank | None = None
    floor: Floor | None = None
    whole: bool = True
    concludes: bool = True
    unparsed: Mapping[Pair, float] = {}
    unreviewed: Set[bool | str] = frozenset()
    baseline: float | None = None

    @property
    def languages(self) -> list[str]:
        """The languages in which it has scores, sorted."""
        return sorted({language for _, language in self.pairs})

    def over(self, factor: float) -> "Standing[S]":
        """Returns a standing on another scale: all scores divided by a factor."""
        interval = Interval(*sorted(end / factor for end in self.interval)) if self.interval else None
        floor = self.floor and self.floor._replace(score=self.floor.score / factor)
        return self._replace(score=self.score / factor, interval=interval, floor=floor)

    @property
    def may_be_best(self) -> bool:
        """Whether no other side is significantly better."""
        return self.rank is not None and self.rank.first == 1


@dataclass(frozen=True)
class Board(Generic[S]):
    """Standings, the best first; those over other pairs, or with rows that conclude nothing, are last.

    Attributes:
        pairs: the tasks and languages averaged over.
        n_pairs: number of pairs of any side.
    """

    name: str
    pairs: Sequence[Pair]
    n_pairs: int
    standings: list[Standing[S]]

    @property
    def tasks(self) -> list[str]:
        """The tasks averaged over."""
        return list(dict.fromkeys(task for task, _ in self.pairs))

    @property
    def languages(self) -> list[str]:
        """The languages averaged over, sorted."""
        return sorted({language for _, language in self.pairs})

    @property
    def rivals(self) -> list[S]:
        """The sides that cannot be told apart from the first one."""
        return [standing.side for standing in self.standings[1:] if standing.may_be_best]


Sides = Mapping[str, list[CellScores]]


def in_languages(sides: Sides) -> dict[str, Board[str]]:
    """Returns a board for each language, of the sides that have it in a task."""
    scores = {side: {score.language: score for score in by_language(cells)} for side, cells in sides.items()}
    languages = dict.fromkeys(language for of_side in scores.values() for language in of_side)
    boards = {}
    for code in languages:
        in_language = {
            side: [c for c in cells if c.language == code] for side, cells in sides.items() if code in scores[side]
        }
        fit = concluding(in_language)
        ranks = ranked({side: in_language[side] for side in fit}) if len(fit) > 1 else {}
        sign, level = _sign(in_language), LEVEL / len(in_language)  # all sides of the language together
        by_score = sorted(in_language, key=lambda side: (side not in fit, descending(sign * scores[side][code].score)))
        standings = [
            Standing(
                side,
                score.score,
                score.interval,
                [(score.task, code)],
                score.n,
                ranks.get(side),
                not_above(averaged(in_language[side]), level),
                concludes=side in fit,
                unreviewed={score.unreviewed} - {""},
                baseline=score.best_baseline,
            )
            for side in best_first(by_score, ranks.get)
            for score in [scores[side][code]]
        ]
        boards[code] = Board(code, standings[0].pairs, 1, standings)
    return boards


def over_languages(sides: Sides) -> Board[str]:
    """Returns the sides' means over African languages in a task, those with all languages of any side first."""
    african = {
        side: [c for c in cells if LANGUAGES[c.language].african and not c.defect] for side, cells in sides.items()
    }
    side_means = {side: means(cells, ["Africa"])[0] for side, cells in african.items() if cells}
    widest = {code for mean in side_means.values() for code in mean.members}
    fit = concluding(african)
    # What sides without a rank have does not count, if others have one: they would leave all others incomplete.
    widest = {code for side, mean in side_means.items() if side in fit for code in mean.members} or widest
    complete = {side: african[side] for side, mean in side_means.items() if side in fit and set(mean.members) == widest}
    ranks = ranked(complete) if len(complete) > 1 else {}
    sign = _sign(sides)
    by_score = sorted(side_means, key=lambda side: (side not in complete, descending(sign * side_means[side].score)))
    standings = []
    for side in best_first(by_score, ranks.get):
        mean, averages = side_means[side], [*map(averaged, grouped(african[side], lambda c: c.language).values())]
        standings.append(
            Standing(
                side,
                mean.score,
                mean.interval,
                [(mean.task, code) for code in mean.members],
                min(len(average.ids) for average in averages),
                ranks.get(side),
                mean_not_above(averages, mean.score, mean.interval),
                whole=side in complete,
                concludes=side in fit and all(cell.concludes for cell in sides[side]),
            )
        )
    task = next(iter(sides.values()))[0].task
    return Board("", [(task, code) for code in sorted(widest)], len(widest), standings)


def descending(score: float) -> float:
    """Returns the key that sorts scores from high to low, and those that are not defined last."""
    return math.inf if math.isnan(score) else -score


def _sign(sides: Sides) -> int:
    return 1 if next(iter(sides.values()))[0].metric.higher_is_better else -1
