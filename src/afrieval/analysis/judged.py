"""What judges and people say of stored answers, how far they agree, and what may mislead a judge."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.scores import PromptMean, alike_but_for, averaged
from afrieval.results.cell_scores import CellScores
from afrieval.results.samples import Sample, answer_text, read_lines
from afrieval.scoring.labels import CUT, REFUSED
from afrieval.scoring.learned import JUDGE, JUDGED, PEOPLE, RATINGS, corrected_name
from afrieval.scoring.rubric import is_scale
from afrieval.scoring.statistics.agreement import krippendorff, weighted_kappa

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

    @classmethod
    def read(cls, cell: CellScores, line: Sample) -> "JudgedAnswer":
        """Returns the answer of a sample."""
        judged = line.get(JUDGED, {})
        worth = {name: line["measures"][name][0] for name in (*judged, PEOPLE) if name in line["metrics"]}
        flags = frozenset(what for what, (name, value) in MISLEADING.items() if line.get(name) == value)
        return cls(cell, line["doc_id"], len(answer_text(line)), judged, line.get(RATINGS, {}), worth, flags)

    def level(self, judge: str) -> str | None:
        """Returns the level that a judge gave; None if it gave none, or its reply could not be parsed."""
        level = self.judged.get(judge, {}).get("level")
        return level if isinstance(level, str) else None

    @property
    def rating(self) -> str:
        """A rating, of raters in turn: several of one answer would not be independent of each other."""
        return self.ratings[sorted(self.ratings)[self.row % len(self.ratings)]]

    def difference(self, judge: str) -> float:
        """Returns by how much a judge's score differs from people's; 0 if one of them is missing."""
        return self.worth[judge] - self.worth[PEOPLE] if {judge, PEOPLE} <= self.worth.keys() else 0.0


@dataclass(frozen=True)
class JudgedScore:
    """What a judge says of a task in a language, over prompts, and what people say of the same answers.

    Attributes:
        dimensions: what the cells are, but for the prompt.
        judge: its metric; empty if people alone rated answers.
        answers: those that the judge judged, or that people rated.
        score: the judge's; None if no judgement could be parsed.
        corrected: its score corrected by what people say; None if too few answers are rated.
        signature: of the judge: its revision, rubric and prompt.
        is_pair: whether answers were compared with another model's.
    """

    task: str
    dimensions: dict[str, Any]
    judge: str
    answers: Sequence[JudgedAnswer]
    score: PromptMean | None
    corrected: PromptMean | None
    signature: str
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

    def misled(self, what: str) -> list[Any] | None:
        """Returns how many answers may mislead the judge in a way, and the mean scores of these and of all others.

        None without such answers; the last is None if there are no others.
        """
        parsed = [answer for answer in self.answers if self.judge in answer.worth]
        these, others = ([a.worth[self.judge] for a in parsed if (what in a.flags) is of] for of in (True, False))
        return [len(these), _mean(these), _mean(others)] if these else None


def agreements(scores: Sequence[JudgedScore]) -> list[dict[str, Any]]:
    """Returns how far people and a judge agree in each language, over models and prompts, as rows of a table.

    `rated` is the number of answers that people rated. `alpha` is people with each other, missing where fewer than two
    answers have two ratings, or nothing varies; `kappa` is the judge with people, missing likewise.

    Args:
        scores: of one judge in a task.
    """
    rows = []
    for language, in_language in grouped(scores, lambda s: str(s.dimensions["language"])).items():
        rated = [answer for score in in_language for answer in score.rated if answer.ratings]
        levels = list(rated[0].cell.declared.get("rubric", {}).get("levels", {})) if rated else []
        scale = is_scale(levels)
        raters = krippendorff([answer.ratings for answer in rated], levels, scale) if levels else None
        pairs = [(level, answer.rating) for answer in rated if (level := answer.level(in_language[0].judge))]
        judged, by_people = zip(*pairs, strict=True) if pairs else ((), ())
        judge = weighted_kappa(list(judged), list(by_people), levels, scale) if pairs else None
        row: dict[str, Any] = {"language": language, "rated": len(rated)}
        for name, agreed in (("alpha", raters), ("kappa", judge)):
            row |= zip((name, f"{name} interval", f"n_{name}"), agreed or (), strict=False)
        rows.append(row)
    return rows


def judged_scores(cells: Iterable[CellScores]) -> list[list[JudgedScore]]:
    """Returns what each judge says of each task, language by language; what people say alone, where there is no judge.

    A judge with another rubric or revision is another one.
    """
    judged, scores = [], []
    for cell in cells:
        names = (*cell.metrics, *cell.declared.get("signatures", ()))  # a judge's replies may all be unparsed
        judged += [cell] if cell.path and any(name == PEOPLE or name.startswith(JUDGE) for name in names) else []
    for of_place in alike_but_for(judged, "prompt"):
        lines = ((cell, line) for cell in of_place for line in read_lines(Path(str(cell.path))) if line["metrics"])
        answers = [JudgedAnswer.read(cell, line) for cell, line in lines]
        judges = list(dict.fromkeys(name for answer in answers for name in answer.judged))
        for judge in judges or [""] * any(answer.ratings for answer in answers):
            of_judge = [answer for answer in answers if judge in answer.judged or (not judge and answer.ratings)]
            scores.append(
                JudgedScore(
                    task=of_place[0].task,
                    dimensions=of_place[0].without_dimensions("prompt"),
                    judge=judge,
                    answers=of_judge,
                    score=_averaged(of_place, judge),
                    corrected=_averaged(of_place, corrected_name(judge)),
                    signature=of_place[0].declared.get("signatures", {}).get(judge, ""),
                    is_pair=any("orders" in answer.judged.get(judge, {}) for answer in of_judge),
                )
            )
    order = {code: at for at, code in enumerate(dict.fromkeys(score.dimensions["language"] for score in scores))}
    scores.sort(key=lambda score: order[score.dimensions["language"]])
    return [*grouped(scores, lambda score: (score.task, score.judge, score.signature)).values()]


def _averaged(cells: list[CellScores], metric: str) -> PromptMean | None:
    """Returns the mean over the prompts that have a metric; None if none has, or they share too few documents."""
    having = [cell.with_metric(metric) for cell in cells if metric in cell.metrics]
    average = averaged(having) if having else None
    return average if average and average.is_shown else None


def _mean(scores: Sequence[float]) -> float | None:
    return float(np.mean(scores)) if scores else None
