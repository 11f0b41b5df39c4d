"""A document's question and the model's response to its score."""

from collections.abc import Sequence
from typing import NamedTuple

from afrieval.scoring.base import Asked, Extractor, Guess, Likelihood, Metric, Question, Response, Score
from afrieval.scoring.choice import LOWEST, best
from afrieval.scoring.detailed import details_of
from afrieval.scoring.extract.choice import final_answer


class Generation(NamedTuple):
    """How a generated answer ends, and what of it is parsed.

    Attributes:
        max_tokens: how long it may be.
        stop: texts at which it ends; chat models end their turn themselves.
        thinking_end: what a model's thinking ends with; empty for models that do not think.
        runs_on: whether the model may go on with questions it makes up, having no chat template.
    """

    max_tokens: int
    stop: Sequence[str] = ()
    thinking_end: str = ""
    runs_on: bool = True


def of_likelihoods(likelihoods: Sequence[Likelihood], neutral: Sequence[Sequence[float]] = ()) -> Response:
    """Returns the response that picks the most likely choice; none if the likelihoods of all are unknown."""
    values = [given.loglikelihood for given in likelihoods]
    picked = best(values) if max(values) > LOWEST else None
    return Response(picked, likelihoods=likelihoods, neutral=neutral)


def of_text(text: str, question: Question, extract: Extractor, asked: Asked, thinking_end: str = "") -> Response:
    """Returns the response that a generated text gives.

    Args:
        text: all that the model wrote.
        question: what was asked.
        extract: finds the answer in it.
        asked: how it was asked for.
        thinking_end: what the model's thinking ends with; empty if it does not think.
    """
    details = details_of(text)
    final = final_answer(text, "" if details.get("thinking") else thinking_end)  # the server may keep it apart
    if details.get("refused"):
        return Response(None, final, refused=True)
    found, refused = extract(final, question, asked), False if details else None
    if isinstance(found, Guess):
        return Response(found.answer, final, guessed=found.how, refused=refused)
    return Response(found, final, refused=refused)


def scored(response: Response, question: Question, metrics: Sequence[Metric]) -> Score:
    """Returns a document's score under each metric that applies."""
    found = ((metric.name, metric.measure(response, question)) for metric in metrics)
    measures = {name: measure for name, measure in found if measure is not None}
    return Score(response.answer, measures, response.neutral, response.guessed)


def shown(score: Score, metrics: Sequence[Metric]) -> dict[str, object]:
    """Returns what the harness and samples have under each metric's name."""
    given = score.measures
    return {m.name: m.shown(score.answer, given[m.name]) for m in metrics if m.name in given}
