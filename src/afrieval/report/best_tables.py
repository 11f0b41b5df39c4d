"""Tables and sentences of reports: the best model of each language and its rivals, ranks, scores of all models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from afrieval._util.grouping import grouped
from afrieval.analysis.best import LanguageEntry, MeanEntry, in_languages, over_languages
from afrieval.analysis.scores import LanguageScore, by_language
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column
from afrieval.report.contrast_tables import ComparableScores, parts
from afrieval.report.score_tables import UNREVIEWED, defective_column, marked, named, scored_columns, varying
from afrieval.report.table import Table
from afrieval.report.values import (
    language_name,
    language_names,
    listed,
    shown_interval,
    shown_rank,
    shown_score,
    titled,
)
from afrieval.report.verdict_words import not_above, not_above_in, unread_words
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric

NAMED = 3  # models that a sentence or cell names; others are counted
Entries = Mapping[str, Sequence[LanguageEntry]]
RANKS = "1-3 is first, second or third; the ranks of all models in a language are right at once with 95% confidence"
SIZES = (
    "n differs: models are compared on the documents that both have, so the one with the higher score may be behind."
)


def rivals(entries: Sequence[LanguageEntry]) -> list[str]:
    """Returns the sides, other than the one with the highest score, that may be the best."""
    return [entry.side for entry in entries[1:] if entry.rank and entry.rank.first == 1]


def leaders(cells: Sequence[CellScores]) -> list[Table]:
    """Returns a table for each task of three models or more, which begins with a sentence on who is best."""
    found = []
    for part in parts([cell for cell in cells if cell.is_averaged]):
        if len(part.sides) > 2:
            entries = in_languages(part.sides)
            said = findings(part, over_languages(part.sides), entries)
            found.append(replace(best_table(part, entries), findings=said))
    return found


def best_table(part: ComparableScores, entries: Entries) -> Table:
    """Returns the best side of each language, in alphabetical order, where something can be concluded."""
    bounds = part.metric.bounds
    columns = [
        Column("language", "language"), Column("best", "text", "side"), Column("", "hidden", "model"),
        *scored_columns("score", bounds),
        Column("cannot be told apart from", "text", "rivals"), Column("n", "count"),
        Column("models", "count", minor=True),
    ]  # fmt: skip
    rows = []
    for code in sorted((code for code, of in entries.items() if of[0].concludes), key=language_name):
        first, score = entries[code][0], entries[code][0].score
        unread = [unread_words(first.floor, bounds)] if first.floor else []
        others = "; ".join([*filter(None, [listed(rivals(entries[code]), NAMED)]), *unread])
        place = [code, first.side, part.sides[first.side][0].model, score.score, score.interval]
        rows.append([*place, others or ("none" if first.rank else ""), score.n, len(entries[code])])
    notes = [f"Models that are not named score significantly {_worse(part)} (5%, all pairs of models, Holm)."]
    notes += [SIZES] if _sizes_differ(entries) else []
    table = Table("best", f"{part.title}: best in each language", columns, rows, notes, about={"task": part.task})
    return marked(table, _defects(entries))


def _worse(part: ComparableScores) -> str:
    return "lower" if part.metric.higher_is_better else "higher"


def _sizes_differ(entries: Entries) -> bool:
    return any(len({entry.score.n for entry in of_language}) > 1 for of_language in entries.values())


def _defects(entries: Entries) -> dict[str, str]:
    return {code: first.score.defect for code, (first, *_) in entries.items() if first.score.defect}


def all_scores(part: ComparableScores, entries: Entries) -> Table:
    """Returns the scores of all sides in all languages; arguments as for `best_table`."""
    bounds = part.metric.bounds
    columns = [
        Column("language", "language"), Column("model", "text", "side"), Column("", "hidden", "model"),
        *scored_columns("score", bounds),
        Column("rank", "count", "-", says=RANKS if len(part.sides) > 1 else ""),
        Column("", "hidden", "first_rank"), Column("", "hidden", "last_rank"),
        Column("n", "count"), defective_column(entry.score.n_defect for of in entries.values() for entry in of),
    ]  # fmt: skip
    rows: list[list[Any]] = []
    for code in sorted(entries, key=language_name):
        for entry in entries[code]:
            score, ends = entry.score, entry.rank or (None, None)
            place = [code, entry.side, part.sides[entry.side][0].model, score.score, score.interval]
            rows.append([*place, shown_rank(entry.rank), *ends, score.n, score.n_defect])
    notes = [SIZES] if _sizes_differ(entries) else []
    about = {"task": part.task, "prompt_language": part.kind}
    table = Table("all", f"{part.title}: all scores", columns, rows, notes, about=about)
    return marked(table, _defects(entries))


def findings(part: ComparableScores, standings: Sequence[MeanEntry], entries: Entries) -> list[str]:
    """Returns in sentences who is best over languages, and in which languages one is clearly the best."""
    if not part.concluding:
        return [f"{part.title}, so nothing is concluded."]
    entries = {code: own for code, of in entries.items() if (own := [entry for entry in of if entry.concludes])}
    if len(part.concluding) == 1:
        floors = {language_name(code): entry.floor for code, (entry, *_) in entries.items() if entry.floor}
        unread = not_above_in(floors, part.metric.bounds)
        return [f"{part.title}: {next(iter(part.sides))} {'; '.join(unread)}."] if unread else []
    complete = [standing for standing in standings if standing.complete]
    found = [_over_languages(part, complete, len(complete) < len(standings))] if len(complete) > 1 else []
    compared = {code: of for code, of in entries.items() if of[0].rank} if len(entries) > 1 or not found else {}
    clear = {code: of[0].side for code, of in compared.items() if not of[0].floor and not rivals(of)}
    if compared and not clear:
        found.append(f"{part.title}: in none of {len(compared)} languages is one model clearly the best.")
    elif compared:
        where = "; ".join(
            f"{side} in {language_names(code for code in clear if clear[code] == side)}"
            for side in dict.fromkeys(clear.values())
        )
        found.append(
            f"{part.title}: one model is clearly the best in {len(clear)} of {len(compared)} languages: {where}."
        )
    floors = {language_name(code): of[0].floor for code, of in compared.items() if of[0].floor}
    if unread := not_above_in(floors, part.metric.bounds):
        found.append(f"{part.title}: the highest score {'; '.join(unread)}.")
    return found


def _over_languages(part: ComparableScores, standings: Sequence[MeanEntry], lacking: bool) -> str:
    """Returns who has the best mean; `lacking` says whether some models lack languages."""
    first, bounds = standings[0], part.metric.bounds
    mean = first.mean
    sure = f" (95% CI {shown_interval(mean.interval, bounds)})" if mean.interval else ""
    languages = f"{len(mean.members)} African languages" if len(mean.members) > 1 else language_name(mean.members[0])
    best = "highest" if part.metric.higher_is_better else "best"
    among = f"of the {len(standings)} models with all languages, " if lacking else ""
    text = f"{among}{first.side} has the {best} mean over {languages}, {shown_score(mean.score, bounds)}{sure}"
    text = f"{part.title}: {text}"
    if first.rank is None:
        return f"{text}."
    text += f", {not_above(first.floor, bounds)}" if first.floor else ""
    others = listed([s.side for s in standings[1:] if s.rank and s.rank.first == 1], NAMED)
    rest = f"{others} cannot be told apart from it" if others else f"all others score significantly {_worse(part)}"
    return f"{text}; {rest}."


N_NAMES = 2  # columns of names
HEAD = ("model", "shots", "answer_form", "prompt_set", "prompt_language")  # the parts of a head, in order


class _Side(NamedTuple):
    """A column of numbers: a task, a model and its prompts."""

    task: str
    metric: Metric
    dimensions: dict[str, Any]
    scores: dict[str, LanguageScore]
    starred: set[str]


def heat_tables(cells: Sequence[CellScores]) -> list[Table]:
    """Returns scores by language: for several models a table per task, for one model a table of all tasks.

    With one language, or with one task and model, it returns none: other tables have the same numbers.
    """
    found = grouped((c for c in cells if c.n), lambda c: (c.task, *c.without_dimensions("language", "prompt").items()))
    sides = [_side(of_side) for of_side in found.values()]
    of_tasks = grouped(sides, lambda side: side.task)
    models = {side.dimensions["model"] for side in sides}
    if len(models) < 2 and len(of_tasks) < 2:
        return []
    tables = [_table(of) for of in (of_tasks.values() if len(models) > 1 else [sides])]
    return [table for table in tables if len(table.rows) > 1]


def _side(cells: list[CellScores]) -> _Side:
    first = cells[0]
    scores = {score.language: score for score in by_language(cells)}
    starred = {*first.declared.get("unreviewed", {})} & {*scores} if first.prompt_language == "native" else set()
    return _Side(first.task, first.metric, first.without_dimensions("language", "prompt"), scores, starred)


def _table(sides: list[_Side]) -> Table:
    tasks = {side.task: side.metric for side in sides}
    codes = {code for side in sides for code in side.scores}
    languages = sorted(codes, key=lambda code: (LANGUAGES[code].family, LANGUAGES[code].name))
    varied = sorted({*varying([side.dimensions for side in sides])} - {"language"}, key=HEAD.index)
    columns = [Column("family"), Column("language", "language")]
    rows: list[list[Any]] = [[LANGUAGES[code].family, code] for code in languages]
    for side in sides:
        head = [*([side.task] if len(tasks) > 1 else []), *(named(side.dimensions, name) for name in varied)]
        columns.append(Column(" ".join(head), "score", "", side.metric.bounds))
        for code, row in zip(languages, rows, strict=True):
            row.append(side.scores[code].score if code in side.scores else None)
    title = "Scores by language" if len(tasks) > 1 else f"{titled(*next(iter(tasks.items())))}: scores by language"
    marks = {code: "*" for side in sides for code in side.starred}
    about = {} if len(tasks) > 1 else {"task": sides[0].task}
    notes = list[str]()
    defective = [(side.task, score) for side in sides for score in side.scores.values() if score.defect]
    lines = [f"Known defect of {task} {LANGUAGES[score.language].name}: {score.defect}." for task, score in defective]
    notes += dict.fromkeys(lines)
    signs = [UNREVIEWED] if marks else []
    return Table("heat", title, columns, rows, notes, [], about, signs, marks, shades=_shades(rows, sides))


def _shades(rows: list[list[Any]], sides: list[_Side]) -> dict[tuple[int, int], float]:
    """Returns how high each score is between the lowest and the highest of its task."""
    places = grouped(range(len(sides)), lambda at: sides[at].task)
    found: dict[tuple[int, int], float] = {}
    for columns in places.values():
        cells = {(row, at + N_NAMES): of[at + N_NAMES] for row, of in enumerate(rows) for at in columns}
        scores = {place: score for place, score in cells.items() if score is not None}
        low, high = min(scores.values()), max(scores.values())
        if low < high:
            found |= {place: (score - low) / (high - low) for place, score in scores.items()}
    return found
