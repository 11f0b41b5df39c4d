"""Scores per document of other programs' runs as cells, to compare them with each other."""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from afrieval.harness.folder_names import named
from afrieval.results.derived import not_measured
from afrieval.results.scores import CellScores
from afrieval.results.selection import Kind, Selection
from afrieval.scoring.base import Metric


class Answered(NamedTuple):
    """A document as a program scored it.

    Attributes:
        id: the same for the same document in every run.
        score: from 0 to 1.
        gold: the right choice; -1 if it is not known.
        n_choices: 0 if the answer was not chosen.
        data: the question's own content, such as its choices.
        prompt: what was sent to the model, as far as the program says, without worked examples.
    """

    id: int
    score: float
    gold: int
    n_choices: int
    data: str
    prompt: str


@dataclass(frozen=True)
class Evaluated:
    """A task as a program evaluated it.

    Attributes:
        program: it marks the model, and tasks that are called as one of ours but have other prompts.
        must: what has to match in a comparison, next to documents and prompts.
        may: what may differ.
        limited: which rows of the test set were run, if not all: the `first` ones, or a `sample` of them.
    """

    program: str
    task: str
    model: str
    shots: int
    answer_form: str
    metric: str
    documents: Sequence[Answered]
    must: Mapping[str, object]
    may: Mapping[str, object]
    path: Path
    limited: Kind = "all"


def cell_of(of: Evaluated) -> CellScores | str:
    """Returns the scores of a task, or the reason why it is left out.

    Task, language and prompt number are those that the task's name says, as for tasks of lm_eval.
    """
    name = named(of.task)
    if name.problem:
        return name.problem
    documents = sorted(of.documents)
    ids = np.array([d.id for d in documents], dtype=np.int64)
    if len(np.unique(ids)) < len(ids):
        return "several of its documents have the same id"
    return CellScores(
        name=of.task,
        task=f"{name.task} ({of.program})" if name.is_namesake else name.task,
        language=name.language,
        prompt_language=name.prompt_language,
        prompt=name.prompt,
        model=f"{of.model} ({of.program})",
        shots=of.shots,
        answer_form=of.answer_form,
        metrics={of.metric: Metric(of.metric, not_measured)},
        measures={of.metric: np.array([[d.score] for d in documents], dtype=np.float64)},
        ids=ids,
        golds=np.array([d.gold for d in documents], dtype=np.int64),
        picked=np.full(len(ids), -1, dtype=np.int64),
        n_choices=np.array([d.n_choices for d in documents], dtype=np.int64),
        rows=len(ids),
        selection=Selection(of.limited, len(ids)),
        sent={
            "data": np.array([number(d.data) for d in documents], dtype=np.int64),
            "prompt text": np.array([number(d.prompt) for d in documents], dtype=np.int64),
        },
        must={
            "data": digest(d.data for d in documents),
            "prompt text": digest(d.prompt for d in documents),
            **of.must,
        },
        may=dict(of.may),
        path=of.path,
    )


def id_number(given: int | str) -> int:
    """Returns an id as a number: itself if it is not negative and has at most 18 digits; else one for its text."""
    value = int(given) if re.fullmatch("0|[1-9][0-9]{0,17}", str(given)) else -1
    return value if value >= 0 else number(str(given))


def number(text: str) -> int:
    """Returns a number that is the same for the same text."""
    return int.from_bytes(hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:8], "big") >> 1


def digest(texts: Iterable[str]) -> str:
    """Returns a hash of texts, in order."""
    return hashlib.sha256("\0".join(texts).encode(errors="surrogatepass")).hexdigest()[:16]


def is_mean(stated: object, values: Sequence[object]) -> bool:
    """Returns whether a score is the mean of a number from 0 to 1 for each document."""
    shares = [value for value in values if isinstance(value, int | float) and 0 <= value <= 1]
    if not isinstance(stated, int | float) or not 0 < len(values) == len(shares):
        return False
    return math.isclose(float(np.mean(shares)), stated, abs_tol=1e-6)
