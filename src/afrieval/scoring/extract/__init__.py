"""Extractors by name: functions of this folder's files that make one."""

from collections.abc import Callable

from afrieval.scoring.base import Extractor
from afrieval.scoring.named import Spec, made, makers

EXTRACTORS: dict[str, Callable[..., Extractor]] = makers(__name__, __path__, Extractor)


def extractor(spec: Spec) -> Extractor:
    """Returns what finds the answer in a generated text.

    Args:
        spec: its name, as in `number`, or a map with `name` and options.

    Raises:
        UserError: if there is no extractor or option of that name, or an option has a wrong value.
    """
    return made(EXTRACTORS, spec, "extractor")
