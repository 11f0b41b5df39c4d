"""Published scores: one row per model and prompt, a score per language, in percent."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from afrieval.data.published import PublishedRow
from afrieval.data.published import read_published as read_table
from afrieval.foreign.every_eval_ever import read_records
from afrieval.foreign.record_names import UNKNOWN
from afrieval.grouping import grouped
from afrieval.results.prompts import SUITE
from afrieval.tasks.spec import TaskSpec, load_task, task_names

__all__ = [
    "AFROBENCH", "Average", "PublishedRow", "Standing", "averages", "prompts_of", "published_scores", "read_published",
]  # fmt: skip

AFROBENCH = "AfroBench"
PUBLISHED = "published"  # how sources of published scores begin
NOT_AVERAGED = ("eng", "fra")  # Portuguese is averaged: the printed averages come out only with it
TOLERANCE = 0.1 + 1e-9  # they are printed with one decimal, not always rounded to the nearest


def read_published(path: Path) -> list[PublishedRow]:
    """Returns published scores, with the suite's names of task and languages where it knows them.

    Args:
        path: a table (.csv); or a record of Every Eval Ever (.json), or a folder of records.

    Raises:
        UserError: as for `data.published.read_published` and `foreign.every_eval_ever.read_records`.
    """
    if path.suffix != ".csv":
        return read_records(path)
    rows = read_table(path)
    known = _specs_of_tables() if rows else {}
    return [_in_our_names(row, known[row.task]) if row.task in known else row for row in rows]


def _specs_of_tables() -> dict[str, TaskSpec]:
    """Returns, for each table that a task's paper published, the task."""
    specs = map(load_task, task_names())
    return {spec.paper.table or spec.name: spec for spec in specs if spec.paper}


def _in_our_names(row: PublishedRow, spec: TaskSpec) -> PublishedRow:
    ours = {theirs: code for code, theirs in spec.paper.codes.items()} if spec.paper else {}
    return replace(row, task=spec.name, scores={ours.get(code, code): score for code, score in row.scores.items()})


@dataclass(frozen=True)
class Average:
    """AfroBench's own average of a row: the mean over all languages that the row has, but English and French.

    Attributes:
        name: what to call it, since it is not the suite's mean over African languages.
        languages: those averaged over; rows of one table may differ in them.
        value: recomputed, in percent.
    """

    row: PublishedRow
    languages: list[str]
    value: float
    name: str = AFROBENCH

    @property
    def consistent(self) -> bool:
        """Whether it is the printed average to 0.1; so it is where none is printed."""
        return self.row.average is None or abs(self.value - self.row.average) <= TOLERANCE


def averages(rows: list[PublishedRow]) -> tuple[list[Average], list[Average]]:
    """Returns AfroBench's average of each row, and those of them that are not what the table says.

    Rows that have neither a language but English and French are left out.
    """
    found = []
    for row in rows:
        languages = [code for code in row.scores if code not in NOT_AVERAGED]
        if languages:
            found.append(Average(row, languages, float(np.mean([row.scores[code] for code in languages]))))
    return found, [average for average in found if not average.consistent]


def prompts_of(row: PublishedRow) -> str:
    """Returns whose prompts a row has; those of the suite, and unknown ones, are not averaged with those of papers."""
    kind = {SUITE: "suite's prompts", UNKNOWN: "prompt unknown"}.get(row.prompt.partition(" ")[0])
    return f"{PUBLISHED}, {kind}" if kind else PUBLISHED


class Standing(NamedTuple):
    """A model's scores over its prompts, each the mean over the same languages; 0 to 1.

    Attributes:
        source: as `prompts_of` has it; or run, with the set of its prompts if they are not the suite's.
        prompts: how many have a score in every one of the languages; no other is used.
        best: that of the best prompt, chosen on the documents that it is a score of.
    """

    model: str
    source: str
    shots: int | None
    prompts: int
    best: float
    mean: float


def published_scores(rows: list[PublishedRow], task: str, languages: list[str]) -> list[Standing]:
    """Returns best and mean over prompts of each model, in the order of the tables.

    Args:
        rows: of one or more tables.
        task: its name.
        languages: those to average over; models without a row that has all of them are left out.
    """
    of_task = [row for row in rows if row.task == task and row.prompt_language == "eng"]
    whole = [row for row in of_task if languages and set(languages) <= set(row.scores)]
    found = []
    for (model, shots, source), of_model in grouped(whole, lambda r: (r.model, r.shots, prompts_of(r))).items():
        means = [float(np.mean([row.scores[code] for code in languages])) / 100 for row in of_model]
        found.append(Standing(model, source, shots, len(means), max(means), float(np.mean(means))))
    return found
