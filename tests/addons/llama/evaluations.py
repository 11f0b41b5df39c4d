"""Cells of tasks with a published evaluation, made by hand for tests."""

from dataclasses import replace
from typing import Any

from tests.results.test_run_folder import line

from afrieval.results.cell_scores import CellScores
from afrieval.results.sample_columns import cell_scores

EVALS = "meta-llama/Llama-3.1-8B-Instruct-evals"


def evaluation(
    scores: list[float | None],
    verdicts: list[bool | None] | None = None,
    parts: str = "",
    task: str = "meta_x",
    model: str = "m",
    **declared: Any,
) -> CellScores:
    """A cell whose documents have these scores, published verdicts and parts, a letter each."""
    lines = []
    for i, score in enumerate(scores):
        measures = None if score is None else {"acc": [score], "unparsed": [0.0]}
        verdict = verdicts[i] if verdicts else None
        told = {} if verdict is None else {"published_correct": verdict}
        part = {"part": parts[i]} if parts else {}
        lines.append(line(i, measures, task, language="eng", n_choices=4, **told, **part))
    known: Any = {"evals": EVALS, "macro": "subtask" if parts else None, "published": [], **declared}
    cell = cell_scores("c", lines)
    return replace(cell, model=model, declared=known)
