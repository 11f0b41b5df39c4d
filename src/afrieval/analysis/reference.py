"""Tasks with a published evaluation: what was measured, micro and macro, and below it what was published."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from afrieval.report.scores import SCORES
from afrieval.report.table import Column, Grid
from afrieval.results.cells import CellScores, cell_scores
from afrieval.results.samples import read_lines
from afrieval.results.units import Unit
from afrieval.scoring.choice import UNREAD
from afrieval.scoring.ifeval.accuracies import ifeval_means, over_prompts
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.tasks.meta import END, ORGANISATION, llama

UNNAMED = "{evals}"  # how the name of the data set ends where none was chosen
WAYS = dict(zip(FOLLOWED, ("prompt, strict", "prompt, loose", "instr., strict", "instr., loose"), strict=True))
MEANS = {
    "ifeval_recipe_mean": ("mean of the two strict, as the recipe for lm-eval", "recipe's mean"),
    "ifeval_meta_mean": ("mean of the four, as Meta's model cards", "Meta's mean"),
}
COLUMNS = [
    Column("task", "text", "-"),
    Column("metric", "text", "-"),
    Column("score", "decimal"),
    Column("95 % int.", "limits", "interval"),
    Column("n", "count"),
    Column("bad", "count", "n_defect"),
    Column("unparsed", "percent"),
    *(Column(name, "hidden") for name in ("task", "kind", "metric", "average", "parts", "setting", "source")),
]


class Evaluated(NamedTuple):
    """A cell of a task with a published evaluation, and its scores."""

    unit: Unit
    scores: CellScores

    @property
    def model(self) -> str:
        """The model that was run."""
        return str(self.unit.dimensions["model"])

    @property
    def evals(self) -> str:
        """The data set."""
        return str(self.unit.declared["evals"])

    @property
    def on_samples(self) -> bool:
        """Whether sample rows of our own stood in for the data set, which they also do if none was named."""
        return bool(self.unit.declared.get("samples")) or self.evals.endswith(UNNAMED)


def has_evals(unit: Unit) -> bool:
    """Tells whether a unit's task has a published evaluation."""
    return bool(unit.declared.get("evals"))


def evaluated(units: Iterable[Unit]) -> list[Evaluated]:
    """Returns the units whose tasks have a published evaluation, with scores read from their sample files."""
    return [Evaluated(u, cell_scores(u.name, list(read_lines(u.path)))) for u in units if has_evals(u) and u.path]


def by_run(found: list[Evaluated]) -> list[list[Evaluated]]:
    """Returns them by model and data set, in order."""
    groups: dict[tuple[str, str], list[Evaluated]] = {}
    for each in found:
        groups.setdefault((each.model, each.evals), []).append(each)
    return list(groups.values())


def reference_grids(found: list[Evaluated]) -> list[Grid]:
    """Returns a table per model and data set: each task's measured scores, then its published ones."""
    runs = by_run(found)
    return [_grid(of_run, legend=of_run is runs[-1]) for of_run in runs]


def reference_model(each: Evaluated) -> str:
    """Returns the model whose answers and scores are published; empty if no data set was chosen."""
    return "" if each.evals.endswith(UNNAMED) else each.evals.removeprefix(ORGANISATION).removesuffix(END)


def is_other_model(each: Evaluated) -> bool:
    """Tells whether the model run is another than the published one."""
    own = llama(each.model)
    return reference_model(each) != (own.name if own else each.model)


def _grid(of_run: list[Evaluated], legend: bool) -> Grid:
    rows: list[list[Any]] = []
    dimmed: list[int] = []
    ends: list[int] = []
    for each in of_run:
        rows += _measured(each)
        told = _published(each)
        dimmed += range(len(rows), len(rows) + len(told))
        rows += told
        ends.append(len(rows) - 1)
    first = of_run[0]
    about = {"model": first.model, "evals": first.evals, "samples": first.on_samples}
    data = [first.evals.removeprefix(ORGANISATION)] if reference_model(first) else []
    title = f"{', '.join([*data, *(['our own sample rows'] if first.on_samples else [])])}: {first.model}"
    notes = [*_about_published(of_run), *(_legend(of_run) if legend else [])]
    return Grid("reference", title, COLUMNS, rows, notes, about, dimmed=dimmed, ends=ends)


def _measured(each: Evaluated) -> list[list[Any]]:
    scores = each.scores
    metric = SCORES.get(scores.main, scores.main)
    macro = scores.macro
    unread = float(np.mean(u)) if len(u := scores.values(UNREAD)) else None
    known = [scores.score, tuple(scores.interval), scores.n, scores.n_defect, unread]
    first = WAYS.get(scores.main, f"{metric}, micro" if macro else metric)
    rows = [[scores.task, first, *known, *_told(each, scores.main, "micro" if macro else None, None)]]
    if macro:
        known = [macro.score, tuple(macro.interval), scores.n, None, None]
        told = _told(each, scores.main, "macro", macro.parts)
        over = f"mean of {macro.parts} subtask{'s' if macro.parts > 1 else ''}"
        rows.append([over, f"{metric}, macro", *known, *told])
    return rows + _instructions(each)


def _instructions(each: Evaluated) -> list[list[Any]]:
    """Returns the rows of IFEval's other accuracies and means; none for other tasks."""
    scores = each.scores
    means = ifeval_means(scores.metrics)
    if not means:
        return []
    values = {name: scores.values(name) for name in FOLLOWED[1:]}
    heads = {name: ("", WAYS[name]) for name in values} | MEANS
    rows = []
    for name, of_prompts in (values | means).items():
        interval = over_prompts(of_prompts, 1 if name.startswith("prompt") else scores.per_document)
        known = [float(of_prompts.mean()), tuple(interval), scores.n, None, None]
        rows.append([*heads[name], *known, *_told(each, name, None, None)])
    return rows


def _told(each: Evaluated, metric: str, average: str | None, parts: int | None) -> list[Any]:
    return [each.scores.task, "measured", metric, average, parts, None, None]


def _published(each: Evaluated) -> list[list[Any]]:
    """Returns the rows of published scores; one that several sources give in the same words stands once."""
    sources: dict[tuple[Any, ...], list[str]] = {}
    for row in each.unit.declared.get("published", []):
        sources.setdefault((row["average"], row["setting"], row["score"]), []).append(row["source"])
    settings = [(average, setting) for average, setting, _ in sources]
    parts = bool(each.unit.declared.get("macro"))
    rows = []
    for (average, setting, score), source in sources.items():
        told = "; ".join(source)
        apart = f" ({told})" if settings.count((average, setting)) > 1 else ""
        seen = [f"published: {setting}{apart}", (average or "not said") if parts else "", round(score / 100, 6)]
        of_row = [each.scores.task, "published", None, average, None, setting, told]
        rows.append([*seen, None, None, None, None, *of_row])
    return rows


def _about_published(of_run: list[Evaluated]) -> list[str]:
    """Returns whose the published scores are, and which tasks ran on fewer rows."""
    first = of_run[0]
    if not any(each.unit.declared.get("published") for each in of_run):
        return []
    other = f", not of {first.model}" if is_other_model(first) else ""
    told = f"published: scores of {reference_model(first)}{other}, on all rows; run.yaml has their sources."
    rows = [(e.scores.task, len(e.scores.ids), e.unit.declared.get("rows")) for e in of_run]
    fewer = [f"{task} {ran} of {of_all}" for task, ran, of_all in rows if of_all and ran < of_all]
    return [told, *([f"Fewer rows ran here, so do not compare: {', '.join(fewer)}."] if fewer else [])]


def _legend(of_run: list[Evaluated]) -> list[str]:
    notes = ["Prompts are Meta's own, complete with examples."] if not of_run[0].on_samples else []
    if any(each.scores.macro for each in of_run):
        notes.append("micro: each row counts the same; macro: each subtask does. Compare like with like.")
    if any(len(each.scores.values(UNREAD)) for each in of_run):
        notes.append("unparsed: answers that cannot be parsed, in percent; they count as wrong.")
    return [*notes, "bad: rows with a defect."]
