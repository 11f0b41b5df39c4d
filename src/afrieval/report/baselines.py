"""What a model gets that does not read the text, as a table and in a line."""

from collections.abc import Sequence

from afrieval.quality.baselines import LanguageBaselines
from afrieval.report.table import Column, Table
from afrieval.report.values import shown_score
from afrieval.results.scores import ACCURACY, BALANCED
from afrieval.tasks.baselines import LENGTH

TOLD_BY_LENGTH = (LENGTH, BALANCED)
ABOVE = "*"
NOTE = "What a model gets that does not read the text; docs/baselines.md explains it."
LEGEND = f"{ABOVE}: above chance, beyond what chance explains (binomial test, Holm over the table)."


def baseline_table(task: str, found: Sequence[LanguageBaselines]) -> Table:
    """Returns a row per language: each baseline's accuracy, and where labels are fixed balanced accuracy by lengths.

    Args:
        task: the task's name.
        found: its baselines, at least one.
    """
    every = [(name, metric) for of in found for name, scores in of.baselines.scores.items() for metric in scores]
    shown = [pair for pair in dict.fromkeys(every) if pair[1] == ACCURACY or pair == TOLD_BY_LENGTH]
    columns = [Column("language", "language"), Column("n", "count"), Column("chance", "score")]
    for name, metric in shown:
        key = name if metric == ACCURACY else f"{name}_{metric}"
        columns += [Column(key.replace("_", ", "), "text", "-"), Column("", "hidden", key)]
    return Table(
        kind="baselines",
        title=f"{task}: without reading",
        columns=columns,
        rows=[_row(of, shown) for of in found],
        notes=[NOTE, *([LEGEND] if any(of.above for of in found) else [])],
        about={"task": task},
    )


def _row(of: LanguageBaselines, shown: Sequence[tuple[str, str]]) -> list[object]:
    row: list[object] = [of.language, of.baselines.n, of.baselines.chance]
    for name, metric in shown:
        score = of.baselines.scores.get(name, {}).get(metric)
        tested = metric == (BALANCED if (name, BALANCED) in shown else ACCURACY)
        row += ["" if score is None else shown_score(score) + ABOVE * (tested and name in of.above), score]
    return row
