"""Published scores: one row per model and prompt, a score per language, in percent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from afrieval._util.errors import UserError, nearest
from afrieval.analysis.published_files import UNKNOWN, PublishedRow, PublishedTable, shown
from afrieval.analysis.published_files import read_published as read_table
from afrieval.analysis.subgroups import ScoreTree
from afrieval.languages import LANGUAGES, language_of
from afrieval.results.cell_key import SUITE
from afrieval.results.cell_scores import CellScores
from afrieval.tasks.declaration.known_facts import PublishedScores, published_scores
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names

AFROBENCH = "AfroBench"
PUBLISHED = "published"  # how sources of published scores begin
NOT_AVERAGED = ("eng", "fra")  # Portuguese is averaged: the printed averages come out only with it
TOLERANCE = 0.1 + 1e-9  # they are printed with one decimal, not always rounded to the nearest


def read_published(path: Path) -> PublishedTable:
    """Returns a table of published scores, with the suite's names of tasks and languages where it knows them.

    Raises:
        UserError: as for `analysis.published_files.read_published`.
    """
    table = read_table(path)
    spec = _specs_of_tables().get(table.rows[0].task) if table.rows else None
    codes = _codes(list(dict.fromkeys(code for row in table.rows for code in row.scores)), spec)
    twice = [code for code in codes if not codes[code]]
    unknown = [code for code in codes.values() if code and code not in LANGUAGES]
    left_out = [
        f"second columns of languages: {shown(twice)}; averages of rows with them are not checked" if twice else "",
        f"from means over African languages, since the suite does not have them: {shown(unknown)}" if unknown else "",
    ]
    rows = []
    for row in table.rows:
        scores = {codes[code]: score for code, score in row.scores.items() if codes[code]}
        average = row.average if len(scores) == len(row.scores) else None
        rows.append(replace(row, task=spec.name if spec else row.task, scores=scores, average=average))
    return PublishedTable(rows, [*table.left_out, *filter(None, left_out)])


@cache
def _specs_of_tables() -> dict[str, TaskSpec]:
    """Returns, for each table that a task's paper published, the task."""
    specs = map(load_task, task_names())
    return {spec.paper.table or spec.name: spec for spec in specs if spec.paper}


def _codes(printed: list[str], spec: TaskSpec | None) -> dict[str, str]:
    """Returns the suite's codes of languages, or as printed where it has none; empty for the second one of a language.

    A printed code that is the suite's own is the first.
    """
    theirs = {code: ours for ours, code in spec.paper.codes.items()} if spec and spec.paper else {}
    languages = {code: theirs.get(code) or language_of(code) or code for code in printed}
    first: dict[str, str] = {}
    for code in sorted(printed, key=lambda code: languages[code] != code):
        first.setdefault(languages[code], code)
    return {code: ours if first[ours] == code else "" for code, ours in languages.items()}


@dataclass(frozen=True)
class AuthorsAverage:
    """AfroBench's own average of a row: the mean over all languages that the row has, but English and French.

    Attributes:
        name: what to call it, since it is not the suite's mean over African languages.
        languages: those averaged over; rows of one table may differ in them.
    """

    row: PublishedRow
    languages: list[str]
    value: float
    name: str = AFROBENCH

    @property
    def consistent(self) -> bool:
        """Whether it is the printed average to 0.1; so it is where none is printed."""
        return self.row.average is None or abs(self.value - self.row.average) <= TOLERANCE


def averages(rows: list[PublishedRow]) -> tuple[list[AuthorsAverage], list[AuthorsAverage]]:
    """Returns AfroBench's average of each row, and the averages that are not what the table says.

    Rows that have neither a language but English and French are left out.
    """
    row_averages = []
    for row in rows:
        languages = [code for code in row.scores if code not in NOT_AVERAGED]
        if languages:
            row_averages.append(
                AuthorsAverage(row, languages, float(np.mean([row.scores[code] for code in languages])))
            )
    return row_averages, [average for average in row_averages if not average.consistent]


def prompts_of(row: PublishedRow) -> str:
    """Returns whose prompts a row has; prompts of the suite, of papers, and unknown ones are not averaged together."""
    kind = {SUITE: "suite's prompts", UNKNOWN: "prompt unknown"}.get(row.prompt.partition(" ")[0])
    return f"{PUBLISHED}, {kind}" if kind else PUBLISHED


def check_published(cells: Iterable[CellScores], names: Sequence[str]) -> None:
    """Rejects names that no task has published scores of.

    Raises:
        UserError: names the first of them.
    """
    available = list(
        dict.fromkeys(name for task in {cell.task: None for cell in cells} for name in published_scores(task))
    )
    if unknown := [name for name in names if name not in available]:
        problem = f"no task here has published scores of {unknown[0]!r}"
        raise UserError(problem, nearest(unknown[0], available) if available else "leave --published out")


def published_for(tree: ScoreTree, names: Sequence[str]) -> dict[str, PublishedScores]:
    """Returns the published scores, by name, to show with a tree.

    Args:
        tree: scores of a model.
        names: of published scores; if empty, the scores of the model that are not doubtful.

    Returns:
        Nothing if the tree is of another metric than the task's main one.
    """
    scores, first = published_scores(tree.task), tree.cells[0]
    if not scores or first.main != load_task(tree.task).scoring.metrics[0].name:
        return {}
    if names:
        return {name: scores[name] for name in names if name in scores}
    model = _last(first.model.partition(" (")[0])
    return {name: of for name, of in scores.items() if not of.doubt and model in map(_last, of.models)}


def _last(model: str) -> str:
    """Returns the end of a hub id or of a folder, which are often the same."""
    return model.rstrip("/").rpartition("/")[2]


def differing(tree: ScoreTree, scores: PublishedScores) -> list[str]:
    """Returns in words how a run differs from the published one, as far as it is known."""
    first, n = tree.cells[0], tree.n
    forms, prompts = scores.answer_form, [cell.prompt for cell in tree.cells]
    used, stated = first.declared.get("extract", {}), scores.extract
    options = [*{**stated, **used}]  # of the extractor
    differences = {
        f"{first.shots}-shot": first.shots != scores.shots,
        f"answers by {first.answer_form}": forms not in (None, first.answer_form),
        f"prompt{'s' if len(prompts) > 1 else ''} {', '.join(map(str, prompts))}": scores.prompt is not None
        and prompts != [scores.prompt],
        **{f"{'with' if used.get(n) else 'without'} {n}": used.get(n, False) != stated.get(n, False) for n in options},
        "a chat template": bool(first.recorded_settings.get("chat_template")),
        f"{n:,} of {scores.n:,} questions" if scores.n else "": scores.n not in (None, n),
    }
    return [words for words, differs in differences.items() if differs]
