"""Runs and published tables next to each other: models over their prompts, and prompt by prompt."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.entries import LeaderboardModel, TaskEntries, tasks_with_entries
from afrieval.analysis.published_files import PublishedRow
from afrieval.languages import is_african
from afrieval.results.cell_key import PAPER, SUITE, UNCLEANED, prompt_number
from afrieval.results.cell_scores import CellScores
from afrieval.tasks.declaration.spec import load_task, task_names


class OverPrompts(NamedTuple):
    """A model's scores over its prompts, each the mean over the same languages; 0 to 1.

    Attributes:
        source: as `published.prompts_of` has it; or run, with the set of its prompts if they are not the suite's.
        prompts: how many have a score in every one of the languages; no other is used.
        best: under the best prompt, chosen on the documents that it is a score of.
    """

    model: str
    source: str
    shots: int | None
    prompts: int
    best: float
    mean: float


def over_prompts(task: TaskEntries | None, languages: Sequence[str]) -> list[OverPrompts]:
    """Returns best and mean over prompts of each model that has all languages, the highest mean first."""
    of_models = {model: _prompt_means(task, model, languages) for model in task.entries} if task else {}
    rows = [
        OverPrompts(model.name, _source(model), model.shots, len(of), max(of.values()), float(np.mean([*of.values()])))
        for model, of in of_models.items()
        if of
    ]
    return sorted(rows, key=lambda row: -row.mean)


def with_english_prompts(cells: Sequence[CellScores], rows: Sequence[PublishedRow]) -> TaskEntries | None:
    """Returns the models of a task with English prompts, as published scores have; None without published scores."""
    in_english = [(row, "") for row in rows if row.prompt_language == "eng"]
    with_english = [cell for cell in cells if cell.prompt_language == "eng"]
    return tasks_with_entries(with_english, in_english)[0] if in_english else None


def standings(cells: Sequence[CellScores], rows: Sequence[PublishedRow]) -> tuple[list[OverPrompts], list[str]]:
    """Returns the models, the highest mean first, and the languages averaged over; none if they share no language."""
    task = with_english_prompts(cells, rows)
    languages = _common_languages(task)
    return over_prompts(task, languages), languages


class OnPrompt(NamedTuple):
    """A model's score under a prompt of the paper, the mean over the same languages for all; 0 to 1."""

    prompt: int
    model: str
    source: str
    shots: int | None
    score: float


def on_same_prompts(cells: Sequence[CellScores], rows: Sequence[PublishedRow]) -> tuple[list[OnPrompt], list[str]]:
    """Returns the scores under each prompt that runs and tables share, the highest first, and the languages.

    Numbers of the suite's prompts are left out: they are not the paper's. Arguments are as for `standings`.
    """
    paper_cells = [c for c in cells if c.prompt_language == "eng" and c.prompt_set != SUITE]
    numbers = {str(prompt_number(c.prompt)) for c in paper_cells}
    task = with_english_prompts(paper_cells, [row for row in rows if row.prompt in numbers])
    languages = _common_languages(task)
    if task is None or not languages:
        return [], []
    pairs = [
        (OnPrompt(prompt_number(prompt), model.name, _source(model), model.shots, mean), model.published)
        for model in task.entries
        for prompt, mean in _prompt_means(task, model, languages).items()
    ]
    published_prompts = {of.prompt for of, published in pairs if published}
    pairs.sort(key=lambda pair: (pair[0].prompt, -pair[0].score, not pair[1]))
    return [of for of, _ in pairs if of.prompt in published_prompts], languages


def _prompt_means(task: TaskEntries, model: LeaderboardModel, languages: Sequence[str]) -> dict[str, float]:
    """Returns the mean over languages of each prompt that has all of them, from 0 to 1."""
    shares = [task.entries[model][code].shares for code in languages if code in task.entries[model]]
    whole = [prompt for prompt in shares[0] if all(prompt in of for of in shares)] if shares else []
    means = {prompt: float(np.mean([of[prompt] for of in shares])) for prompt in whole}
    return means if len(shares) == len(languages) else {}


def _common_languages(task: TaskEntries | None) -> list[str]:
    """Returns the African languages that all models have, but for those whose data is defective as a whole.

    A published model may have its languages under several prompts and numbers of examples.
    """
    entries = task.entries if task else {}
    of_models = grouped(entries, lambda model: model.name if model.published else model)
    has = [{code for model in same for code in entries[model]} for same in of_models.values()]
    common = set.intersection(*has) - set(task.defects) if task and has else set()
    return sorted(filter(is_african, common))


def _source(model: LeaderboardModel) -> str:
    """Returns what a model's scores are called: run, with the set of its prompts; or published."""
    runs = {SUITE: "run", PAPER: "run, paper", UNCLEANED: "run, paper uncleaned"}
    return runs.get(model.prompt_set, model.prompt_set)


def as_published(task: str, cells: list[CellScores]) -> tuple[list[CellScores], str | None]:
    """Returns a task's cells with the metric of its published scores, and its name if that is not the main one.

    Cells without it are left out.
    """
    paper = load_task(task).paper if task in task_names() else None
    of_task = [c for c in cells if c.task == task]
    if paper is None or paper.metric is None:
        return of_task, None
    return [c.with_metric(paper.metric) for c in of_task if paper.metric in c.metrics], paper.metric


def all_as_published(cells: list[CellScores]) -> list[CellScores]:
    """Returns the cells of all tasks, each with the metric of its published scores; cells without it are left out."""
    return [cell for task in dict.fromkeys(cell.task for cell in cells) for cell in as_published(task, cells)[0]]
