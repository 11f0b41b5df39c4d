"""Texts that are much longer or shorter than their translations."""

from collections.abc import Iterator

import numpy as np

from afrieval.quality.findings import Finding
from afrieval.quality.groups import FEWEST, Group

TIMES = 2.5  # longer or shorter than what the other languages' texts let expect
DEVIATIONS = 6.0  # robust standard deviations of the language's own
LEAST = 40  # characters that the longer of the two has; short texts differ for many reasons
USUAL = (0.4, 2.5)  # a language's length relative to the others: 0.6 for Amharic, whose letters are syllables


def odd_lengths(group: Group) -> Iterator[Finding]:
    """Yields rows whose length is not what the other languages let expect, and languages unusual as a whole."""
    if group.n < FEWEST or len(group.documents) < 3:
        return
    rows: dict[str, dict[int, str]] = {code: {} for code in group.documents}
    for name, texts in group.columns.items():
        lengths = {code: np.log([len(text) + 1 for text in of]) for code, of in texts.items()}
        levels = {code: float(np.median(of)) for code, of in lengths.items()}
        for code, of in lengths.items():
            others = np.median([lengths[c] - levels[c] for c in lengths if c != code], axis=0)
            level = levels[code] - float(np.median([levels[c] for c in levels if c != code]))
            if not USUAL[0] <= np.exp(level) <= USUAL[1]:
                detail = f"{name}: {np.exp(level):.2f} times the length of the other languages"
                yield group.whole_finding(code, "length", detail)
            change = of - levels[code] - others
            deviation = max(1.4826 * float(np.median(np.abs(change - np.median(change)))), 0.1)
            longer = np.maximum(of, others + levels[code])
            odd = (np.abs(change) > np.log(TIMES)) & (np.abs(change) > DEVIATIONS * deviation)
            for place in np.flatnonzero(odd & (longer > np.log(LEAST + 1))):
                rows[code][int(place)] = f"{name} {np.exp(change[place]):.1f}"
    for code, places in rows.items():
        if places:
            yield group.finding(code, "length", places, "times the expected length")
