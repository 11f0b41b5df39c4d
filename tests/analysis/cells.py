"""Scores of cells made by hand, for tests."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from afrieval.analysis.inputs import Inputs
from afrieval.analysis.leaderboard import Leaderboard, leaderboard
from afrieval.analysis.published_files import PublishedRow
from afrieval.analysis.scores import ByQuestion, by_question
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric
from afrieval.scoring.metrics import metric


def scored(
    values: list[Any], task: str = "afrixnli", ids: list[int] | None = None, of: Metric | str = "acc", **changes: Any
) -> CellScores:
    """A cell whose documents have these scores, or measures; what is not named is English prompt 1 of Yoruba."""
    rows = np.array(range(len(values)) if ids is None else ids, dtype=np.int64)
    known = metric(of) if isinstance(of, str) else of
    measures = np.array(values, dtype=np.float64).reshape(len(values), -1)
    given: dict[str, Any] = {
        "language": "yor", "prompt_language": "eng", "prompt": 1, "model": "m", "shots": 0, "answer_form": "text",
        "metrics": {known.name: known},
        "measures": {known.name: measures},
        "golds": rows % 4,
        "picked": np.full(len(rows), -1),
        "n_choices": np.full(len(rows), 4),
        "comparable_on": {"task version": 1, "data": "d", "few-shot rows": [], "prompt text": "p"},
        "rows": len(rows),
        **changes,
    }  # fmt: skip
    place = (given[name] for name in ("language", "prompt_language", "prompt"))
    return CellScores(name="_".join(map(str, (task, *place))), task=task, ids=rows, **given)


def on_boards(cells: Sequence[CellScores], rows: Sequence[PublishedRow] = ()) -> Leaderboard:
    """The leaderboard of cells and of published rows."""
    return leaderboard(Inputs([*cells], [], [*rows]))


NUMBERS: dict[Hashable, int] = {}


def named(scores: Mapping[Any, float]) -> ByQuestion:
    """The scores of a language by the name of the question, which is the same in all languages that share it."""
    numbers = np.array([NUMBERS.setdefault(name, len(NUMBERS)) for name in scores], dtype=np.int64)
    return by_question(numbers, np.zeros_like(numbers), np.array(list(scores.values()), dtype=np.float64))
