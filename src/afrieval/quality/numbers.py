"""Rows with another number than their translations."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from afrieval.quality.findings import Finding
from afrieval.quality.groups import Group

NEARLY_ALL = 0.8  # of the other languages
_NUMBER = re.compile(r"\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,]\d{1,2}(?!\d))?")  # 1,000 and 1 000; 2.5


def other_numbers(group: Group) -> Iterator[Finding]:
    """Yields rows that lack a number that nearly all languages have there, and have one that no other language has.

    Numbers in words are no matter: a row that only lacks a number, or only has one more, is not named.
    """
    if len(group.documents) < 4:
        return
    rows: dict[str, dict[int, str]] = {code: {} for code in group.documents}
    for name, texts in group.columns.items():
        for place in range(group.n):
            here = {code: _numbers(of[place]) for code, of in texts.items()}
            times = Counter(number for found in here.values() for number in found)
            usual = {number for number, n in times.items() if n > NEARLY_ALL * (len(here) - 1)}
            for code, found in here.items():
                lacking, own = sorted(usual - found), sorted(n for n in found if times[n] == 1)
                if lacking and own:
                    rows[code][place] = f"{name} {' '.join(own)} for {' '.join(lacking)}"
    for code, places in rows.items():
        if places:
            yield group.finding(code, "number", places)


def _numbers(text: str) -> set[str]:
    """Returns the numbers in a text in ASCII digits, without separators."""
    return {"".join(str(unicodedata.digit(c)) for c in number if c.isdecimal()) for number in _NUMBER.findall(text)}
