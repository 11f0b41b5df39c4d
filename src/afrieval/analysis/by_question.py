"""The scores of a language by question, as two arrays: a dict of a million takes ten times their memory."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from afrieval.results.scores import Numbers, Values
from afrieval.results.shared import shared

Question = tuple[int, int]  # its number, and the right answer
ANSWERS = 1 << 32  # right answers of a question, at most


@dataclass(frozen=True, eq=False)
class ByQuestion(Mapping[Question, float]):
    """The scores of a language by question and right answer, each once, in order; `by_question` makes one.

    Attributes:
        codes: a number for each question and right answer, shape (n,).
        scores: shape (n,).
    """

    codes: Numbers
    scores: Values

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[Question]:
        return zip((self.codes // ANSWERS).tolist(), (self.codes % ANSWERS - 1).tolist(), strict=True)

    def __getitem__(self, question: Question) -> float:
        found = self.scores[self.codes == question[0] * ANSWERS + question[1] + 1]
        if not len(found):
            raise KeyError(question)
        return float(found[0])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByQuestion):
            return super().__eq__(other)
        return np.array_equal(self.codes, other.codes) and np.array_equal(self.scores, other.scores)

    def times(self, factor: float) -> "ByQuestion":
        """Returns all scores times a factor."""
        return ByQuestion(self.codes, factor * self.scores)


Scores = Mapping[Any, float]  # of one language, by question; a question of several has the same name in all


def by_question(numbers: Numbers, golds: Numbers, scores: Values) -> ByQuestion:
    """Returns scores by question; of a question that a language has twice, the last one.

    Args:
        numbers: of questions, shape (n,).
        golds: right answers, -1 or more, shape (n,).
        scores: shape (n,).
    """
    codes = numbers * ANSWERS + golds + 1
    if np.all(codes[1:] > codes[:-1]):
        return ByQuestion(shared(codes), scores)
    distinct, first, place = np.unique(codes, return_index=True, return_inverse=True)
    last, order = np.empty(len(distinct)), np.argsort(first)
    last[place] = scores
    return ByQuestion(shared(distinct[order]), last[order])


def values_of(scores: Scores) -> Values:
    """Returns the scores of all questions."""
    return scores.scores if isinstance(scores, ByQuestion) else np.array(list(scores.values()))


def places(languages: Sequence[Scores]) -> tuple[list[Numbers], int]:
    """Returns a place for each question of each language, and how many there are; they are in the order of first use.

    Args:
        languages: each language's scores by question.
    """
    arrays = [scores.codes for scores in languages if isinstance(scores, ByQuestion)]
    if len(arrays) < len(languages):
        return _named(languages)
    if all(codes is arrays[0] for codes in arrays):
        return [np.arange(len(arrays[0]))] * len(arrays), len(arrays[0])
    every, first, flat = np.unique(np.concatenate(arrays), return_index=True, return_inverse=True)
    place = np.empty(len(every), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(every))
    return np.split(place[flat], np.cumsum([len(codes) for codes in arrays])[:-1]), len(every)


def _named(languages: Sequence[Scores]) -> tuple[list[Numbers], int]:
    place: dict[Hashable, int] = {}
    for scores in languages:
        for question in scores:
            place.setdefault(question, len(place))
    return [np.array([place[question] for question in scores], dtype=np.int64) for scores in languages], len(place)
