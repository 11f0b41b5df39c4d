"""The whole of a generated text as the answer, as for translations."""

import unicodedata

from afrieval.scoring.base import Extractor


def whole() -> Extractor:
    """Returns what takes the text itself, in NFC, without blanks at its ends."""
    return lambda text, question, asked: unicodedata.normalize("NFC", text).strip() or None
