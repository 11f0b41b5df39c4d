"""Converts documents to questions and scores responses."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from afrieval.scoring.base import Asked, Likelihood, Metric, Question, Response, Score
from afrieval.scoring.detailed import details_of
from afrieval.scoring.scorers import Generation, of_likelihoods, of_text, scored
from afrieval.scoring.tokens import tokens_of
from afrieval.tasks.documents import Document
from afrieval.tasks.presets import by_likelihood
from afrieval.tasks.prompts import Prompt, answers, choice_texts
from afrieval.tasks.spec import TaskSpec

UNENDED = Generation(32)  # if no limits are given
Scorer = Callable[..., Score]


def scorer(
    spec: TaskSpec,
    prompt: Prompt,
    announced: Sequence[str],
    answer_form: str,
    ends: Generation = UNENDED,
    answer_language: str = "",
    metrics: Sequence[Metric] | None = None,
) -> Scorer:
    """Returns a function that scores a response: a likelihood per choice, or a list with a text.

    Args:
        spec: the task.
        prompt: template and words.
        announced: words that may announce an answer.
        answer_form: `text`, `letter` or `generate`.
        ends: limits of generated answers; not needed for likelihoods.
        answer_language: the language that answers should be in.
        metrics: those to measure; by default all of the task that apply.
    """
    scoring = spec.scoring
    measured = scoring.metrics_of(answer_form, language=answer_language) if metrics is None else metrics
    asked = Asked(announced if scoring.answer.is_worked_out else (), ends.runs_on, spec.chain_of_thought)

    def score(document: Document, given: Sequence[Any], neutral: Sequence[Sequence[float]] = ()) -> Score:
        names, texts = scoring.names or answers(prompt, document, answer_form), choice_texts(prompt, document)
        question = Question(document.gold, texts, names, document.fields, answer_language, document.roles)
        if document.roles:
            response = Response(None, likelihoods=[*map(_with_tokens, given)])
        elif by_likelihood(answer_form):
            response = of_likelihoods([Likelihood(*likelihood) for likelihood in given], neutral)
        else:
            response = of_text(given[0], question, scoring.extract, asked, ends.thinking_end)
            if response.answer is None and prompt.lettered and prompt.labels:
                worded = replace(question, names=texts)  # chat models may write the word that a letter stands for
                response = of_text(given[0], worded, scoring.extract, asked, ends.thinking_end)
        return scored(response, question, measured)

    return score


def _with_tokens(given: Any) -> Likelihood:
    """Returns the likelihood of a text, which is a number if nothing else was asked for."""
    known = Likelihood(*given) if isinstance(given, tuple | list) else Likelihood(given, False)
    return known._replace(tokens=tokens_of(details_of(given)))
