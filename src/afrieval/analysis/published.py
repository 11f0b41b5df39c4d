"""Published scores and verdicts next to runs: models over their prompts, prompt by prompt, and what differs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from afrieval._util.errors import UserError, nearest
from afrieval._util.grouping import grouped
from afrieval.analysis.entries import PUBLISHED, TaskEntries, tasks_with_entries
from afrieval.analysis.published_files import PublishedRow
from afrieval.analysis.subgroups import ScoreTree
from afrieval.languages import is_african
from afrieval.results.cell_key import PAPER, SUITE, UNCLEANED, prompt_number
from afrieval.results.cell_scores import CellScores
from afrieval.tasks.declaration.known_facts import PublishedScores, published_scores
from afrieval.tasks.declaration.spec import load_task, task_names

SOURCES = {SUITE: "run", PAPER: "run, paper", UNCLEANED: "run, paper uncleaned"}  # of runs, by the set of their prompts


class OverPrompts(NamedTuple):
    """A model's scores over its prompts, each the mean over the same languages; 0 to 1.

    Attributes:
        source: run, with the set of its prompts if they are not the suite's; or whose the published prompts are.
        scores: by prompt, of those that have a score in every one of the languages.
    """

    model: str
    source: str
    shots: int | None
    scores: Mapping[str, float]

    @property
    def is_published(self) -> bool:
        """Whether its scores are published ones."""
        return self.source.startswith(PUBLISHED)

    @property
    def best(self) -> float:
        """The score under the best prompt, chosen on the documents that it is a score of."""
        return max(self.scores.values())

    @property
    def mean(self) -> float:
        """The mean over prompts."""
        return float(np.mean([*self.scores.values()]))


def over_prompts(task: TaskEntries | None, languages: Sequence[str]) -> list[OverPrompts]:
    """Returns the scores over prompts of each model that has all languages, the highest mean first."""
    return sorted(_of_models(task, languages), key=lambda model: -model.mean)


def _of_models(task: TaskEntries | None, languages: Sequence[str]) -> list[OverPrompts]:
    models = []
    for model, entries in task.entries.items() if task else ():
        shares = [entries[code].shares for code in languages if code in entries]
        whole = [prompt for prompt in shares[0] if all(prompt in of for of in shares)] if shares else []
        if whole and len(shares) == len(languages):
            scores = {prompt: float(np.mean([of[prompt] for of in shares])) for prompt in whole}
            models.append(OverPrompts(model.name, SOURCES.get(model.prompt_set, model.prompt_set), model.shots, scores))
    return models


def with_english_prompts(cells: Sequence[CellScores], rows: Sequence[PublishedRow]) -> TaskEntries | None:
    """Returns the models of a task with English prompts, as published scores have; None without published scores."""
    in_english = [row for row in rows if row.prompt_language == "eng"]
    with_english = [cell for cell in cells if cell.prompt_language == "eng"]
    return tasks_with_entries(with_english, in_english)[0] if in_english else None


def standings(cells: Sequence[CellScores], rows: Sequence[PublishedRow]) -> tuple[list[OverPrompts], list[str]]:
    """Returns the models, the highest mean first, and the languages averaged over; none if they share no language."""
    task = with_english_prompts(cells, rows)
    languages = _common_languages(task)
    return over_prompts(task, languages), languages


def on_same_prompts(
    cells: Sequence[CellScores], rows: Sequence[PublishedRow]
) -> tuple[dict[int, list[OverPrompts]], list[str]]:
    """Returns the models under each prompt that runs and tables share, the highest score first, and the languages.

    Numbers of the suite's prompts are left out: they are not the paper's. Arguments are as for `standings`.
    """
    paper_cells = [c for c in cells if c.prompt_language == "eng" and c.prompt_set != SUITE]
    numbers = {str(prompt_number(c.prompt)) for c in paper_cells}
    task = with_english_prompts(paper_cells, [row for row in rows if row.prompt in numbers])
    languages = _common_languages(task)
    by_prompt: dict[int, list[OverPrompts]] = {}
    for model in _of_models(task, languages):
        for prompt, score in model.scores.items():
            by_prompt.setdefault(prompt_number(prompt), []).append(model._replace(scores={prompt: score}))
    for models in by_prompt.values():
        models.sort(key=lambda model: (-model.mean, not model.is_published))
    shared = [n for n, models in sorted(by_prompt.items()) if any(model.is_published for model in models)]
    return {number: by_prompt[number] for number in shared}, languages


def _common_languages(task: TaskEntries | None) -> list[str]:
    """Returns the African languages that all models have, but for those whose data is defective as a whole.

    A published model may have its languages under several prompts and numbers of examples.
    """
    entries = task.entries if task else {}
    of_models = grouped(entries, lambda model: model.name if model.published else model)
    has = [{code for model in same for code in entries[model]} for same in of_models.values()]
    common = set.intersection(*has) - set(task.defects) if task and has else set()
    return sorted(filter(is_african, common))


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


def check_published(cells: Iterable[CellScores], names: Sequence[str]) -> None:
    """Rejects names that no task has published scores of.

    Raises:
        UserError: names the first of them.
    """
    tasks = dict.fromkeys(cell.task for cell in cells)
    available = list(dict.fromkeys(name for task in tasks for name in published_scores(task)))
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

    def last(model: str) -> str:  # of a hub id or of a folder, which often end alike
        return model.rstrip("/").rpartition("/")[2]

    model = last(first.model.partition(" (")[0])
    return {name: of for name, of in scores.items() if not of.doubt and model in map(last, of.models)}


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
