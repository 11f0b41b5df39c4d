"""Baselines: what a model gets that does not read the text, because it always gives one answer or looks at lengths.

They follow from the data alone. `baselines.yaml` next to a task file stores them for the rows that they were computed
from; other rows get their own.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import yaml
from annotated_types import Ge, Le
from numpy.typing import NDArray

from afrieval._util.errors import UserError
from afrieval._util.schema import CLOSED, Positive
from afrieval._util.stamps import WHOLE, digest
from afrieval._util.whole_files import write_whole
from afrieval._util.yaml_files import read_as
from afrieval.results.cell_scores import ACCURACY, BALANCED
from afrieval.scoring.base import CHOICE, Metric, Question, Response
from afrieval.scoring.metrics import metric
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.spec import TaskSpec

FILE = "baselines.yaml"
LENGTH = "length"
MAJORITY, POSITION = MOST_FREQUENT = "majority", "position"
HEAD = "# Shares from 0 to 1. Written by `afrieval check-data {} --baselines`; docs/baselines.md explains them.\n"
FEWEST = 100  # rows; a classifier that learns from fewer measures noise
FOLDS, DEPTH, LEAF, SEED = 5, 3, 20, 0
DIGITS = 4
Picks = NDArray[np.int64]
Share = Annotated[float, Ge(0), Le(1)]
Scores = dict[str, dict[str, Share]]  # baseline to metric to score


@dataclass(frozen=True)
class Baselines:
    """The baselines of a language.

    Attributes:
        sha256: of what they follow from: right answers, choices, and lengths of texts.
        n: rows with a right answer.
        chance: the expected share of a random guess.
        scores: baseline to metric to score, from 0 to 1.
        p: baseline to the probability that chance alone gets so many answers right, not adjusted for other tests.
    """

    __pydantic_config__ = CLOSED

    sha256: str
    n: Positive
    chance: Share
    scores: Scores
    p: dict[str, Share]


def baselines(spec: TaskSpec, language: str, documents: Sequence[Document]) -> Baselines | None:
    """Returns the stored baselines of a language if they are of these documents, or else computes them.

    Returns:
        None if answers are not choices, or no document has a right one.
    """
    scorable = _asked(spec, documents)
    if not scorable:
        return None
    stored = stored_baselines(spec).get(language)
    return stored if stored and stored.sha256 == _hash(spec, scorable) else computed(spec, scorable)


def computed(spec: TaskSpec, documents: Sequence[Document]) -> Baselines | None:
    """Computes the baselines of a language, as `baselines` returns them."""
    scorable = _asked(spec, documents)
    if not scorable:
        return None
    # Accuracy, and the task's metrics that say something of picked choices alone.
    of_picks = [
        m
        for m in spec.scoring.metrics
        if m.responses == "both" and CHOICE in (m.applies_to or ()) and m.bounds == (0.0, 1.0) and not m.missing("")
    ]
    metrics = [metric(ACCURACY), *(m for m in of_picks if m.name != ACCURACY and m not in spec.scoring.of_own)]
    if not spec.labels:
        scores = {name: _scores(metrics, scorable, picks) for name, picks in _by_option(spec, scorable)}
    else:
        golds, scores = _golds(scorable), {}
        for name, picks, even in _by_label(spec, scorable):
            recalls = [(even[golds == gold] == gold).mean() for gold in np.unique(golds)]
            scores[name] = _scores(metrics, scorable, picks) | {BALANCED: round(float(np.mean(recalls)), DIGITS)}
    chance = float(np.mean([1 / len(d.choices) for d in scorable]))
    p_values = {name: _p(scorable, name, of, chance) for name, of in scores.items()}
    return Baselines(_hash(spec, scorable), len(scorable), round(chance, DIGITS), scores, p_values)


def stored_baselines(spec: TaskSpec) -> dict[str, Baselines]:
    """Returns the baselines that the task's folder has, by language; none if it has no file of them."""
    path = spec.folder / FILE
    return read_as(dict[str, Baselines], path) if path.is_file() else {}


def store_baselines(spec: TaskSpec, by_language: Mapping[str, Baselines]) -> Path:
    """Writes baselines to the task's folder, whose other languages keep theirs, and returns the file."""
    path = spec.folder / FILE
    merged = {**stored_baselines(spec), **by_language}
    content = {code: asdict(merged[code]) for code in sorted(merged)}
    text = HEAD.format(spec.name) + yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=120)
    try:
        write_whole(path, text.encode())
    except OSError as e:
        raise UserError(f"{path} cannot be written: {e.strerror}", "give a --task.folder that can be written") from None
    return path


def _asked(spec: TaskSpec, documents: Sequence[Document]) -> list[Document]:
    return [d for d in documents if d.gold is not None] if spec.scoring.answer.has_choices else []


def _hash(spec: TaskSpec, documents: Sequence[Document]) -> str:
    """Returns a hash of right answers, choices and lengths of texts, from which baselines follow."""
    parts = [
        [d.gold, d.choices, lengths] for d, lengths in zip(documents, _lengths(spec, documents).tolist(), strict=True)
    ]
    return digest(json.dumps(parts), WHOLE)


def _lengths(spec: TaskSpec, documents: Sequence[Document]) -> NDArray[np.int64]:
    """Returns characters and words of each text, then their differences between texts, shape (n, k).

    What results are broken down by, such as a subject, is not a text.
    """
    names = [name for name in spec.field_columns if name not in spec.breakdowns]
    each = [np.array([(len(d.fields[name]), len(d.fields[name].split())) for d in documents]) for name in names]
    each += [second - first for first, second in combinations(each, 2)]
    return np.hstack(each) if each else np.zeros((len(documents), 0), dtype=np.int64)


def _by_label(spec: TaskSpec, documents: Sequence[Document]) -> Iterator[tuple[str, Picks, Picks]]:
    """Yields a baseline with its picks, and with those if all labels count alike, where documents have labels."""
    golds, lengths = _golds(documents), _lengths(spec, documents)
    constant = np.full(len(documents), np.bincount(golds).argmax())
    yield MAJORITY, constant, constant
    if len(documents) >= FEWEST and lengths.size:
        arrays = (lengths.tobytes(), golds.tobytes())
        yield LENGTH, _predicted(*arrays), _predicted(*arrays, "balanced")


def _by_option(spec: TaskSpec, documents: Sequence[Document]) -> Iterator[tuple[str, Picks]]:
    """Yields a baseline with its picks where documents have choices; the first of equally long ones."""
    position = int(np.bincount(_golds(documents)).argmax())
    yield POSITION, np.array([min(position, len(d.choices) - 1) for d in documents])
    if not spec.prompt:  # which hides the texts of choices
        sizes = [[len(text) for text in d.choices] for d in documents]
        yield "longest", np.array([of.index(max(of)) for of in sizes])
        yield "shortest", np.array([of.index(min(of)) for of in sizes])


def _golds(documents: Sequence[Document]) -> Picks:
    return np.array([d.gold for d in documents], dtype=np.int64)


@lru_cache(maxsize=128)
def _predicted(of_lengths: bytes, of_golds: bytes, weights: Literal["balanced"] | None = None) -> Picks:
    """Returns each document's label as a small tree predicts it that has learnt from the other folds, shape (n,).

    Every fold has its share of each label; which documents it has depends on their number and labels alone. Arrays
    are given as their bytes, as a command that plans the same rows again, such as a race at each look, learns once.
    """
    from sklearn.tree import DecisionTreeClassifier

    golds = np.frombuffer(of_golds, dtype=np.int64)
    lengths = np.frombuffer(of_lengths, dtype=np.int64).reshape(len(golds), -1)
    shuffled = np.random.default_rng(SEED).permutation(len(golds))
    folds = np.empty_like(golds)
    folds[shuffled[np.argsort(golds[shuffled], kind="stable")]] = np.arange(len(golds)) % FOLDS
    picks = np.empty_like(golds)
    for fold in range(FOLDS):
        tree = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=LEAF, class_weight=weights, random_state=SEED)
        picks[folds == fold] = tree.fit(lengths[folds != fold], golds[folds != fold]).predict(lengths[folds == fold])
    return picks


def _scores(metrics: Sequence[Metric], documents: Sequence[Document], picks: Picks) -> dict[str, float]:
    """Returns the scores of picked choices by metric."""
    pairs = [(Response(int(pick)), Question(d.gold, d.choices)) for d, pick in zip(documents, picks, strict=True)]
    weights = np.ones((1, len(documents)))
    scores = {m.name: m.score(np.array([m.measure(*pair) for pair in pairs]), weights)[0] for m in metrics}
    return {name: round(float(score), DIGITS) for name, score in scores.items()}


def _p(documents: Sequence[Document], name: str, scores: Mapping[str, float], chance: float) -> float:
    """Returns the probability that at least so many answers are right by chance (binomial).

    What is most frequent was chosen among all choices (Bonferroni). Lengths have to tell more than that one label is
    frequent, so that each label counts alike: rows are taken to be so many as give the mean over labels the same
    variance, and fewer, as folds share what is learnt from (Nadeau and Bengio 2003, "Inference for the Generalization
    Error").
    """
    from scipy.special import bdtrc

    n, score = len(documents), scores[ACCURACY]
    tries = max(len(d.choices) for d in documents) if name in MOST_FREQUENT else 1
    if name == LENGTH:
        counts = np.unique(_golds(documents), return_counts=True)[1]
        alike = len(counts) ** 2 / float(np.sum(1 / counts))
        chance, n, score = 1 / len(counts), round(alike / (1 + FOLDS / (FOLDS - 1))), scores[BALANCED]
    hits = round(score * n)
    return float(f"{min(1.0, tries * float(bdtrc(hits - 1, n, chance))):.2g}") if hits else 1.0
