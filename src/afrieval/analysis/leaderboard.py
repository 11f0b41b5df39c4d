"""Models of stored runs and of published tables in one table, averaged over the same languages."""

from typing import Any

import numpy as np

from afrieval.analysis.published import AFROBENCH, PublishedRow, averages, published_scores
from afrieval.grouping import grouped
from afrieval.languages import LANGUAGES
from afrieval.report.table import Column, Grid
from afrieval.results.scores import CellScores


def standing_grid(task: str, units: list[CellScores], rows: list[PublishedRow]) -> Grid | None:
    """Returns best and mean over prompts of each model; published ones are marked. None if they share no language.

    Args:
        task: its name.
        units: of our runs; English prompts are taken, as the published scores have.
        rows: of published tables.
    """
    own = [u for u in units if u.task == task and u.prompt_language == "eng"]
    of_task = [row for row in rows if row.task == task]
    languages = _languages(own, of_task)
    if not of_task or not languages:
        return None
    found = [*_own(own, languages), *_published(of_task, task, languages)]
    found.sort(key=lambda row: -float(row[5]))
    columns = [Column("model"), Column("source"), Column("shots", "count"), Column("prompts", "count")]
    columns += [Column("best", "percent"), Column("mean", "percent")]
    _, wrong = averages(of_task)
    notes = [f"Mean over {len(languages)} languages that all of them have: {' '.join(languages)}. Best: the prompt was"]
    notes[0] += " chosen on test. Published scores are of whole test sets: compare runs without --eval.limit."
    notes += [_told(a.row, a.value) for a in wrong]
    return Grid("standing", f"{task}: runs and published scores", columns, found, notes, {"task": task})


def average_grid(task: str, rows: list[PublishedRow]) -> Grid:
    """Returns AfroBench's own average of each published row, beside the one that is printed."""
    found, wrong = averages([row for row in rows if row.task == task])
    columns = [Column("model"), Column("prompt"), Column("languages", "count"), Column(AFROBENCH, "percent")]
    columns += [Column("printed", "percent")]
    printed = [[a.row.model, a.row.prompt, len(a.languages), a.value / 100, _share(a.row.average)] for a in found]
    notes = [f"{AFROBENCH}: the mean over all languages of the row but English and French."]
    notes += [_told(a.row, a.value) for a in wrong] or ["All printed averages are these, to 0.1."]
    return Grid("published", f"{task}: published averages", columns, printed, notes, {"task": task})


def _share(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def _told(row: PublishedRow, value: float) -> str:
    return f"Not consistent: {row.model}, prompt {row.prompt}, prints {row.average}, its scores give {value:.1f}."


def _languages(units: list[CellScores], rows: list[PublishedRow]) -> list[str]:
    """Returns the African languages that all models have, those of the table alone where there are no runs."""
    sets = [{u.language for u in of_model} for of_model in _by_model(units)]
    models = {row.model: set[str]() for row in rows}
    for row in rows:
        models[row.model] |= set(row.scores)
    common = set.intersection(*sets, *models.values()) if models else set()
    return sorted(code for code in common if code not in LANGUAGES or LANGUAGES[code].african)


def _by_model(cells: list[CellScores]) -> list[list[CellScores]]:
    return list(grouped(cells, lambda c: (c.model, c.shots, c.answer_form)).values())


def _own(cells: list[CellScores], languages: list[str]) -> list[list[Any]]:
    rows = []
    for of_model in _by_model(cells):
        prompts = [{c.language: c.score for c in of} for of in grouped(of_model, lambda c: c.prompt).values()]
        means = [np.mean([s[code] for code in languages]) for s in prompts if set(languages) <= set(s)]
        first = of_model[0]
        if means:
            rows.append([first.model, "run", first.shots, len(means), float(max(means)), float(np.mean(means))])
    return rows


def _published(rows: list[PublishedRow], task: str, languages: list[str]) -> list[list[Any]]:
    return [[s.model, "published", s.shots, s.prompts, s.best, s.mean] for s in published_scores(rows, task, languages)]
