"""Documents to questions, and what scores the responses to them."""

from collections.abc import Callable, Sequence
from typing import Any

from afrieval.scoring.base import Asked, Likelihood, Question, Score
from afrieval.scoring.scorers import Generation, of_likelihoods, of_text, scored
from afrieval.tasks.documents import Document
from afrieval.tasks.presets import by_likelihood
from afrieval.tasks.prompts import Prompt, answers, choice_texts
from afrieval.tasks.spec import TaskSpec

Scorer = Callable[[Document, Sequence[Any]], Score]


def question(prompt: Prompt, document: Document, answer_form: str) -> Question:
    """Returns what scoring knows of a document that was asked with a prompt."""
    names = answers(prompt, document, answer_form)
    return Question(document.gold, choice_texts(prompt, document), names, document.fields)


def scorer(
    spec: TaskSpec,
    prompt: Prompt,
    announced: Sequence[str],
    answer_form: str,
    generation: Generation | None = None,
) -> Scorer:
    """Returns what scores a document by what the model gave: a likelihood per choice, or a text in a list.

    Args:
        spec: the task.
        prompt: template and words.
        announced: words that may announce an answer.
        answer_form: `text`, `letter` or `generate`.
        generation: how generated answers end; not needed for likelihoods.
    """
    scoring, metrics = spec.scoring, spec.scoring.metrics_of(answer_form)
    if by_likelihood(answer_form):

        def of_choices(document: Document, given: Sequence[Any]) -> Score:
            response = of_likelihoods([Likelihood(*likelihood) for likelihood in given])
            return scored(response, question(prompt, document, answer_form), metrics)

        return of_choices
    assert generation
    ends = generation
    asked = Asked(announced if spec.scoring.answer.is_worked_out else (), ends.runs_on, spec.chain_of_thought)

    def of_answer(document: Document, given: Sequence[Any]) -> Score:
        about = question(prompt, document, answer_form)
        return scored(of_text(given[0], about, scoring.extract, asked, ends.thinking_end), about, metrics)

    return of_answer
