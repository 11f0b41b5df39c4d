"""What the command line knows of a command before it is called; `--help` imports no more than its options."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

LOOK, SCALE, ORDER = "Evaluate and look at results", "Plan, run at scale, pass on", "Keep in order"  # groups in --help


@dataclass(frozen=True)
class Command:
    """A command, such as `afrieval compare`.

    Attributes:
        group: the heading in `afrieval --help` under which it stands.
        summary: what it does, in a line.
        options: "module:class" of its options; the module is light, since `--help` imports it.
        main: "module:function" that takes its words, and returns its exit code or None; imported when it is called.
        resumes: whether the same command continues one that was stopped.
    """

    group: str
    summary: str
    options: str
    main: str
    resumes: bool = False

    @property
    def kind(self) -> type:
        """The dataclass of its options."""
        return _imported(self.options)  # type: ignore[no-any-return]

    def __call__(self, words: list[str]) -> int | None:
        """Calls it; what a user can correct is a UserError."""
        main: Callable[[list[str]], int | None] = _imported(self.main)
        return main(words)


def _imported(reference: str) -> Any:
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
