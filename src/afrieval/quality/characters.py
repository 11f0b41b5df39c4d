"""Texts in another script than their language's, words that mix scripts, and damaged or leftover characters."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache

from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.quality.findings import Finding
from afrieval.quality.groups import Group

# ISO 15924 to the first word of Unicode's names.
SCRIPTS = {"Latn": "LATIN", "Ethi": "ETHIOPIC", "Arab": "ARABIC", "Tfng": "TIFINAGH", "Nkoo": "NKO"}
LOOKALIKES = ("GREEK", "CYRILLIC", "ARMENIAN")  # some of their letters look like Latin ones
FEWEST_LETTERS = 20
DAMAGED = {
    "a replacement character": re.compile("\ufffd"),
    "bytes of UTF-8 as letters": re.compile("[ÃÂ][\x80-\xbf]|â€|áˆ|áŠ|á‹|á‰"),
    "markup": re.compile(r"</?[a-zA-Z]{1,10}\s*/?>|&(?:[a-z]{2,6}|#\d{2,5});|\\u[0-9a-f]{4}"),
    "a control character": re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"),
}


def odd_characters(group: Group) -> Iterator[Finding]:
    """Yields rows in another script, with words of two scripts, or with damaged characters or markup.

    What English or most languages have in the same row comes from the source.
    """
    found: dict[str, dict[tuple[str, str], list[int]]] = {}
    times: Counter[tuple[str, int]] = Counter()
    for code in group.documents:
        found[code] = {}
        for place in range(group.n):
            texts = [texts[code][place] for texts in group.columns.values()]
            for kind, what in dict.fromkeys(d for text in texts for d in _defects(text, LANGUAGES[code].script)):
                found[code].setdefault((kind, what), []).append(place)
                times[what, place] += 1
    source = found.get(ENGLISH, {})
    for code, of_kinds in found.items():
        for (kind, what), places in of_kinds.items():
            usual = set() if code == ENGLISH else set(source.get((kind, what), []))
            odd = [p for p in places if p not in usual and 2 * times[what, p] <= max(len(found), 2)]
            if kind == "letters" and 2 * len(odd) > group.n:
                yield group.whole_finding(code, "script", what)
            elif odd:
                yield group.finding(code, kind, dict.fromkeys(odd, ""), what)


def _defects(text: str, script: str) -> Iterator[tuple[str, str]]:
    """Yields kinds of findings, each with what it is."""
    found = re.findall(r"[^\W\d_]+", text)
    words = [Counter(map(_script, word)) for word in found]
    letters = Counter(map(_script, "".join(word for word in found if len(word) > 2)))  # not x and cm in formulas
    own = SCRIPTS.get(script, "")
    if own and letters.total() >= FEWEST_LETTERS and 2 * letters[own] < letters.total():
        yield "letters", f"mostly {letters.most_common(1)[0][0].title()} letters"
    for word in words:
        if others := [name for name in word if name in LOOKALIKES and own == "LATIN" and len(word) > 1]:
            yield "mixed", f"Latin and {others[0].title()} letters in a word"
    for what, pattern in DAMAGED.items():
        if pattern.search(text):
            yield "damaged", what


@cache
def _script(letter: str) -> str:
    """Returns the first word of a letter's name in Unicode, which is its script for most letters."""
    return unicodedata.name(letter, "").split(" ")[0]
