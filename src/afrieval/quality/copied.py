"""Texts that were not translated: their words are those of another language's row."""

from collections import Counter
from collections.abc import Iterator

from afrieval.quality.anchors import words
from afrieval.quality.findings import Finding
from afrieval.quality.groups import CHOICES, Group

SHARE = 0.9  # of a text's words; sentences in Zulu and Xhosa share up to 0.85
FEWEST_WORDS = 8  # different ones, of three letters or more; texts with fewer are often names
LETTERS = 3
SOURCES = ("eng", "fra")
# Languages in which a sentence may well be the same: varieties of one, and English and Nigerian Pidgin.
VARIETIES = ({"aka", "twi"}, {"eng", "pcm"}, {"aeb", "arb", "arq", "ary", "arz"})


def copied(group: Group) -> Iterator[Finding]:
    """Yields rows most of whose words are in the same row of another language, but not in most languages.

    English and French are what others are translated from, and are not named. Of two other languages, both are, unless
    the row of one is known to be defective.
    """
    if len(group.documents) < 3:
        return
    rows: dict[str, dict[int, str]] = {code: {} for code in group.documents}
    for name, texts in group.columns.items():
        if name == CHOICES:
            continue  # they are often names
        of_rows = {code: [_long(text) for text in of] for code, of in texts.items()}
        for place in range(group.n):
            here = {code: of[place] for code, of in of_rows.items()}
            times = Counter(word for found in here.values() for word in found)
            own = {code: {w for w in found if 2 * times[w] <= len(here)} for code, found in here.items()}
            for code, other in _pairs(own):
                if group.documents[code][place].defect or not group.documents[other][place].defect:
                    rows[code][place] = f"{name} as in {other}"
    for code, places in rows.items():
        if places:
            yield group.finding(code, "copied", places)


def _pairs(own: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Yields languages with the language that has most of their words."""
    for code, found in own.items():
        if len(found) >= FEWEST_WORDS and code not in SOURCES:
            shared = {other: len(found & there) for other, there in own.items() if not _is_variety(code, other)}
            best = max(shared, key=lambda other: shared[other], default=None)
            if best and shared[best] >= SHARE * len(found):
                yield code, best


def _is_variety(code: str, other: str) -> bool:
    return code == other or any({code, other} <= varieties for varieties in VARIETIES)


def _long(text: str) -> set[str]:
    return {word for word in words(text) if len(word) >= LETTERS}
