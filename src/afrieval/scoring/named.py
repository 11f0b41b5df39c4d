"""Metrics, derived metrics and extractors by name."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

from afrieval.errors import UserError, nearest
from afrieval.files.schema import validated

T = TypeVar("T")
Spec = str | Mapping[str, Any]  # a name, or a map with `name` and options


def makers(package: str, path: Iterable[str], kind: Any) -> dict[str, Callable[..., Any]]:
    """Returns the public functions of a package's modules that return `kind`, by name.

    A new file in the package thus adds what it defines; nothing else has to list it.
    """
    modules = [import_module(f"{package}.{module.name}") for module in iter_modules(path)]
    return {
        name: function
        for module in modules
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and function.__annotations__.get("return") is kind
        and not name.startswith("_")
    }


def made(known: Mapping[str, Callable[..., T]], spec: Spec, what: str) -> T:
    """Returns what a name, or a map with a name and options, stands for.

    Args:
        known: name to what makes it; its parameters are the options.
        spec: as a task file has it.
        what: `metric`, `extractor` or the like, for messages.

    Raises:
        UserError: if the name or an option is unknown, or an option has a wrong value.
    """
    options = {} if isinstance(spec, str) else {key: value for key, value in spec.items() if key != "name"}
    name = spec if isinstance(spec, str) else str(spec.get("name"))
    if name not in known:
        raise UserError(f"there is no {what} {name!r}", nearest(name, sorted(known)))
    allowed = list(inspect.signature(known[name]).parameters)
    for option in options:
        if option not in allowed:
            hint = nearest(option, allowed) if allowed else "it has no options"
            raise UserError(f"the {what} {name} has no option {option!r}", hint)
    return validated(known[name], options, f"the {what} {name}") if allowed else known[name]()  # type: ignore[arg-type]
