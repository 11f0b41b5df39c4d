"""Tables of what judges and people say of answers, and of how far a judge can be trusted."""

from collections.abc import Iterable, Sequence
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.analysis.judged import MISLEADING, JudgedScore, agreements, judged_scores
from afrieval.report.columns import Column, rows_of
from afrieval.report.score_tables import INTERVAL, column_of, named, varying
from afrieval.report.table import Table
from afrieval.report.values import ANY, language_name, language_names
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.learned import JUDGE
from afrieval.scoring.statistics.corrected import FEWEST

SCORE = "mean of the judge's scores, which may be too high or too low in any language"
PAIRS = "share of answers that it finds better than the other model's; ties count as half"
CORRECTED = "the judge's score, corrected by what people say of some of the answers"
ALPHA = "with each other, by Krippendorff's alpha: 1 if they always do, 0 if only by chance"
KAPPA = "with people, by Cohen's kappa, weighted if levels are numbers, of each answer with one of its raters in turn"
OF_LENGTH = "rank correlation of the judge's score with the number of characters of an answer"
MISLED = "Judges may score such answers too high or too low; have people rate them."


def judged_tables(cells: Iterable[CellScores]) -> list[Table]:
    """Returns tables of the scores of judges and people; none if nothing was judged or rated."""
    cell_list = list(cells)
    return [table for found in judged_scores(cell_list) for table in tables_of(found, cell_list)]


def tables_of(judged: Sequence[JudgedScore], cells: Iterable[CellScores]) -> list[Table]:
    """Returns the tables of a judge in a task: scores, agreement with people, and what may mislead it.

    Models are named if there are several among `cells`.
    """
    models = [{**judged[0].dimensions, "model": cell.model} for cell in cells]
    varied = varying([*(score.dimensions for score in judged), *models])
    first, agreed = judged[0], agreements(judged)
    title, about = title_of(first), {"task": first.task, "judge": first.judge, "signature": first.signature}
    scores = _scores(title, about, judged, _findings(judged, agreed), varied)
    return [scores, *_agreed(title, about, agreed), *_misled(title, about, judged, varied)]


def title_of(score: JudgedScore) -> str:
    """Returns a title that names the judge."""
    judge = score.judge.removeprefix(JUDGE)
    return f"{score.task}: judged by {judge}" if judge else f"{score.task}: rated by people"


def _scores(
    title: str, about: dict[str, Any], scores: Sequence[JudgedScore], findings: list[str], varied: Sequence[str]
) -> Table:
    columns = list(map(column_of, varied))
    if any(score.judge for score in scores):
        says = PAIRS if scores[0].is_pair else SCORE
        columns += [Column("judge", "score", "judged", says=says), Column(INTERVAL, "interval", "interval")]
        columns += [Column("n", "count"), Column("unparsed", "count", "n_unparsed", minor=True)]
        columns += [Column("by length", "ratio", "length_correlation", says=OF_LENGTH, minor=True)]
    if any(score.rated for score in scores):
        columns += [Column("people", "score"), Column("rated", "count", "n_rated")]
    if any(score.corrected for score in scores):
        columns += [Column("corrected", "score", says=CORRECTED), Column(INTERVAL, "limits", "corrected interval")]
    records = []
    for score in scores:
        record: dict[str, Any] = {dimension: named(score.dimensions, dimension) for dimension in varied}
        if mean := score.score:
            record |= {"judged": mean.score, "interval": mean.interval}
        if mean := score.corrected:
            record |= {"corrected": mean.score, "corrected interval": mean.interval}
        record |= {"n": len(score.answers), "n_unparsed": score.unparsed, "length_correlation": score.of_length}
        records.append({**record, "people": score.people, "n_rated": len(score.rated)})
    return Table("judged", title, columns, rows_of(columns, records), findings=findings, about=about)


def _findings(scores: Sequence[JudgedScore], agreed: Iterable[dict[str, Any]]) -> list[str]:
    """Returns where too few answers are rated to tell how far a judge is right, and how many could not be parsed."""
    first, findings, parts = scores[0], list[str](), list[str]()
    few = language_names((row["language"] for row in agreed if row["rated"] < FEWEST), None)
    if first.judge and first.is_pair:
        findings.append("Not validated: people do not compare pairs of answers.")
    elif first.judge and few:
        findings.append(f"Not validated in {few}: people rated fewer than {FEWEST} answers.")
    for code, in_language in grouped(scores, lambda score: str(score.dimensions["language"])).items():
        n, unparsed = sum(len(score.answers) for score in in_language), sum(score.unparsed for score in in_language)
        parts += [f"{unparsed:,} of {n:,} in {language_name(code)}"] if unparsed else []
    rest = "; the judge's score is of the others" if any(score.score for score in scores) else ""
    return [*findings, *([f"Judgements that could not be parsed: {', '.join(parts)}{rest}."] if parts else [])]


def _agreed(title: str, about: dict[str, Any], agreed: Iterable[dict[str, Any]]) -> list[Table]:
    """Returns a table of agreement; none where it is not known."""
    records = [row for row in agreed if {"alpha", "kappa"} & row.keys()]
    columns = [Column("language", "language")]
    for name, key, says in (("raters agree", "alpha", ALPHA), ("judge agrees", "kappa", KAPPA)):
        if any(key in row for row in records):
            columns += [Column(name, "ratio", key, says=says), Column(INTERVAL, "limits", f"{key} interval", ANY)]
            columns += [Column("n", "count", f"n_{key}")]
    rows = rows_of(columns, records)
    return [Table("agreement", f"{title}: agreement", columns, rows, about=about)] if rows else []


def _misled(title: str, about: dict[str, Any], scores: Sequence[JudgedScore], varied: Sequence[str]) -> list[Table]:
    """Returns a table of answers that may mislead the judge; none if there are no such answers."""
    rows = [
        [*(named(score.dimensions, place) for place in varied), what, *numbers]
        for score in scores
        for what in MISLEADING
        if (numbers := score.misled(what))
    ]
    columns = [*map(column_of, varied), Column("answers"), Column("n", "count")]
    columns += [Column("judge", "score", "judged"), Column("all others", "score", "others")]
    table = Table("misleading", f"{title}: what may mislead it", columns, rows, [MISLED], about=about)
    return [table] if rows else []
