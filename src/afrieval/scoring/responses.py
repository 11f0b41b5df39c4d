"""From a model's response to a score: likelihoods, generated texts, and what else is known of answers."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.registry import blaming, file_of
from afrieval._util.terminal import shortened
from afrieval.scoring.base import ExtractionContext, Extractor, Guess, Likelihood, Metric, Question, Response
from afrieval.scoring.labels import CUT
from afrieval.scoring.thinking import parted, stopped

LOWEST = -1e9  # stands for the logarithm of 0 where numbers must be finite
TIE = 1e-5  # of a value's size; float32 rounds the same request in two batches to values some 1e-7 apart


def best(loglikelihoods: Sequence[float], lengths: Sequence[float] | None = None) -> int:
    """Returns the index of the highest log-likelihood, or the highest per length; the first of several that tie.

    Two values tie if they differ by no more than rounding can change: `TIE` times the size of their sums, taken as
    at least 1. The answer therefore does not depend on what else the model computed in the same batch.
    """
    divisors = lengths or [1] * len(loglikelihoods)
    pairs = list(zip(loglikelihoods, divisors, strict=True))
    values = [total / length for total, length in pairs]
    highest = values.index(max(values))
    near = (i for i in range(highest) if values[highest] - values[i] <= max(_slack(*pairs[i]), _slack(*pairs[highest])))
    return next(near, highest)


def _slack(total: float, length: float) -> float:
    """Returns by how much rounding can change a value."""
    return TIE * max(1.0, abs(total)) / length if math.isfinite(total) else 0.0


def best_per(likelihoods: Sequence[Likelihood], lengths: Sequence[int | None]) -> int | None:
    """Returns the index of the highest log-likelihood per length (Gao 2021); None if a length is 0 or not known."""
    positive = [length for length in lengths if length]
    if not likelihoods or len(positive) < len(likelihoods):
        return None
    return best([given.loglikelihood for given in likelihoods], positive)


Details = dict[str, Any]
# What requests took: numbers add up, and so do the pairs of tokens of prompts and answers.
NUMBERS = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens", "cost", "requests")
PAIRS = ("at_most", "lost")
# The reason why an answer ended at its limit, in the words of servers, and any reason that is none.
AT_LIMIT = re.compile(r"(?i)length|max_?\w*tokens|token_?limit|context_?window|^incomplete$|truncat")
STOPPED = "stop"
OPENED = "opened"  # the prompt began the thinking
LOCAL = {CUT, OPENED}  # what is known of answers of models that are no servers


class Generated(str):
    """A generated text.

    Attributes:
        details: what else is known of it, in a form that JSON can hold; `refused` is there if it is a refusal.
    """

    details: Details

    def __new__(cls, text: object = "", details: Details | None = None) -> "Generated":
        """Returns a text with details; the harness and its tasks make others of the same type, without details."""
        generated = super().__new__(cls, text)
        generated.details = details or {}
        return generated


class Scored(tuple[Any, ...]):
    """A likelihood as the harness has it: number, whether it is greedy, and more.

    Attributes:
        details: as of a `Generated`.
    """

    details: Details

    def __new__(cls, values: Any = (), details: Details | None = None) -> "Scored":
        """Returns a likelihood with details."""
        scored = super().__new__(cls, values)
        scored.details = details or {}
        return scored


def details_of(answer: Any) -> Details:
    """Returns what else is known of an answer; empty for answers of models that tell nothing."""
    details: Details = getattr(answer, "details", {})
    return details


def detailed(answer: Any, details: Details) -> Any:
    """Returns an answer with details: a text, or a list as JSON has it of a likelihood."""
    return Generated(answer, details) if isinstance(answer, str) else Scored(answer, details)


def together(answers: Iterable[Details]) -> Details:
    """Returns the details of several answers; what they took is added up."""
    total: Details = {}
    for details in answers:
        sums = {name: total[name] + details[name] for name in NUMBERS if name in total and name in details}
        sums |= {
            name: [a + b for a, b in zip(total[name], details[name], strict=True)]
            for name in PAIRS
            if name in total and name in details
        }
        total = {**total, **details, **sums}
    return total


def is_cut(details: Mapping[str, Any]) -> bool:
    """Returns whether an answer ended at its limit of tokens, as its tokens or the server say."""
    return bool(details.get(CUT)) or bool(AT_LIMIT.search(str(details.get("finish_reason", ""))))


def at_no_cost(answer: Any) -> Any:
    """Returns an answer that was given before, to an equal request: it took nothing more."""
    details = details_of(answer)
    if not any(name in details for name in (*NUMBERS, *PAIRS)):
        return answer
    kept_details = {name: value for name, value in details.items() if name not in PAIRS}
    return detailed(answer, {**kept_details, "prompt_tokens": 0, **{name: 0 for name in NUMBERS if name in details}})


def amounts(answers: Iterable[Any]) -> Details:
    """Returns what some answers took together: tokens, cost and requests."""
    total = together(map(details_of, answers))
    return {name: total[name] for name in (*NUMBERS, *PAIRS) if name in total}


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


def thinking_and_answer(text: str, thinking_end: str = "") -> tuple[str, str]:
    """Returns what a model thinks, as its server or the text tells, and what it answers."""
    details = details_of(text)
    apart = str(details.get("thinking") or "")
    if apart and is_cut(details) and apart.strip() == text.strip():  # the server gave unfinished thinking twice
        return apart, ""
    inside, answer = parted(text, "" if apart else thinking_end, bool(details.get(OPENED)))
    return apart + inside, answer if inside else text


def only_thinks(text: str, thinking_end: str = "") -> bool:
    """Returns whether a text that did not end at its limit has thinking and no answer."""
    thinking, answer = thinking_and_answer(text, thinking_end)
    return bool(thinking) and not answer.strip() and not is_cut(details_of(text))


def before_stop(text: str, stop: str | Sequence[str], thinking_end: str = "") -> str:
    """Returns an answer up to the first stop text after its thinking; then it did not end at its limit."""
    details = details_of(text)
    end = "" if details.get("thinking") else thinking_end
    if (ended := stopped(text, stop, end, bool(details.get(OPENED)))) == text:
        return text
    return Generated(ended, {n: STOPPED if n == "finish_reason" else each for n, each in details.items() if n != CUT})


def of_text(
    text: str, question: Question, extract: Extractor, context: ExtractionContext, thinking_end: str = ""
) -> Response:
    """Returns the response that a generated text gives."""
    details, (thinking, final) = details_of(text), thinking_and_answer(text, thinking_end)
    thought = "only" if thinking and not final.strip() else "ended" if final != text else ""
    if details.get("refused"):
        return Response(None, final, refused=True)
    with blaming(f"the extractor{question.about}", extract):
        extracted = extract(final, question, context)
    try:
        json.dumps(extracted)  # samples are written when all of a cell is scored, which is too late to find out
    except (TypeError, ValueError) as e:
        reason = f"the extractor{question.about}, returns {shortened(repr(extracted))}, which cannot be stored"
        raise UserError(f"{file_of(extract)}: {reason}", "return a text, a number, a list or a map") from e
    answer, guessed = extracted if isinstance(extracted, Guess) else (extracted, "")
    refused = False if details.keys() - LOCAL else None
    return Response(answer, final, guessed=guessed, refused=refused, cut=is_cut(details), thought=thought)


def measured(metric: Metric, response: Response, question: Question) -> list[float] | None:
    """Returns the numbers of one document under a metric; None if it does not apply.

    Raises:
        UserError: naming file, line and row, if the metric fails.
    """
    with blaming(f"the metric {metric.name}{question.about}", metric.measure):
        return metric.measure(response, question)


def scored(response: Response, question: Question, metrics: Sequence[Metric]) -> Response:
    """Returns a response with the numbers of each metric that applies."""
    pairs = ((metric.name, measured(metric, response, question)) for metric in metrics)
    return replace(response, measures={name: measure for name, measure in pairs if measure is not None})


def shown(response: Response, metrics: Sequence[Metric]) -> dict[str, object]:
    """Returns what the harness and samples have under each metric's name."""
    measures = response.measures
    return {m.name: m.to_sample(response.answer, measures[m.name]) for m in metrics if m.name in measures}
