"""The parts of scoring: what was asked, what the model gave, metrics and derived metrics.

A metric has two halves. `measure` looks at one document when it is scored, and its numbers are
stored with the sample. `score` looks at the measures of all documents when results are read, with
a weight per document: weights of one give the score, resampled weights its interval. Intervals and
paired tests therefore work for every metric, and nothing is scored twice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afrieval.scoring.tokens import Need, Tokens

Array = NDArray[np.float64]
Interval = Literal["wilson", "student", "bootstrap", "none"]
# The forms that right answers have; an answer type of another package may add its own.
CHOICE, NUMBER, TEXT, TEXTS, SPANS = "choice", "number", "text", "texts", "spans"
LEVELS, WEIGHTS, INSTRUCTED, LIKELIHOODS = "levels", "weights", "instructions", "likelihoods"
REFERENCES = frozenset({TEXT, TEXTS})


class Likelihood(NamedTuple):
    """The likelihood of one continuation.

    Attributes:
        loglikelihood: natural logarithm of its probability given the prompt, summed over tokens.
        is_greedy: whether each token was the most likely one.
        n_tokens: number of tokens summed over; None if the backend does not report it.
        tokens: what is known of each; None if no metric asked for it.
    """

    loglikelihood: float
    is_greedy: bool
    n_tokens: int | None = None
    tokens: Tokens | None = None


@dataclass(frozen=True)
class Question:
    """What scoring knows of a document.

    Attributes:
        gold: the right answer, as the task's answer type has it: an index, a number, a text, a list.
        choices: option texts or label words, as they were shown; empty if there are none.
        names: what stands for each choice in an answer: letters, or the texts themselves; the types of
            spans, or the tags, where answers consist of them.
        fields: name to text, for prompts.
        language: code of the language that the answer should be in; empty if unknown.
        roles: what each choice is, such as `answer` or `perturbed`, where choices are texts whose likelihood is
            measured and none is right; several may have the same role.
        row: which row of which task it is, for messages; empty if that is not known.
    """

    gold: Any
    choices: Sequence[str] = ()
    names: Sequence[str] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    language: str = ""
    roles: Sequence[str] = ()
    row: str = ""

    @property
    def about(self) -> str:
        """Words that name the row at the end of a message."""
        return f", for {self.row}" if self.row else ""


@dataclass(frozen=True)
class Response:
    """What a model gave for one document.

    Attributes:
        answer: as extracted from the text, or picked by likelihood; None if the text cannot be parsed.
        text: what was generated, without the model's thinking; empty for likelihoods.
        likelihoods: one per continuation; empty for generated text.
        neutral: log-likelihood of each continuation after each neutral prompt, which is the same prompt
            without content; empty if no metric of the task needs it.
        guessed: how the answer was guessed, as in `Guess`; empty if it was not.
        refused: whether the model or a filter refused to answer; None if the backend cannot tell.
        cut: whether the text ended at its limit of tokens.
        thought: `ended` if thinking came before the answer, `only` if there is no answer after it; empty for neither.
        measures: metric to its numbers, once it is scored; a metric that cannot be measured is missing.
    """

    answer: Any | None
    text: str = ""
    likelihoods: Sequence[Likelihood] = ()
    neutral: Sequence[Sequence[float]] = ()
    guessed: str = ""
    refused: bool | None = None
    cut: bool = False
    thought: str = ""
    measures: dict[str, list[float]] = field(default_factory=dict)


class ExtractionContext(NamedTuple):
    """How a generated answer was asked for, as far as extractors need to know.

    Attributes:
        lead_ins: words that may stand before an answer, such as "The answer is"; `{answer}` in them
            stands for it.
        runs_on: whether the model may go on with questions it makes up, having no chat template.
        reasoned: whether examples show how an answer is found.
        published: whether the prompt is a published one, whose answers are read as strictly as its authors read them.
    """

    lead_ins: Sequence[str] = ()
    runs_on: bool = False
    reasoned: bool = False
    published: bool = False


class Guess(NamedTuple):
    """What an extractor takes for the answer of a text that does not say it, if its options tell it to guess.

    Attributes:
        answer: the answer.
        how: what is guessed: a `lone` letter, or one that is `drawn`.
    """

    answer: Any
    how: str


# Finds the answer in a generated text, in a form that JSON can hold; None if there is none. A guess is a `Guess`.
Extractor = Callable[[str, Question, ExtractionContext], Any]


def mean(measures: Array, weights: Array) -> Array:
    """Returns the weighted mean of the first measure, shape (b,)."""
    return np.asarray(weights @ measures[:, 0] / weights.sum(axis=1))


def ratio(measures: Array, weights: Array, empty: float = 0.0) -> Array:
    """Returns the weighted sum of the first measure over the second, shape (b,); `empty` for 0 / 0."""
    part, whole = weights @ measures[:, 0], weights @ measures[:, 1]
    return np.divide(part, whole, out=np.full_like(part, empty, dtype=np.float64), where=whole > 0)


def not_measured(response: Response, question: Question) -> list[float] | None:
    """Returns None: the metric is derived, or measured elsewhere."""
    return None


@dataclass(frozen=True)
class Metric:
    """A score of a set of documents.

    Attributes:
        name: what it is called in samples and tables.
        measure: response and question to the numbers of one document; None if it does not apply to
            them. Whether it applies must not depend on whether the answer was parsed.
        score: measures of shape (n, k) and weights of shape (b, n) to scores of shape (b,).
        higher_is_better: whether more is better.
        bounds: lowest and highest score; infinity if there is none.
        interval: `wilson` for shares from 0 to 1; `student` for means from 0 to 1 that few documents say how sure they
            are; `bootstrap` for all others; `none` if no interval makes sense.
        per_document_values: measures of shape (n, k) to a value per document, shape (n,), whose mean is the
            score and whose spread is its error; found numerically if not given.
        to_sample: answer and measure to what a sample has under the metric's name, which is also what
            the harness gets: the number, or the list of several.
        from_sample: the measure from what a sample has under the metric's name.
        normalise_over_cell: measures of all documents of a cell, shape (n, k), to those that `score` gets, for
            scores of a document that depend on the cell's others; None if they do not.
        calibrated: whether the lengths of label words have no part in it.
        needs_neutral: whether it needs likelihoods after neutral prompts.
        needs: what it needs of each token of a text.
        signature: the settings and version of the library that computes it; empty if it has none.
        applies_to: the forms of right answers that it scores, such as `TEXT`; None for all, except that metrics with
            `needs` score only texts whose likelihood is measured, and others only the rest.
        responses: whether it scores likelihoods of choices, generated answers, or both.
        counts_tokens: whether it needs the number of tokens of each choice, which not every backend reports.
        roles: the texts that it needs, where the likelihood of texts is measured.
        field: the field of the question that it needs, empty for the first; None if it needs none.
        n_sure: for `student`, measures of shape (n, k) to how many documents say how sure the score is.
        ranked: whether models may be ranked by it.
        missing: language code of the answers to the reason why the metric cannot be computed for them;
            empty if it can.
        fetch: downloads what it needs and the package does not include.
    """

    name: str
    measure: Callable[[Response, Question], list[float] | None]
    score: Callable[[Array, Array], Array] = mean
    higher_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    interval: Interval = "wilson"
    per_document_values: Callable[[Array], Array] | None = None
    to_sample: Callable[[Any, list[float]], Any] = lambda answer, measure: measure[0] if len(measure) == 1 else measure
    from_sample: Callable[[Any], list[float]] = lambda shown: [*map(float, shown if type(shown) is list else [shown])]
    normalise_over_cell: Callable[[Array], Array] | None = None
    calibrated: bool = False
    needs_neutral: bool = False
    needs: tuple[Need, ...] = ()
    signature: str = ""
    applies_to: frozenset[str] | None = None
    responses: Literal["both", "likelihoods", "generated"] = "both"
    counts_tokens: bool = False
    roles: tuple[str, ...] = ()
    field: str | None = None
    n_sure: Callable[[Array], int] = len
    ranked: bool = True
    missing: Callable[[str], str] = lambda language: ""
    fetch: Callable[[], None] = lambda: None

    def applies(self, gold: str, by_likelihood: bool) -> bool:
        """Returns whether it scores right answers of a form.

        Args:
            gold: the form, such as `CHOICE`.
            by_likelihood: whether responses are likelihoods, not generated.
        """
        if bool(self.needs) != (gold == LIKELIHOODS) or (self.needs and not by_likelihood):
            return False
        asked_for = ("both", "likelihoods" if by_likelihood else "generated")
        return self.responses in asked_for and (self.applies_to is None or gold in self.applies_to)

    @property
    def is_mean(self) -> bool:
        """Whether the score is the mean of a single measure."""
        return self.score is mean

    @property
    def is_few(self) -> bool:
        """Whether the score is about all documents, and few of them say how sure it is."""
        return self.interval == "student" and not self.is_mean

    @property
    def is_stored(self) -> bool:
        """Whether the score is the mean of what is stored."""
        return self.is_mean and self.normalise_over_cell is None

    def apply_cell_normalisation(self, measures: Array) -> Array:
        """Returns the measures that `score` gets, from the stored measures of all documents of a cell."""
        return measures if self.normalise_over_cell is None else self.normalise_over_cell(measures)


class Input(NamedTuple):
    """What a derived metric is computed from: a metric of some documents.

    Attributes:
        scores: one per resample, shape (b,).
        values: the value of each document, shape (n,), as `Metric.per_document_values` gives it.
        weights: one row per resample, shape (b, n).
        measures: as stored, shape (n, k).
    """

    scores: Array
    values: Array
    weights: Array
    measures: Array


@dataclass(frozen=True)
class Derived:
    """A score computed from other metrics.

    Attributes:
        name: what it is called in tables.
        score: the inputs, in the order of `of` in the task file, to scores of shape (b,); with a
            reference run, the same inputs of that run follow.
        higher_is_better: whether more is better.
        bounds: lowest and highest score; None to use the inputs' bounds.
        interval: `bootstrap`, or `none` if no interval makes sense.
        per_document_values: the inputs to a value per document whose mean is the score, where all have
            the same documents; found numerically if not given.
        n_inputs: how many inputs it takes, including inputs from a reference run; None for any number.
        needs: `scores` of its inputs; measures of their `documents`, which other derived metrics do not have;
            `pairs`, measures of the same documents here and in a reference run; the AUC of an `attack`; or measures
            of `orders` of rows, which only the task `memorisation` has.
        remark: what has to be said of a score; empty for nothing.
    """

    name: str
    score: Callable[[Sequence[Input]], Array]
    higher_is_better: bool = True
    bounds: tuple[float, float] | None = None
    interval: Interval = "bootstrap"
    per_document_values: Callable[[Sequence[Input]], Array] | None = None
    n_inputs: int | None = None
    needs: Literal["scores", "documents", "pairs", "attack", "orders"] = "scores"
    remark: Callable[[float], str] = lambda score: ""
