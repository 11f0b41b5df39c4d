"""Answers of a model with what else is known of them, such as their tokens and cost."""

from typing import Any

Details = dict[str, Any]


class Generated(str):
    """A generated text.

    Attributes:
        details: what else is known of it, in a form that JSON can hold; `refused` is there if it is a refusal.
    """

    details: Details

    def __new__(cls, text: str, details: Details) -> "Generated":
        """Returns a text with details."""
        made = super().__new__(cls, text)
        made.details = details
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

    def __new__(cls, values: Any, details: Details) -> "Scored":
        """Returns a likelihood with details."""
        made = super().__new__(cls, values)
        made.details = details
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
