"""What the command line knows of a command before it is called; `--help` imports no more than its options."""

from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from importlib import import_module
from typing import Any, TypeVar

from afrieval._util.errors import UserError
from afrieval._util.registry import Registry, file_of

T = TypeVar("T")
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
        return imported(self.options)  # type: ignore[no-any-return]

    def __call__(self, words: list[str]) -> int | None:
        """Calls it; what a user can correct is a UserError."""
        main: Callable[[list[str]], int | None] = imported(self.main)
        return main(words)


def imported(reference: str) -> Any:
    """Returns what a "module:object" names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


# What add-ons add to commands: dataclasses of options with a "module:function", which is imported when they are given.
# Files with several runs, for `afrieval doctor`: each has an option of its own name, and `configs` returns the configs
# of all runs of a file, and what starts them.
FILES_OF_RUNS: Registry[Any] = Registry("file of runs", "afrieval.files_of_runs", {}, needs=["configs"])
# Trained networks, for `afrieval score --metric NAME`: each has a section of its own name, and `opened` returns what
# makes the scorer of a run; None after a dry run.
NETWORKS: Registry[Any] = Registry("metric to add", "afrieval.scorers", {}, needs=["opened"])


def extended(kind: type[T], additions: Registry[Any], **types: Any) -> type[T]:
    """Returns the options of a command with those of add-ons after its own; `types` are new types of its options.

    Raises:
        UserError: if an addition cannot be imported, or lacks an option of its own name.
    """
    for name, options in additions.items():
        if name not in getattr(options, "__dataclass_fields__", ()):
            problem = f"the {additions.noun} {name} is no dataclass with a field {name} ({file_of(options)})"
            raise UserError(problem, "correct that package, or uninstall it")
    changed = [(name, of, None) for name, of in types.items()]
    bases = (*(options for _, options in additions.items()), kind)
    return make_dataclass(kind.__name__, changed, bases=bases, frozen=True, namespace={"__doc__": kind.__doc__})
