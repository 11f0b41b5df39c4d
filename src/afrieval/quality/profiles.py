"""Rows in another language of their group, by profiles of letters that the languages' other rows give."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from afrieval.quality.anchors import words
from afrieval.quality.findings import Finding
from afrieval.quality.groups import CHOICES, FEWEST, Group
from afrieval.quality.similarity import Matrix

LONGEST = 4  # letters in a row
PARTS = 5  # of the rows; a row is compared with profiles of the other parts
SURER = 1.5  # nats per letter by which another language is likelier
SURE = 185  # nats in all; names in a sentence make up for less
ALIKE = 0.02  # of rows that may look like another language's; more, and the two are too similar to be told apart
PRIOR = 0.1
Numbers = NDArray[np.int64]


def other_languages(group: Group) -> Iterator[Finding]:
    """Yields rows that look like another language of the group."""
    if group.n < 5 * FEWEST or len(group.documents) < 2:
        return
    found: dict[str, dict[int, str]] = {code: {} for code in group.documents}
    for name, texts in group.columns.items():
        if name != CHOICES:  # they are often names and formulas
            own = {code: [_own_words(place, code, texts) for place in range(group.n)] for code in texts}
            for code, places in _unlike(own).items():
                found[code] |= {place: f"{name} looks like {other}" for place, other in places.items()}
    times = Counter(place for places in found.values() for place in places)
    for code, places in found.items():
        odd = {place: what for place, what in places.items() if times[place] < 3}  # names look like any language
        if odd:
            yield group.finding(code, "language", odd)


def _own_words(place: int, language: str, texts: Mapping[str, Sequence[str]]) -> str:
    return f" {' '.join(words(texts[language][place]))} "


def _unlike(texts: Mapping[str, Sequence[str]]) -> dict[str, dict[int, str]]:
    """Returns the places of rows that look like another language, with that language."""
    codes, n = list(texts), len(next(iter(texts.values())))
    rows = [text for code in codes for text in texts[code]]
    known = {text: at for at, text in enumerate(dict.fromkeys(rows))}  # equal rows are in the same part
    part = np.array([known[text] % PARTS for text in rows])
    language = np.repeat(np.arange(len(codes)), n)
    gap = _gaps(_counts(rows), language, part, len(codes))
    letters = np.array([len(text) for text in rows])
    found: dict[str, dict[int, str]] = {}
    for at, code in enumerate(codes):
        own = gap[language == at]
        near = (own > 0).mean(axis=0) > ALIKE
        own[:, near] = 0
        best = own.argmax(axis=1)
        odd = own.max(axis=1) > np.maximum(SURE, SURER * letters[language == at])
        found[code] = {int(place): codes[best[place]] for place in np.flatnonzero(odd)}
    return found


def _gaps(counts: sparse.csr_matrix, language: Numbers, part: Numbers, n: int) -> Matrix:
    """Returns how much likelier each language makes each row than its own does, in nats, shape (rows, n)."""
    likely = np.zeros((counts.shape[0], n))
    for number in range(PARTS):
        others = part != number
        sums = np.vstack([np.asarray(counts[others & (language == at)].sum(axis=0)).ravel() for at in range(n)])
        profile = np.log((sums + PRIOR) / (sums.sum(axis=1, keepdims=True) + PRIOR * counts.shape[1]))
        likely[part == number] = counts[part == number] @ profile.T
    return np.asarray(likely - likely[np.arange(len(language)), language][:, None])


def _counts(rows: Sequence[str]) -> sparse.csr_matrix:
    """Returns how often each sequence of up to four letters is in each row."""
    place: dict[str, int] = {}
    found = [[place.setdefault(gram, len(place)) for gram in _grams(text)] for text in rows]
    at = np.repeat(np.arange(len(rows)), [len(of) for of in found])
    columns = [column for of in found for column in of]
    return sparse.csr_matrix((np.ones(len(columns)), (at, columns)), shape=(len(rows), len(place)))


def _grams(text: str) -> list[str]:
    return [text[at : at + size] for size in range(1, LONGEST + 1) for at in range(len(text) - size + 1)]
