"""A document of a cell as people see it: what the model gets, and what is right or what the model answered."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Block:
    """A prompt, verbatim, and lines on what follows it."""

    prompt: str
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Shown:
    """A document of a cell.

    Attributes:
        heading: which one it is, and which examples stand before it.
        blocks: its prompts; none if there is nothing to show.
    """

    heading: str
    blocks: list[Block] = field(default_factory=list)


NOT_KEPT = "(its prompt was not kept: eval.log_samples is false)"


def turns(history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
    """Stands in for the model's own chat template where no model is loaded.

    Without the generation prompt, the last turn is an answer already begun, and the model goes on with it.
    """
    shown = [f"[{turn['role']}]\n{turn['content']}" for turn in history]
    return "\n\n".join([*shown, "[assistant]"] if add_generation_prompt else shown)
