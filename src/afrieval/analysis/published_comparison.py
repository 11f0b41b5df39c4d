"""Models of stored runs and of published tables, averaged over the same languages."""

from typing import NamedTuple

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.published import AFROBENCH, PublishedMean, published_means
from afrieval.languages import is_african
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import PAPER, SUITE, UNCLEANED, prompt_number
from afrieval.tasks.data.published import PublishedRow
from afrieval.tasks.declaration.published import known_defects
from afrieval.tasks.declaration.spec import load_task, task_names


def standings(task: str, cells: list[CellScores], rows: list[PublishedRow]) -> tuple[list[PublishedMean], list[str]]:
    """Returns the models, the highest mean first, and the languages averaged over; none if they share no language.

    Args:
        task: its name.
        cells: of our runs; English prompts are taken, as the published scores have.
        rows: of published tables.
    """
    own = [c for c in cells if c.task == task and c.prompt_language == "eng"]
    of_task = [row for row in rows if row.task == task and row.prompt_language == "eng"]
    languages = common_languages(own, of_task)
    if not of_task or not languages:
        return [], []
    published = published_means(of_task, task, languages)
    return sorted([*_own_leaderboard(own, languages), *published], key=lambda standing: -standing.mean), languages


def as_published(task: str, cells: list[CellScores]) -> tuple[list[CellScores], str | None]:
    """Returns a task's cells with the metric of its published scores, and its name if that is not the main one.

    Cells without it are left out.

    Args:
        task: its name; published tables have tasks that the suite does not have, too.
        cells: of our runs.
    """
    paper = load_task(task).paper if task in task_names() else None
    of_task = [c for c in cells if c.task == task]
    if paper is None or paper.metric is None:
        return of_task, None
    return [c.with_metric(paper.metric) for c in of_task if paper.metric in c.metrics], paper.metric


def all_as_published(cells: list[CellScores]) -> list[CellScores]:
    """Returns the cells of all tasks, each with the metric of its published scores; cells without it are left out."""
    return [cell for task in dict.fromkeys(cell.task for cell in cells) for cell in as_published(task, cells)[0]]


def defective(task: str, cells: list[CellScores], rows: list[PublishedRow]) -> dict[str, str]:
    """Returns the languages whose data is known to be defective as a whole, in the runs or the published scores.

    Args:
        task: its name; published tables have tasks that the suite does not have, too.
        cells: of our runs.
        rows: of published tables.
    """
    scored = {code for row in rows if row.task == task for code in row.scores}
    spec = load_task(task) if task in task_names() else None
    known = [d for d in known_defects(spec) if d.split == spec.data.evaluate] if spec else []
    published = {d.language: d.what for d in known if d.whole and AFROBENCH in d.published and d.language in scored}
    return published | {c.language: c.defect for c in cells if c.task == task and c.defect}


def common_languages(cells: list[CellScores], rows: list[PublishedRow]) -> list[str]:
    """Returns the African languages that all models have, those of the table alone where there are no runs.

    Languages whose data is known to be defective as a whole are left out.
    """
    sets = [{c.language for c in of_model} for of_model in _by_model(cells)]
    models = {row.model: set[str]() for row in rows}
    for row in rows:
        models[row.model] |= set(row.scores)
    common = set.intersection(*sets, *models.values()) if models else set()
    common -= set(defective(rows[0].task, cells, rows)) if rows else set()
    return sorted(filter(is_african, common))


def _by_model(cells: list[CellScores]) -> list[list[CellScores]]:
    return list(grouped(cells, lambda c: (c.model, c.shots, c.answer_form, c.prompt_set)).values())


def name_of_run(cell: CellScores) -> str:
    """Returns what a run is called in the column of sources, with the set that its prompts belong to."""
    return {SUITE: "run", PAPER: "run, paper", UNCLEANED: "run, paper uncleaned"}[cell.prompt_set]


def as_share(cell: CellScores) -> float:
    """Returns a cell's score from 0 to 1, as published scores are in percent, whatever the scale of its metric."""
    highest = cell.metric.bounds[1]
    return cell.score / highest if np.isfinite(highest) else cell.score


def _own_leaderboard(cells: list[CellScores], languages: list[str]) -> list[PublishedMean]:
    found = []
    for of_model in _by_model(cells):
        prompts = [{c.language: as_share(c) for c in of} for of in grouped(of_model, lambda c: c.prompt).values()]
        means = [np.mean([s[code] for code in languages]) for s in prompts if set(languages) <= set(s)]
        model, shots = of_model[0].model, of_model[0].shots
        if means:
            found.append(
                PublishedMean(
                    model, name_of_run(of_model[0]), shots, len(means), float(max(means)), float(np.mean(means))
                )
            )
    return found


class OnPrompt(NamedTuple):
    """A model's score under a prompt of the paper, the mean over the same languages for all; 0 to 1."""

    prompt: int
    model: str
    source: str
    shots: int | None
    score: float


def on_same_prompts(task: str, cells: list[CellScores], rows: list[PublishedRow]) -> tuple[list[OnPrompt], list[str]]:
    """Returns the scores under each prompt that runs and tables share, the highest first, and the languages.

    Numbers of the suite's prompts are left out: they are not the paper's.

    Args:
        task: its name.
        cells: of our runs.
        rows: of published tables.
    """
    own = [c for c in cells if c.task == task and c.prompt_language == "eng" and c.prompt_set != SUITE]
    numbers = {str(prompt_number(c.prompt)) for c in own}
    shared = [r for r in rows if r.task == task and r.prompt_language == "eng" and r.prompt in numbers]
    languages = common_languages(own, shared) if own and shared else []
    if not languages:
        return [], []
    found = [OnPrompt(int(r.prompt), r.model, "published", r.shots, mean) for r, mean in _published(shared, languages)]
    known = {of.prompt for of in found}
    found += [of for of in _own_same_prompts(own, languages) if of.prompt in known]
    return sorted(found, key=lambda of: (of.prompt, -of.score)), languages


def _published(rows: list[PublishedRow], languages: list[str]) -> list[tuple[PublishedRow, float]]:
    whole = [row for row in rows if set(languages) <= set(row.scores)]
    return [(row, float(np.mean([row.scores[code] for code in languages])) / 100) for row in whole]


def _own_same_prompts(cells: list[CellScores], languages: list[str]) -> list[OnPrompt]:
    found = []
    for of_prompt in grouped(cells, lambda c: (c.model, c.shots, c.answer_form, c.prompt)).values():
        first, scores = of_prompt[0], {c.language: as_share(c) for c in of_prompt}
        if set(languages) <= set(scores):
            mean = float(np.mean([scores[code] for code in languages]))
            found.append(OnPrompt(prompt_number(first.prompt), first.model, name_of_run(first), first.shots, mean))
    return found
