"""Tables of a comparison: contrasts, spread over prompts, means over languages, scores of parts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.means import Mean, means
from afrieval.analysis.published import differing, published_for
from afrieval.analysis.scores import PromptMean, alike_but_for, over_prompts
from afrieval.analysis.subgroups import (
    CONFUSION,
    Branch,
    ScoreTree,
    confusion,
    has_tree,
    parts,
    trees,
    with_field,
)
from afrieval.report.columns import Column
from afrieval.report.contrast_tables import contrast_table, side_name
from afrieval.report.score_tables import (
    INTERVAL,
    column_of,
    defects_of,
    marked,
    named,
    naming_options,
    noting_systems,
    scored_columns,
    unranked_notes,
    varying,
    without,
)
from afrieval.report.table import Table
from afrieval.report.values import bounds_of, language_names, titled
from afrieval.results.cell_key import SUITE
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Numbers
from afrieval.scoring.base import Metric
from afrieval.tasks.declaration.known_facts import PublishedScores

OF_MEANS = "In means over languages, all have the same weight; intervals are over languages and documents."
MICRO, MACRO = "micro", "macro"


def tree_tables(all_trees: list[ScoreTree], published: Sequence[str] = ()) -> list[Table]:
    """Returns a table per task and field.

    `published` names the published scores to show; by default, scores of the same model.
    """
    return [_table(of, published) for of in grouped(all_trees, lambda tree: (tree.task, *tree.levels)).values()]


def _table(trees: list[ScoreTree], published: Sequence[str]) -> Table:
    first, metric, others = trees[0], trees[0].cells[0].metric, [published_for(tree, published) for tree in trees]
    names = list(dict.fromkeys(name for of_tree in others for name in of_tree))
    dimensions = [tree.dimensions for tree in trees]
    varied = [place for place in varying(dimensions) if len({each[place] for each in dimensions}) > 1]
    columns = [*map(column_of, varied), Column(", ".join(first.levels), "branch", "-")]
    columns += [*scored_columns("score", metric.bounds), Column("n", "count"), *_published_columns(names)]
    columns += [Column("", "hidden", key) for key in ("average", *first.levels)]
    rows: list[list[Any]] = []
    ends: list[int] = []
    for tree, of_tree in zip(trees, others, strict=True):
        tops = [at for at, b in enumerate(tree.branches) if at == 0 or (len(b.path) == 1 < len(tree.levels))]
        ends += [len(rows) + at - 1 for at in tops]
        head = [named(tree.dimensions, dimension) for dimension in varied]
        for branch in tree.branches:
            average = None if branch.path else MACRO if branch.parts else MICRO
            path = [*branch.path.values()] or [f"{MACRO}, mean of {branch.parts}" if branch.parts else MICRO]
            numbers = [branch.score, branch.interval, branch.n, *_published_cells(branch, of_tree, names)]
            levels = [branch.path.get(name) for name in tree.levels]
            rows.append([*head, (len(path) - 1, path[-1]), *numbers, average, *levels])
    about = {"task": first.task, "field": first.levels[-1]}
    title = f"{titled(first.task, metric)}: by {first.levels[-1]}"
    macro, notes = trees[0].cells[0].declared.get("macro"), _published_notes(trees, others, names)
    if any(branch.parts for tree in trees for branch in tree.branches):
        notes.insert(0, f"micro: all questions have the same weight, also within a group; macro: each {macro} has.")
    return Table("breakdown", title, columns, rows, notes, about=about, ends=[at for at in ends if at >= 0])


WIDE, FREQUENT = 12, 20  # labels up to which all pairs fit into a table; pairs that are shown of more


def comparison_tables(
    cells: list[CellScores],
    comparisons: list[Contrast],
    groupings: list[str],
    by: str | None,
    metric: str | None = None,
    published: Sequence[str] = (),
) -> list[Table]:
    """Returns the contrasts, each task's spread over prompts and means over languages, and a breakdown.

    Args:
        cells: what is compared.
        comparisons: its contrasts.
        groupings: of languages, for means.
        by: the field to break scores down by, or `CONFUSION`; None for no breakdown.
        metric: if it is not the main one of its task; titles then name it.
        published: names of published scores to break down too; by default scores of the same models.

    Raises:
        UserError: if no task declares the field or has labels.
    """
    tables = contrast_tables(cells, comparisons)
    for of_task in grouped(cells, lambda c: c.task).values():
        tables += [*spread_tables(of_task), *mean_tables(of_task, groupings)]
    tables += breakdown_tables(cells, by, published) if by else []
    tables = naming_options(tables, cells)
    if not metric:
        return tables
    titles = [t.title if f", {metric}:" in t.title else f"{t.title}, {metric}" for t in tables]
    return [
        replace(t, title=title, about=t.about | {"metric": metric}) for t, title in zip(tables, titles, strict=True)
    ]


def contrast_tables(cells: Sequence[CellScores], comparisons: Sequence[Contrast]) -> list[Table]:
    """Returns a table per contrast."""
    tasks, tables = grouped(cells, lambda c: c.task), list[Table]()
    for contrast in comparisons:
        of_task = tasks[contrast.task]
        table = marked(contrast_table(contrast, _metric(of_task)), defects_of(of_task))
        tables.append(noting_systems(table, cells))
    return tables


def spread_tables(cells: list[CellScores]) -> list[Table]:
    """Returns a table of best, mean and worst prompt for each task that ran several prompts."""
    return [
        marked(spread_table(task, prompt_means), defects_of(of_task))
        for task, of_task in grouped(cells, lambda c: c.task).items()
        if (prompt_means := over_prompts(of_task))
    ]


def mean_tables(cells: list[CellScores], groupings: list[str]) -> list[Table]:
    """Returns a table of means over languages for each task that ran African languages."""
    return [
        without(mean_table(task, task_means, _metric(of_task)), defects_of(of_task))
        for task, of_task in grouped(cells, lambda c: c.task).items()
        if (task_means := means(of_task, groupings))
    ]


def _metric(cells: Sequence[CellScores]) -> Metric | None:
    return next((cell.metric for cell in reversed(cells) if cell.n), None)


def spread_table(task: str, prompt_means: list[PromptMean]) -> Table:
    """Returns best, mean and worst prompt of each language."""
    varied, metric = varying([s.dimensions for s in prompt_means]), prompt_means[0].cells[0].metric
    bounds = metric.bounds
    columns = [*map(column_of, varied), Column("best", "score", "", bounds), Column("prompt", "count", "best_prompt")]
    columns += [Column("mean", "score", "", bounds), Column("worst", "score", "", bounds)]
    columns += [Column("prompt", "count", "worst_prompt"), Column("spread", "score", "", bounds)]
    rows = [
        [
            *(named(s.dimensions, d) for d in varied),
            *(s.best.score, s.best.prompt, s.score, s.worst.score, s.worst.prompt, s.spread),
        ]
        for s in prompt_means
    ]
    signs = ["Best and worst prompts were chosen on test, so the best is too high to report as the model's score."]
    return Table("prompts", f"{titled(task, metric)}: prompts", columns, rows, about={"task": task}, signs=signs)


def mean_table(task: str, averages: list[Mean], metric: Metric | None = None) -> Table:
    """Returns means over languages with their members."""
    varied = [d for d in varying([m.dimensions for m in averages]) if d != "language"]
    columns = [Column("group", "text", "languages of"), *map(column_of, varied)]
    columns += [*scored_columns("mean", bounds_of(metric)), Column("languages", "count", "n_languages")]
    columns += [Column("members", "members")]
    rows = []
    for m in averages:
        head = [named(m.dimensions, d) for d in varied]
        rows.append([m.name, *head, m.score, m.interval, len(m.members), m.members])
    notes = sorted({f"{m.name}: {language_names(m.members, None)}." for m in averages if len(m.members) > 4})
    if len({(m.name, tuple(m.members)) for m in averages}) > len({m.name for m in averages}):
        notes.append("Do not compare means over different languages.")
    african = [m for m in averages if m.grouping == "Africa" and m.interval]
    if alone := sorted({code for m in african for code in m.alone}):
        notes.append(f"Not known to share questions with the other languages: {language_names(alone)}.")
    if differing := max((m.differing for m in african), default=0):
        notes.append(f"{differing} questions have different right answers in some languages; they count as different.")
    notes += unranked_notes([metric] if metric else [])
    title = f"{titled(task, metric)}: means over languages"
    return Table("means", title, columns, rows, notes, about={"task": task}, signs=[OF_MEANS])


def breakdown_tables(cells: list[CellScores], name: str, published: Sequence[str] = ()) -> list[Table]:
    """Returns the scores by a field, one table per task, or confusion tables; `published` as for `tree_tables`.

    Raises:
        UserError: if no task declares the field or has labels.
    """
    if name == CONFUSION:
        labelled = alike_but_for((c for c in cells if c.declared.get("labels")), "prompt")
        if not labelled:
            raise UserError("no task here has labels that can be confused", "leave --by confusion out")
        tables = [confusion_table(of, confusion(of)) for of in labelled]
    else:
        fitting = with_field(cells, name)
        plain, nested = ([c for c in fitting if has_tree(c, name) == has] for has in (False, True))
        of_tasks = grouped(parts(plain, name) if plain else [], lambda part: part.task)
        tables = [_breakdown(of_sides, name) for of_sides in of_tasks.values()]
        tables += tree_tables(trees(nested, name), published) if nested else []
    return [marked(table, defects_of(c for c in cells if c.task == table.about["task"])) for table in tables]


def _breakdown(of_sides: list[ScoreTree], name: str) -> Table:
    first, varied = of_sides[0], varying([tree.dimensions for tree in of_sides])
    metric = first.cells[0].metric
    columns = [*map(column_of, varied), Column(name, "name"), *scored_columns("score", metric.bounds)]
    columns += [Column("n", "count")]
    rows = [
        [*(named(tree.dimensions, d) for d in varied), b.path[name], b.score, b.interval, b.n]
        for tree in of_sides
        for b in tree.branches
    ]
    about = {"task": first.task, "field": name}
    return Table("breakdown", f"{titled(first.task, metric)}: by {name}", columns, rows, about=about)


def confusion_table(cells: Sequence[CellScores], counts: Numbers) -> Table:
    """Returns how often labels were taken for which; of many labels, the most frequent mistakes."""
    first, labels = cells[0], cells[0].declared["labels"]
    dimensions = first.without_dimensions("prompt")
    where = ", ".join(side_name(d, v) for d, v in dimensions.items() if (d, v) != ("prompt_set", SUITE))
    about = {"task": first.task, **dimensions}
    columns = [Column("right"), *(Column(label, "count") for label in [*labels, "none"])]
    rows = [[label, *map(int, row)] for label, row in zip(labels, counts, strict=True)]
    notes = ["Rows: the right label; columns: the model's, over all prompts; none: unparsed."]
    if len(labels) > WIDE:
        mistakes, answers = counts.copy(), [*labels, "none"]
        np.fill_diagonal(mistakes, 0)
        order = np.argsort(-mistakes, axis=None, kind="stable")[:FREQUENT]
        pairs = [(int(i), int(j)) for i, j in zip(*np.unravel_index(order, mistakes.shape), strict=True)]
        columns = [Column("right"), Column("answered"), Column("n", "count")]
        rows = [[answers[i], answers[j], int(mistakes[i, j])] for i, j in pairs if mistakes[i, j]]
        notes = ["The most frequent mistakes, over all prompts; none: unparsed."]
    return Table("confusion", f"{first.task}: {where}", columns, rows, notes, about=about)


def _published_columns(names: Sequence[str]) -> list[Column]:
    """Returns the columns of published scores: score, difference, and whether the run's interval includes it.

    Of several published scores, people see the scores alone, for which there is room.
    """
    columns, one = [], len(names) == 1
    for name in names:
        columns += [Column("publ." if one else name, "score", f"published {name}")]
        columns += [Column("difference" if one else "", "change" if one else "hidden", f"difference {name}")]
        columns += [Column("in CI" if one else "", "text" if one else "hidden", f"in interval {name}")]
    return columns


def _published_cells(branch: Branch, of_tree: dict[str, PublishedScores], names: Sequence[str]) -> list[Any]:
    """Returns the cells of a branch in these columns; empty where nothing is published."""
    cells: list[Any] = []
    for name in names:
        scores = of_tree.get(name)
        published = scores.score(dict(branch.path)) if scores and branch.parts is None else None
        if published is None:
            cells += [None, None, None]
        else:
            low, high = branch.interval or (published, published)
            cells += [published, branch.score - published, "yes" if low <= published <= high else "no"]
    return cells


def _published_notes(
    trees: Sequence[ScoreTree], by_tree: Sequence[dict[str, PublishedScores]], names: Sequence[str]
) -> list[str]:
    """Returns whose scores the published ones are, how they were measured, and what differs in the run."""
    notes = []
    for name in names:
        shown = [(tree, of_tree[name]) for tree, of_tree in zip(trees, by_tree, strict=True) if name in of_tree]
        scores = shown[0][1]
        doubt = f"; {scores.doubt}" if scores.doubt else ""
        what = f"publ.: published scores of {name}" if len(names) == 1 else f"{name}, published"
        notes.append(f"{what}: {scores.setting} ({scores.source}{doubt}).")
        if differs := dict.fromkeys(words for tree, of in shown for words in differing(tree, of)):
            notes.append(f"Different here: {', '.join(differs)}.")
    if len(names) != 1:
        return notes
    return [*notes, f"in CI: whether the {INTERVAL} of this run's score includes the published one, which has its own."]
