"""What scoring is made of: what was asked, what a model gave, and metrics.

A metric has two halves. `measure` looks at one document when it is scored; its numbers are stored with the sample.
`score` looks at the measures of all documents when results are read, with a weight per document: weights of one give
the score, resampled weights its interval. So intervals and paired tests work for every metric, and nothing is scored
twice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Likelihood(NamedTuple):
    """What a model says of one continuation.

    Attributes:
        loglikelihood: natural logarithm of its probability given the prompt, summed over its tokens.
        is_greedy: whether each token was the most likely one.
        n_tokens: number of tokens summed over; None where the backend does not say.
    """

    loglikelihood: float
    is_greedy: bool
    n_tokens: int | None = None


@dataclass(frozen=True)
class Question:
    """What scoring knows of a document.

    Attributes:
        gold: the right answer, in the form that the task's answer type has: an index, a number, a text, a list.
        choices: option texts or label words, as they were shown; empty where there are none.
        names: what stands for each choice in an answer: letters, or the texts themselves.
        fields: name to text, as prompts have them.
    """

    gold: Any
    choices: Sequence[str] = ()
    names: Sequence[str] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Response:
    """What a model gave for one document.

    Attributes:
        answer: as extracted from the text, or picked by likelihood; None if the text could not be parsed.
        text: what was generated, without the model's thinking; empty where likelihoods were asked for.
        likelihoods: one per continuation; empty where text was generated.
    """

    answer: Any | None
    text: str = ""
    likelihoods: Sequence[Likelihood] = ()


@dataclass(frozen=True)
class Score:
    """What is stored of one scored document.

    Attributes:
        answer: as extracted; None is unparsed.
        measures: metric to its numbers; a metric that could not be measured is missing.
    """

    answer: Any | None
    measures: dict[str, list[float]]


def mean(measures: Array, weights: Array) -> Array:
    """Returns the weighted mean of the first measure, shape (b,).

    Args:
        measures: one row per document, shape (n, k).
        weights: one row per resample, shape (b, n).
    """
    return np.asarray(weights @ measures[:, 0] / weights.sum(axis=1))


@dataclass(frozen=True)
class Metric:
    """A number for a set of documents.

    Attributes:
        name: what it is called in task files, samples and tables.
        measure: response and question to the numbers of one document; None where they cannot be had.
        score: measures of shape (n, k) and weights of shape (b, n) to scores of shape (b,).
        higher_is_better: whether more is better.
        bounds: lowest and highest score; infinity where there is none.
        interval: `wilson` for means of numbers from 0 to 1, `bootstrap` for all others, `none` where no interval makes
            sense.
        linear: measures of shape (n, k) to a value per document, shape (n,), whose mean is the score and whose spread
            is its error; found numerically if not given.
    """

    name: str
    measure: Callable[[Response, Question], list[float] | None]
    score: Callable[[Array, Array], Array] = mean
    higher_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    interval: Literal["wilson", "bootstrap", "none"] = "wilson"
    linear: Callable[[Array], Array] | None = None

    @property
    def is_mean(self) -> bool:
        """Whether the score is the mean of a single measure."""
        return self.score is mean
