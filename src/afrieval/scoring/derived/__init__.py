"""Derived metrics by name: public functions of the files of this folder that return a `Derived`."""

from collections.abc import Callable
from dataclasses import replace

from afrieval.scoring.base import Derived
from afrieval.scoring.registry import Spec, made, makers

DERIVED: dict[str, Callable[..., Derived]] = makers(__name__, __path__, Derived)


def derived(name: str, how: Spec) -> Derived:
    """Returns a derived metric."""
    return replace(made(DERIVED, how, "derived metric"), name=name)
