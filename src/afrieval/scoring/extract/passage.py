"""A passage as the answer, such as a translation or a summary."""

import re
import unicodedata

from afrieval.scoring.base import Asked, Extractor, Question

_BLANK_LINE = re.compile(r"\n\s*\n")


def passage() -> Extractor:
    """Returns what takes the text, in NFC, without blanks at its ends; up to the first blank line if the model runs on.

    A text without content is an empty answer and not an unparsed one: the model wrote nothing, which
    texts are scored for, and the metric `empty` counts it.
    """

    def extract(text: str, question: Question, asked: Asked) -> str:
        given = unicodedata.normalize("NFC", text).strip()
        return _BLANK_LINE.split(given)[0].rstrip() if asked.runs_on else given

    return extract
