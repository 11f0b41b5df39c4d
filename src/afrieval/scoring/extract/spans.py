"""The spans that a generated answer lists, one per line: `PER: John Lewis`, or `none`."""

from afrieval.scoring.base import Asked, Extractor, Question
from afrieval.scoring.extract.listed import listed, named
from afrieval.scoring.tagged import NONE, Pair

_BULLETS = "-*•"
_AROUND = " .-*•_`\"'()[]"  # marks that models put around `none`


def spans() -> Extractor:
    """Returns what takes the first lines that follow each other and are spans, as [type, text].

    A type counts in upper or lower case, and a text as it is. `none` after a type says that there is no
    span of that type. An answer without a span or `none` is unparsed.
    """

    def extract(text: str, question: Question, asked: Asked) -> list[Pair] | None:
        types = named(question.names)
        found = listed(text, lambda line: _span(line, types), _is_none)
        return None if found is None else [pair for pair in found if not _is_none(pair[1])]

    return extract


def _is_none(text: str) -> bool:
    return text.casefold().strip(_AROUND) == NONE


def _span(line: str, types: dict[str, str]) -> Pair | None:
    bullet, _, rest = line.partition(" ")
    kind, colon, text = (rest if bullet in _BULLETS else line).partition(":")
    known = types.get(kind.strip().casefold())
    return [known, text.strip()] if colon and known and text.strip() else None
