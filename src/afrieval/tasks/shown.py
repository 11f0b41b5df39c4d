"""Printed documents: the prompt as sent to the model, and the right answer or the model's."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Block:
    """A verbatim prompt, and lines to print after it."""

    prompt: str
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Shown:
    """A document of a cell.

    Attributes:
        heading: its name and few-shot examples.
        blocks: its prompts; empty if there is nothing to show.
    """

    heading: str
    blocks: list[Block] = field(default_factory=list)


NOT_KEPT = "(its prompt was not kept: eval.log_samples is false)"


def turns(history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
    """Replaces the model's chat template if no model is loaded.

    Without the generation prompt, the model continues the last turn.
    """
    shown = [f"[{turn['role']}]\n{turn['content']}" for turn in history]
    return "\n\n".join([*shown, "[assistant]"] if add_generation_prompt else shown)
