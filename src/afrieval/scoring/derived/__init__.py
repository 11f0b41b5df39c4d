"""Derived metrics by name: public functions of the files of this folder that return a `Derived`."""

from collections.abc import Callable
from dataclasses import replace

from afrieval._util.registry import Registry
from afrieval.scoring.base import Derived
from afrieval.scoring.registry import Spec, made, makers

DERIVED: Registry[Callable[..., Derived]] = Registry(
    "derived metric", "afrieval.derived", makers(__name__, __path__, Derived), ["__call__"], Derived
)


def derived(name: str, how: Spec) -> Derived:
    """Returns a derived metric."""
    return replace(made(DERIVED, how), name=name)
