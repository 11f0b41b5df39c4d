"""Extractors by name: functions of this folder's files that make one."""

import inspect
from collections.abc import Callable

from afrieval.scoring.base import Extractor
from afrieval.scoring.registry import Spec, made, makers

EXTRACTORS: dict[str, Callable[..., Extractor]] = makers(__name__, __path__, Extractor)


def extractor(spec: Spec) -> Extractor:
    """Returns what finds the answer in a generated text."""
    return made(EXTRACTORS, spec, "extractor")


def switches(spec: Spec) -> dict[str, bool]:
    """Returns the options of an extractor that are on or off, and which they are."""
    options = {"name": spec} if isinstance(spec, str) else spec
    parameters = inspect.signature(EXTRACTORS[str(options["name"])]).parameters.values()
    return {p.name: bool(options.get(p.name, p.default)) for p in parameters if p.annotation is bool}
