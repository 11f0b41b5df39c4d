"""The first line of a generated text as the answer, as for short answers to questions."""

import unicodedata

from afrieval.scoring.base import Extractor


def line() -> Extractor:
    """Returns what takes the first line that is not blank or a code fence, in NFC, without blanks at its ends."""

    def extract(text: str, question: object, asked: object) -> str | None:
        lines = (each.strip() for each in unicodedata.normalize("NFC", text).splitlines())
        return next((each for each in lines if each and not each.startswith("```")), None)

    return extract
