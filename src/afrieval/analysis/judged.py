"""What judges and people say of stored answers, how far they agree, and what may mislead a judge."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from afrieval.analysis.scores import PromptMean, averaged
from afrieval.analysis.subgroups import places
from afrieval.results.cell_scores import CellScores
from afrieval.results.samples import Sample, read_lines
from afrieval.scoring.labels import CUT, REFUSED
from afrieval.scoring.learned import JUDGE, JUDGED, PEOPLE, RATINGS, corrected_name

FEWEST = 10
LANGUAGE = "output_language"
MISLEADING = {"in another language": (LANGUAGE, 0.0), "refused": (REFUSED, 1.0), "cut off": (CUT, 1.0)}


class JudgedAnswer(NamedTuple):
    """A scored answer.

    Attributes:
        row: its document.
        length: in characters.
        judged: judge to what it says.
        ratings: rater to level.
        worth: what judges and people say it is worth, by metric, from 0 to 1.
        flags: what may mislead a judge, as `MISLEADING` names it.
    """

    cell: CellScores
    row: int
    length: int
    judged: Mapping[str, Mapping[str, Any]]
    ratings: Mapping[str, str]
    worth: Mapping[str, float]
    flags: frozenset[str]

    def difference(self, judge: str) -> float:
        """Returns by how much a judge's score differs from people's; 0 if one of them is missing."""
        return self.worth[judge] - self.worth[PEOPLE] if {judge, PEOPLE} <= self.worth.keys() else 0.0


class Misled(NamedTuple):
    """Mean judged score of some answers, and of all others; None if there are no others."""

    what: str
    n: int
    score: float
    others: float | None


@dataclass(frozen=True)
class JudgedScore:
    """What a judge says of a task in a language, over prompts, and what people say of the same answers.

    Attributes:
        dimensions: what the cells are, but for the prompt.
        judge: its metric; empty if people alone rated answers.
        answers: those that the judge judged, or that people rated.
        score: the judge's; None if no judgement could be parsed.
        corrected: its score corrected by what people say; None if too few answers are rated.
        is_pair: whether answers were compared with another model's.
    """

    task: str
    dimensions: dict[str, Any]
    judge: str
    answers: Sequence[JudgedAnswer]
    score: PromptMean | None
    corrected: PromptMean | None
    is_pair: bool

    @property
    def unparsed(self) -> int:
        """The number of judgements that could not be parsed."""
        return sum(self.judge in answer.judged and self.judge not in answer.worth for answer in self.answers)

    @property
    def rated(self) -> list[JudgedAnswer]:
        """The answers that people rated; none where answers were compared with another model's."""
        return [] if self.is_pair else [answer for answer in self.answers if PEOPLE in answer.worth]

    @property
    def is_validated(self) -> bool:
        """Whether people rated enough answers to tell how far the judge is right."""
        return len(self.rated) >= FEWEST

    @property
    def people(self) -> float | None:
        """The mean of what people say."""
        return _mean([answer.worth[PEOPLE] for answer in self.rated])

    @property
    def of_length(self) -> float | None:
        """The rank correlation of a judge's scores with the lengths of answers; None where neither or one varies."""
        from scipy.stats import spearmanr  # here, since importing it takes long

        parsed = [(answer.worth[self.judge], answer.length) for answer in self.answers if self.judge in answer.worth]
        scores, lengths = zip(*parsed, strict=True) if parsed else ((), ())
        return float(spearmanr(scores, lengths).statistic) if min(len({*scores}), len({*lengths})) > 1 else None

    @property
    def misled(self) -> list[Misled]:
        """What answers that may mislead the judge score, and all others."""
        parsed = [answer for answer in self.answers if self.judge in answer.worth]
        found = []
        for what in MISLEADING:
            sides = [[a.worth[self.judge] for a in parsed if (what in a.flags) is of] for of in (True, False)]
            if (score := _mean(sides[0])) is not None:
                found.append(Misled(what, len(sides[0]), score, _mean(sides[1])))
        return found

    def differing(self, most: int) -> list[JudgedAnswer]:
        """Returns the answers on which the judge differs most from people, the largest difference first."""
        found = [answer for answer in self.rated if answer.difference(self.judge)]
        return sorted(found, key=lambda answer: -abs(answer.difference(self.judge)))[:most]


def judged_scores(cells: Iterable[CellScores]) -> list[JudgedScore]:
    """Returns what each judge says of each task and language; what people say alone, where there is no judge."""
    found = []
    for dimensions, of_place in places([cell for cell in cells if cell.path and _has_any(cell)]):
        answers = [_answer(cell, line) for cell in of_place for line in read_lines(cell.path) if line["metrics"]]
        judges = list(dict.fromkeys(name for answer in answers for name in answer.judged))
        rated = any(answer.ratings for answer in answers)
        found += [_score(dimensions, of_place, judge, answers) for judge in judges or ([""] if rated else [])]
    return found


def _has_any(cell: CellScores) -> bool:
    """Returns whether people rated answers of a cell, or a judge was asked: its replies may all be unparsed."""
    return any(
        name == PEOPLE or name.startswith(JUDGE) for name in (*cell.metrics, *cell.declared.get("signatures", ()))
    )


def _answer(cell: CellScores, line: Sample) -> JudgedAnswer:
    judged = line.get(JUDGED, {})
    known = {name: line["measures"][name][0] for name in (*judged, PEOPLE) if name in line["metrics"]}
    flags = frozenset(what for what, (name, value) in MISLEADING.items() if line.get(name) == value)
    return JudgedAnswer(cell, line["doc_id"], len(answer_text(line)), judged, line.get(RATINGS, {}), known, flags)


def answer_text(line: Sample) -> str:
    """Returns the answer that was judged: as extracted, or else as generated."""
    return str(line["answer"] if isinstance(line.get("answer"), str) else line["resps"][0][0])


def _score(dimensions: dict[str, Any], cells: list[CellScores], judge: str, answers: list[JudgedAnswer]) -> JudgedScore:
    of_judge = [answer for answer in answers if judge in answer.judged or (not judge and answer.ratings)]
    return JudgedScore(
        task=cells[0].task,
        dimensions=dimensions,
        judge=judge,
        answers=of_judge,
        score=_averaged(cells, judge),
        corrected=_averaged(cells, corrected_name(judge)),
        is_pair=bool(judge) and not any("level" in answer.judged[judge] for answer in of_judge),
    )


def _averaged(cells: list[CellScores], metric: str) -> PromptMean | None:
    """Returns the mean over the prompts that have a metric; None if none has, or they share no document."""
    having = [cell.with_metric(metric) for cell in cells if metric in cell.metrics]
    found = averaged(having) if having else None
    return found if found and len(found.ids) else None


def _mean(scores: Sequence[float]) -> float | None:
    return float(np.mean(scores)) if scores else None
