"""Tasks with a published evaluation: what was measured, micro and macro, and below it what was published."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from afrieval.grouping import grouped
from afrieval.report.scores import SCORES
from afrieval.report.table import Column, Grid
from afrieval.results.scores import CellScores
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.statistics.intervals import Interval
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
    """A cell of a task with a published evaluation."""

    scores: CellScores

    @property
    def model(self) -> str:
        """The model that was run."""
        return self.scores.model

    @property
    def evals(self) -> str:
        """The data set."""
        return self.scores.declared["evals"]

    @property
    def on_samples(self) -> bool:
        """Whether sample rows of our own stood in for the data set, which they also do if none was named."""
        return bool(self.scores.declared.get("samples")) or self.evals.endswith(UNNAMED)


def has_evals(cell: CellScores) -> bool:
    """Tells whether a cell's task has a published evaluation."""
    return bool(cell.declared.get("evals"))


def evaluated(cells: Iterable[CellScores]) -> list[Evaluated]:
    """Returns the cells whose tasks have a published evaluation."""
    return [Evaluated(cell) for cell in cells if has_evals(cell)]


def by_run(found: list[Evaluated]) -> list[list[Evaluated]]:
    """Returns them by model and data set, in order."""
    return list(grouped(found, lambda each: (each.model, each.evals)).values())


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
    known = [scores.score, _limits(scores.interval), scores.n, scores.n_defect, _unparsed(scores)]
    first = WAYS.get(scores.main, f"{metric}, micro" if macro else metric)
    rows = [[scores.task, first, *known, *_told(each, scores.main, "micro" if macro else None, None)]]
    if macro:
        known = [macro.score, _limits(macro.interval), scores.n, None, None]
        told = _told(each, scores.main, "macro", macro.parts)
        over = f"mean of {macro.parts} subtask{'s' if macro.parts > 1 else ''}"
        rows.append([over, f"{metric}, macro", *known, *told])
    return rows + _derived(each)


def _unparsed(scores: CellScores) -> float | None:
    """Returns the share of answers that could not be parsed; None where answers were not generated."""
    return scores.on("unparsed").score if "unparsed" in scores.metrics else None


def _limits(interval: Interval | None) -> tuple[float, float] | None:
    return (interval.low, interval.high) if interval else None


def _derived(each: Evaluated) -> list[list[Any]]:
    """Returns the rows of derived metrics and of what they are made of."""
    scores = each.scores
    parts = {name for of in scores.derived.values() for name in of}
    rows = []
    for name in [n for n in scores.metrics if n in parts and n != scores.main] + list(scores.derived):
        of = scores.on(name)
        head = MEANS.get(name, ("", WAYS.get(name, name)))
        rows.append([*head, of.score, _limits(of.interval), of.n, None, None, *_told(each, name, None, None)])
    return rows


def _told(each: Evaluated, metric: str, average: str | None, parts: int | None) -> list[Any]:
    return [each.scores.task, "measured", metric, average, parts, None, None]


def _published(each: Evaluated) -> list[list[Any]]:
    """Returns the rows of published scores; one that several sources give in the same words stands once."""
    sources: dict[tuple[Any, ...], list[str]] = {}
    for row in each.scores.declared.get("published", []):
        sources.setdefault((row["average"], row["setting"], row["score"]), []).append(row["source"])
    settings = [(average, setting) for average, setting, _ in sources]
    parts = bool(each.scores.declared.get("macro"))
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
    if not any(each.scores.declared.get("published") for each in of_run):
        return []
    other = f", not of {first.model}" if is_other_model(first) else ""
    told = f"published: scores of {reference_model(first)}{other}, on all rows; run.yaml has their sources."
    rows = [(e.scores.task, e.scores.rows, e.scores.declared.get("rows")) for e in of_run]
    fewer = [f"{task} {ran} of {of_all}" for task, ran, of_all in rows if of_all and ran < of_all]
    return [told, *([f"Fewer rows ran here, so do not compare: {', '.join(fewer)}."] if fewer else [])]


def _legend(of_run: list[Evaluated]) -> list[str]:
    notes = ["Prompts are Meta's own, complete with examples."] if not of_run[0].on_samples else []
    if any(each.scores.macro for each in of_run):
        notes.append("micro: each row counts the same; macro: each subtask does. Compare like with like.")
    if any(_unparsed(each.scores) is not None for each in of_run):
        notes.append("unparsed: answers that cannot be parsed, in percent; they count as wrong.")
    return [*notes, "bad: rows with a defect."]
