"""The entries of a list that a generated answer is, such as names separated by commas."""

import unicodedata

from afrieval.scoring.base import Extractor


def entries(separator: str = ",", none: str = "none") -> Extractor:
    """Returns what splits the first line with text on it.

    Args:
        separator: what stands between two entries.
        none: what the prompt asks to write if there is no entry; upper and lower case are the same.
    """

    def extract(text: str, question: object, asked: object) -> list[str] | None:
        lines = [line.strip() for line in unicodedata.normalize("NFC", text).splitlines() if line.strip()]
        if not lines or lines[0].casefold() == none.casefold():
            return [] if lines else None
        return [entry for part in lines[0].split(separator) if (entry := part.strip())]

    return extract
