"""Answers of a model with what else is known of them, such as their tokens and cost."""

from collections.abc import Iterable
from typing import Any

Details = dict[str, Any]
# What requests took: numbers add up, and so do the pairs of tokens of prompts and answers.
NUMBERS = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens", "cost", "requests")
PAIRS = ("at_most", "lost")


class Generated(str):
    """A generated text.

    Attributes:
        details: what else is known of it, in a form that JSON can hold; `refused` is there if it is a refusal.
    """

    details: Details

    def __new__(cls, text: object = "", details: Details | None = None) -> "Generated":
        """Returns a text with details; the harness and its tasks make others of the same type, without details."""
        made = super().__new__(cls, text)
        made.details = details or {}
        return made

    def __getnewargs__(self) -> tuple[str, Details]:  # type: ignore[override]
        """Returns what a copy is made of."""
        return str(self), self.details


class Scored(tuple[Any, ...]):
    """A likelihood as the harness has it: number, whether it is greedy, and more.

    Attributes:
        details: as of a `Generated`.
    """

    details: Details

    def __new__(cls, values: Any = (), details: Details | None = None) -> "Scored":
        """Returns a likelihood with details."""
        made = super().__new__(cls, values)
        made.details = details or {}
        return made

    def __getnewargs__(self) -> tuple[tuple[Any, ...], Details]:
        """Returns what a copy is made of."""
        return tuple(self), self.details


def details_of(answer: Any) -> Details:
    """Returns what else is known of an answer; empty for answers of models that tell nothing."""
    found: Details = getattr(answer, "details", {})
    return found


def detailed(answer: Any, details: Details) -> Any:
    """Returns an answer with details: a text, or a list as JSON has it of a likelihood."""
    return Generated(answer, details) if isinstance(answer, str) else Scored(answer, details)


def together(every: Iterable[Details]) -> Details:
    """Returns the details of several answers; what they took is added up."""
    found: Details = {}
    for details in every:
        sums = {name: found[name] + details[name] for name in NUMBERS if name in found and name in details}
        sums |= {
            name: [a + b for a, b in zip(found[name], details[name], strict=True)]
            for name in PAIRS
            if name in found and name in details
        }
        found = {**found, **details, **sums}
    return found


def at_no_cost(answer: Any) -> Any:
    """Returns an answer that was given before, to an equal request: it took nothing more."""
    details = details_of(answer)
    if not any(name in details for name in (*NUMBERS, *PAIRS)):
        return answer
    known = {name: value for name, value in details.items() if name not in PAIRS}
    return detailed(answer, {**known, "prompt_tokens": 0, **{name: 0 for name in NUMBERS if name in details}})
