"""What compare says, as tables: contrasts, spread over prompts, means over languages, breakdowns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from afrieval.analysis.breakdown import CONFUSION, Confusion, Part, confusions, parts, with_field
from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.means import Mean, means
from afrieval.analysis.spread import Spread, spreads
from afrieval.analysis.trees import has_tree, trees
from afrieval.grouping import grouped
from afrieval.report.contrasts import contrast_table, side_name
from afrieval.report.defects import defects_of, marked, without
from afrieval.report.dimensions import column_of, named, varying
from afrieval.report.options import naming_options
from afrieval.report.scores import INTERVAL
from afrieval.report.table import Column, Table
from afrieval.report.trees import tree_tables
from afrieval.report.values import bounds_of, titled
from afrieval.results.prompts import SUITE
from afrieval.results.scores import CellScores
from afrieval.scoring.base import Metric

WIDE, FREQUENT = 12, 20  # labels up to which all pairs fit into a table; pairs that are shown of more


def comparison_tables(
    cells: list[CellScores],
    found: list[Contrast],
    groupings: list[str],
    by: str | None,
    asked: str | None = None,
    published: Sequence[str] = (),
) -> list[Table]:
    """Returns the contrasts, each task's spread over prompts and means over languages, and a breakdown.

    Args:
        cells: those compared.
        found: contrasts of them.
        groupings: of languages, for means.
        by: the field to break scores down by, or `CONFUSION`; None for no breakdown.
        asked: the metric, if it is not the main one of its task; titles then name it.
        published: names of published scores to break down too; by default those of the same models.

    Raises:
        UserError: if no task declares the field or has labels.
    """
    tables = contrast_tables(cells, found)
    for of_task in grouped(cells, lambda c: c.task).values():
        tables += [*spread_tables(of_task), *mean_tables(of_task, groupings)]
    tables += breakdown_tables(cells, by, metrics_of(cells), published) if by else []
    tables = naming_options(tables, cells)
    if not asked:
        return tables
    return [replace(t, title=f"{t.title}, {asked}", about=t.about | {"metric": asked}) for t in tables]


def metrics_of(cells: list[CellScores]) -> dict[str, Metric]:
    """Returns each task's main metric."""
    return {cell.task: cell.metric for cell in cells if cell.n}


def contrast_tables(cells: list[CellScores], found: list[Contrast]) -> list[Table]:
    """Returns a table per contrast; the last one explains the columns.

    Args:
        cells: those compared.
        found: contrasts of them.
    """
    of, unreviewed = metrics_of(cells), {c.task: c.declared.get("unreviewed", {}) for c in cells}
    defects = {task: defects_of(of_task) for task, of_task in grouped(cells, lambda c: c.task).items()}
    stars = [unreviewed[c.task] if "native" in (c.first, c.second) else () for c in found]
    tables = [
        contrast_table(c, starred, c is found[-1], of.get(c.task)) for c, starred in zip(found, stars, strict=True)
    ]
    return [marked(table, defects[c.task]) for table, c in zip(tables, found, strict=True)]


def spread_tables(cells: list[CellScores]) -> list[Table]:
    """Returns a table of best, mean and worst prompt for each task that ran several prompts."""
    of = metrics_of(cells)
    tasks = grouped(cells, lambda c: c.task).items()
    return [
        marked(spread_table(task, found, of.get(task)), defects_of(of_task))
        for task, of_task in tasks
        if (found := spreads(of_task))
    ]


def mean_tables(cells: list[CellScores], groupings: list[str]) -> list[Table]:
    """Returns a table of means over languages for each task that ran African languages.

    Args:
        cells: those compared.
        groupings: of languages; some of `GROUPINGS`.
    """
    of = metrics_of(cells)
    tasks = grouped(cells, lambda c: c.task).items()
    return [
        without(mean_table(task, found, of.get(task)), defects_of(of_task))
        for task, of_task in tasks
        if (found := means(of_task, groupings))
    ]


def spread_table(task: str, found: list[Spread], metric: Metric | None = None) -> Table:
    """Returns best, mean and worst prompt of each language."""
    places, bounds = varying([s.dimensions for s in found]), bounds_of(metric)
    columns = [*map(column_of, places), Column("best", "score", "", bounds), Column("prompt", "count", "best_prompt")]
    columns += [Column("mean", "score", "", bounds), Column("worst", "score", "", bounds)]
    columns += [Column("prompt", "count", "worst_prompt"), Column("spread", "score", "", bounds)]
    rows = [
        [*(named(s.dimensions, d) for d in places), s.highest, s.best, s.mean, s.lowest, s.worst, s.spread]
        for s in found
    ]
    notes = ["Best and worst were chosen on test, so the best is too high: do not report it as the model's score."]
    return Table("prompts", f"{titled(task, metric)}: prompts", columns, rows, notes, about={"task": task})


def mean_table(task: str, found: list[Mean], metric: Metric | None = None) -> Table:
    """Returns means over languages with their members."""
    places = [d for d in varying([m.dimensions for m in found]) if d != "language"]
    columns = [Column("group", "text", "languages of"), *map(column_of, places)]
    columns += [Column("mean", "score", "", bounds_of(metric))]
    columns += [Column(INTERVAL, "interval", "interval", bounds_of(metric))]
    columns += [Column("languages", "count", "n_languages"), Column("members", "members")]
    rows = []
    for m in found:
        place = [named(m.dimensions, d) for d in places]
        rows.append([m.name, *place, m.score, m.interval, len(m.members), m.members])
    title = f"{titled(task, metric)}: means over languages"
    return Table("means", title, columns, rows, _mean_notes(found), about={"task": task})


def _mean_notes(found: list[Mean]) -> list[str]:
    whole = {f"{m.name}: {' '.join(m.members)}." for m in found if len(m.members) > 4}
    notes = ["All languages have the same weight; the interval is over languages and documents.", *sorted(whole)]
    if len({(m.name, tuple(m.members)) for m in found}) > len({m.name for m in found}):
        notes.append("Do not compare means over different languages.")
    african = [m for m in found if m.grouping == "Africa" and m.interval]
    if alone := sorted({code for m in african for code in m.alone}):
        notes.append(f"Not known to share questions with the other languages: {' '.join(alone)}.")
    if differing := max((m.differing for m in african), default=0):
        notes.append(f"{differing} questions have different right answers in some languages; they count as different.")
    return notes


def breakdown_tables(
    cells: list[CellScores], name: str, metrics: Mapping[str, Metric], published: Sequence[str] = ()
) -> list[Table]:
    """Returns the scores by a field, one table per task, or confusion tables; `published` as for `tree_tables`.

    Raises:
        UserError: if no task declares the field or has labels.
    """
    if name == CONFUSION:
        tables = [confusion_table(c) for c in confusions(cells)]
    else:
        fitting = with_field(cells, name)
        plain, nested = ([c for c in fitting if has_tree(c, name) == has] for has in (False, True))
        of_tasks = grouped(parts(plain, name) if plain else [], lambda part: part.task)
        tables = [_breakdown(task, found, name, metrics.get(task)) for task, found in of_tasks.items()]
        tables += tree_tables(trees(nested, name), metrics, published) if nested else []
    return [marked(table, defects_of(c for c in cells if c.task == table.about["task"])) for table in tables]


def _breakdown(task: str, found: list[Part], name: str, metric: Metric | None) -> Table:
    places, bounds = varying([p.dimensions for p in found]), bounds_of(metric)
    columns = [*map(column_of, places), Column(name, "name"), Column("score", "score", "", bounds)]
    columns += [Column(INTERVAL, "interval", "interval", bounds), Column("n", "count")]
    rows = [[*(named(p.dimensions, d) for d in places), p.value, p.score, p.interval, p.n] for p in found]
    about = {"task": task, "field": name}
    return Table("breakdown", f"{titled(task, metric)}: by {name}", columns, rows, about=about)


def confusion_table(confusion: Confusion) -> Table:
    """Returns how often labels were taken for which; of many labels, the most frequent mistakes."""
    where = ", ".join(side_name(d, v) for d, v in confusion.dimensions.items() if (d, v) != ("prompt_set", SUITE))
    about = {"task": confusion.task, **confusion.dimensions}
    columns = [Column("right"), *(Column(label, "count") for label in [*confusion.labels, "none"])]
    rows = [[label, *map(int, row)] for label, row in zip(confusion.labels, confusion.counts, strict=True)]
    notes = ["Rows: the right label; columns: the model's, over all prompts; none: unparsed."]
    if len(confusion.labels) > WIDE:
        columns, rows = [Column("right"), Column("answered"), Column("n", "count")], _mistakes(confusion)
        notes = ["The most frequent mistakes, over all prompts; none: unparsed."]
    return Table("confusion", f"{confusion.task}: {where}", columns, rows, notes, about=about)


def _mistakes(confusion: Confusion) -> list[list[Any]]:
    """Returns the most frequent pairs of a right label and another one that the model gave."""
    counts = confusion.counts.copy()
    np.fill_diagonal(counts, 0)
    given = [*confusion.labels, "none"]
    order = np.argsort(-counts, axis=None, kind="stable")[:FREQUENT]
    pairs = [(int(i), int(j)) for i, j in zip(*np.unravel_index(order, counts.shape), strict=True)]
    return [[given[i], given[j], int(counts[i, j])] for i, j in pairs if counts[i, j]]
