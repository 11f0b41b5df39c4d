"""Extractors by name: public functions of the files of this folder that return an `Extractor`."""

import inspect
from collections.abc import Callable

from afrieval._util.registry import Registry
from afrieval.scoring.base import Extractor
from afrieval.scoring.registry import Spec, made, makers, name_of

Extractors = Registry[Callable[..., Extractor]]
EXTRACTORS: Extractors = Registry(
    "extractor", "afrieval.extractors", makers(__name__, __path__, Extractor), ["__call__"], Extractor
)


def extractor(spec: Spec, extractors: Extractors = EXTRACTORS) -> Extractor:
    """Returns what finds the answer in a generated text."""
    return made(extractors, spec)


def switches(spec: Spec, extractors: Extractors = EXTRACTORS) -> dict[str, bool]:
    """Returns the options of an extractor that are on or off, and which they are."""
    options = {"name": spec} if isinstance(spec, str) else spec
    parameters = inspect.signature(extractors[name_of(spec)]).parameters.values()
    return {p.name: bool(options.get(p.name, p.default)) for p in parameters if p.annotation is bool}
