"""Tokens with tags, and words whose diacritics were restored."""

import unicodedata
from collections.abc import Callable, Sequence

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response
from afrieval.scoring.texts import n_common

Pair = list[str]  # [type, text] of a span, or [token, tag]; lists, as JSON has them
OUTSIDE = "O"
NONE = "none"


def spans(tokens: Sequence[str], tags: Sequence[str]) -> list[Pair]:
    """Returns the spans that IOB2 tags mark, by seqeval's strict definition.

    A span begins with a B tag, and the I tags of the same type that follow belong to it. An I tag
    without a span of its type before it marks nothing.
    """
    found: list[tuple[str, list[str]]] = []
    inside = ""
    for token, tag in zip(tokens, tags, strict=True):
        prefix, _, kind = tag.partition("-")
        if prefix == "B":
            found.append((kind, [token]))
            inside = kind
        elif prefix == "I" and inside == kind:
            found[-1][1].append(token)
        else:
            inside = ""
    return [[kind, " ".join(text)] for kind, text in found]


def types(tags: Sequence[str]) -> list[str]:
    """Returns the types of spans in a list of IOB2 tags, in order."""
    return list(dict.fromkeys(tag.partition("-")[2] for tag in tags if tag != OUTSIDE))


def spans_shown(found: Sequence[Pair]) -> str:
    """Returns spans as they are asked for: one per line, as in `PER: John Lewis`, or `none`."""
    return "\n".join(f"{kind}: {text}" for kind, text in found) or NONE


def tags_shown(found: Sequence[Pair]) -> str:
    """Returns tagged tokens as they are asked for: one per line, as in `Musa PROPN`."""
    return "\n".join(f"{token} {tag}" for token, tag in found)


ABOVE = frozenset({230})  # Unicode's combining classes
BELOW = frozenset({202, 220})  # attached to the letter, such as a cedilla, or not


def without_marks(text: str) -> str:
    """Returns a text without tone marks, dots below and the like, in NFC.

    All marks that Unicode separates from their letter are removed (NFD, then category Mn): ọ́ becomes o. Letters such
    as ɛ, ɔ, ŋ, ɖ and ƙ are not marked letters in Unicode, and stay.
    """
    return unicodedata.normalize(
        "NFC", "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    )


def marked_words(text: str, seen: frozenset[int]) -> list[str]:
    """Returns the words with marks of some combining classes, without marks of the other ones above or below."""
    hidden = (ABOVE | BELOW) - seen
    bare = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.combining(c) not in hidden)
    return [unicodedata.normalize("NFC", w) for w in bare.split() if seen.intersection(map(unicodedata.combining, w))]


def of_words(name: str, words: Callable[[str], list[str]], missing: Callable[[str], str] = lambda code: "") -> Metric:
    """Returns the share of words that are right, of which only some may count; 1 if none count on either side."""

    def measure(response: Response, question: Question) -> list[float] | None:
        if not isinstance(question.gold, str):
            return None
        gold, given = words(question.gold), words(str(response.answer or ""))
        return [float(n_common(gold, given)), float(max(len(gold), len(given)))]

    def score(measures: Array, weights: Array) -> Array:
        right, words = weights @ measures[:, 0], weights @ measures[:, 1]
        return np.divide(right, words, out=np.ones_like(right, dtype=np.float64), where=words > 0)

    return Metric(name, measure, score, interval="bootstrap", missing=missing)
