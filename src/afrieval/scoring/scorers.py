"""Scores of generated answers, by the kind of task."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from afrieval.scoring.choice import ACCURACIES, UNREAD, score_choice
from afrieval.scoring.extract.boxed import last_boxed
from afrieval.scoring.extract.choice import final_answer, read_choice
from afrieval.scoring.extract.number import EXACT_MATCH, first_line_with_number, read_number, score_number
from afrieval.scoring.extract.phrase import announced_letter, announced_text
from afrieval.scoring.ifeval.instructions import FOLLOWED, followed
from afrieval.scoring.mathematics.same_answer import same_answer
from afrieval.scoring.same_text import same_text
from afrieval.tasks.documents import Document
from afrieval.tasks.prompts import Prompt, answers, choice_texts
from afrieval.tasks.spec import TaskSpec

Scores = dict[str, Any]
Score = Callable[[Document, str], Scores]


class Generation(NamedTuple):
    """How a generated answer ends, and what of it is read.

    Attributes:
        max_tokens: how long it may be.
        stop: texts at which it ends; chat models end their turn themselves.
        thinking_end: what a model's thinking ends with; empty for models that do not think.
        runs_on: whether the model may go on with questions of its own, having no chat template.
    """

    max_tokens: int
    stop: Sequence[str] = ()
    thinking_end: str = ""
    runs_on: bool = True


def metric_names(spec: TaskSpec, answer_form: str) -> tuple[str, ...]:
    """Returns the metrics of a task's samples, the main one first."""
    if spec.kind == "instructions":
        return FOLLOWED
    if spec.kind != "multiple_choice":
        return (EXACT_MATCH, UNREAD)
    return (ACCURACIES[0], UNREAD) if answer_form == "generate" else ACCURACIES


def scorer(spec: TaskSpec, prompt: Prompt, announced: Sequence[str], generation: Generation) -> Score:
    """Returns what scores a document's generated answer, all that the model wrote, by each metric of the task.

    A metric's score is a number from 0 to 1, or for metrics of single instructions a list of them.

    Args:
        spec: the task.
        prompt: template and words.
        announced: words that may announce an answer.
        generation: how answers end.
    """

    def number(document: Document, text: str) -> Scores:
        if generation.runs_on and not spec.chain_of_thought:
            text = first_line_with_number(text)
        return score_number(read_number(text, announced, first=generation.runs_on), int(document.gold or 0))

    def choice(document: Document, text: str) -> Scores:
        read = read_letter_or_word(spec, prompt, document, text)
        return score_choice(read, choice_texts(prompt, document), int(document.gold or 0))

    def text_answer(document: Document, text: str) -> Scores:
        assert spec.read
        read = announced_text(text, spec.read.after, spec.read.which)
        return _exact(read, read is not None and same_text(read, str(document.gold)))

    def mathematics(document: Document, text: str) -> Scores:
        read = last_boxed(text)
        return _exact(read, read is not None and same_answer(read, str(document.gold)))

    def instructions(document: Document, text: str) -> Scores:
        found = followed(json.loads(str(document.gold)), text)
        ways = (list(map(float, found.strict)), list(map(float, found.loose)))
        return dict(zip(FOLLOWED, [*map(min, ways), *ways], strict=True))

    kinds: dict[str, Score] = {
        "number": number,
        "multiple_choice": choice,
        "text": text_answer,
        "mathematics": mathematics,
        "instructions": instructions,
    }
    score = kinds[spec.kind]
    return lambda document, text: score(document, final_answer(text, generation.thinking_end))


def read_letter_or_word(spec: TaskSpec, prompt: Prompt, document: Document, text: str) -> int | None:
    """Returns the choice that a generated answer names, or None if it names none."""
    names = answers(prompt, document, "generate")
    if spec.read is None:
        return read_choice(text, names)
    return announced_letter(text, names, spec.read.after, spec.read.which, spec.read.lone)


def _exact(read: str | None, right: bool) -> Scores:
    return {EXACT_MATCH: float(right), UNREAD: float(read is None)}
