"""Tables of what judges and people say of answers, and of how far a judge can be trusted."""

from collections.abc import Iterable, Sequence
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.analysis.judged import FEWEST, JudgedScore, judged_scores
from afrieval.analysis.scores import PromptMean
from afrieval.report.columns import Column
from afrieval.report.score_tables import INTERVAL, column_of, named, varying
from afrieval.report.table import Table
from afrieval.report.values import language_names
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.learned import JUDGE

SCORE = "mean of the judge's scores, which may be too high or too low in any language"
CORRECTED = "the judge's score, corrected by what people say of some of the answers"
OF_LENGTH = "rank correlation of the judge's score with the number of characters of an answer"
MISLED = "Judges may score such answers too high or too low; have people rate them."


def judged_tables(cells: Iterable[CellScores]) -> list[Table]:
    """Returns tables of the scores of judges and people by task and judge; none if nothing was judged or rated."""
    of_judges = grouped(judged_scores(cells), lambda score: (score.task, score.judge))
    return [table for (task, judge), found in of_judges.items() for table in tables_of(task, judge, found)]


def tables_of(task: str, judge: str, found: Sequence[JudgedScore]) -> list[Table]:
    """Returns the tables of a judge in a task: its scores, and what may mislead it."""
    title, about = judge_title(task, judge), {"task": task, "judge": judge}
    found = [score for of in grouped(found, lambda score: score.dimensions["language"]).values() for score in of]
    return [_scores(title, about, found), *_misled(title, about, found)]


def judge_title(task: str, judge: str) -> str:
    """Returns a title that names the judge."""
    return f"{task}: judged by {judge.removeprefix(JUDGE)}" if judge else f"{task}: rated by people"


def _scores(title: str, about: dict[str, Any], found: Sequence[JudgedScore]) -> Table:
    places, unparsed = varying([score.dimensions for score in found]), any(score.unparsed for score in found)
    judged, rated = any(score.judge for score in found), any(score.rated for score in found)
    corrected = any(score.corrected for score in found)
    columns = list(map(column_of, places))
    if judged:
        columns += [Column("judge", "score", "judged", says=SCORE), Column(INTERVAL, "interval", "interval")]
        columns += [Column("n", "count"), Column("unparsed", "count", "n_unparsed", minor=not unparsed)]
        columns += [Column("by length", "ratio", "length_correlation", says=OF_LENGTH, minor=True)]
    columns += [Column("people", "score"), Column("rated", "count", "n_rated")] if rated else []
    if corrected:
        columns += [Column("corrected", "score", says=CORRECTED)]
        columns += [Column(INTERVAL, "interval", "corrected interval")]
    rows = []
    for score in found:
        row: list[Any] = [named(score.dimensions, place) for place in places]
        if judged:
            row += [*_scored(score.score), len(score.answers), score.unparsed, score.of_length]
        row += [score.people, len(score.rated)] if rated else []
        rows.append([*row, *(_scored(score.corrected) if corrected else [])])
    return Table("judged", title, columns, rows, findings=_findings(found), about=about)


def _scored(mean: PromptMean | None) -> list[Any]:
    return [mean.score, mean.interval] if mean else [None, None]


def _findings(found: Sequence[JudgedScore]) -> list[str]:
    """Returns where a judge is not validated."""
    if not found[0].judge:
        return []
    if found[0].is_pair:
        return ["Not validated: people do not compare pairs of answers."]
    few = {score.dimensions["language"] for score in found if not score.is_validated}
    return [f"Not validated in {language_names(few)}: people rated fewer than {FEWEST} answers."] if few else []


def _misled(title: str, about: dict[str, Any], found: Sequence[JudgedScore]) -> list[Table]:
    """Returns a table of answers that may mislead the judge; none if there are no such answers."""
    places = varying([score.dimensions for score in found])
    rows = [
        [*(named(score.dimensions, place) for place in places), of.what, of.n, of.score, of.others]
        for score in found
        for of in score.misled
    ]
    columns = [*map(column_of, places), Column("answers"), Column("n", "count")]
    columns += [Column("judge", "score", "judged"), Column("all others", "score", "others")]
    table = Table("misleading", f"{title}: what may mislead it", columns, rows, [MISLED], about=about)
    return [table] if rows else []
