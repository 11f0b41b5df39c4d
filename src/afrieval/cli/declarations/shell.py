"""Options of `afrieval completion`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from afrieval.config.options import Options, Word


@dataclass(frozen=True)
class CompletionCommand(Options):
    """Prints a script that completes commands, options and the words that they take, in bash or zsh.

    docs/installing.md says where a shell looks for it.

    Examples:
        afrieval completion bash
        afrieval completion zsh
    """

    shell: Annotated[Literal["bash", "zsh"], Word("{bash,zsh}")]
    """The shell."""
