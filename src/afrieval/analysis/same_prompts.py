"""Runs with prompts of a paper next to published scores of the same prompts."""

from typing import NamedTuple

import numpy as np

from afrieval.analysis.leaderboard import as_share, common_languages, name_of_run
from afrieval.analysis.published import PublishedRow
from afrieval.grouping import grouped
from afrieval.results.prompts import SUITE, prompt_number
from afrieval.results.scores import CellScores


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
    found += [of for of in _own(own, languages) if of.prompt in known]
    return sorted(found, key=lambda of: (of.prompt, -of.score)), languages


def _published(rows: list[PublishedRow], languages: list[str]) -> list[tuple[PublishedRow, float]]:
    whole = [row for row in rows if set(languages) <= set(row.scores)]
    return [(row, float(np.mean([row.scores[code] for code in languages])) / 100) for row in whole]


def _own(cells: list[CellScores], languages: list[str]) -> list[OnPrompt]:
    found = []
    for of_prompt in grouped(cells, lambda c: (c.model, c.shots, c.answer_form, c.prompt)).values():
        first, scores = of_prompt[0], {c.language: as_share(c) for c in of_prompt}
        if set(languages) <= set(scores):
            mean = float(np.mean([scores[code] for code in languages]))
            found.append(OnPrompt(prompt_number(first.prompt), first.model, name_of_run(first), first.shots, mean))
    return found
