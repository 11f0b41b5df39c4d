"""Rows and files in another language than they are declared to be."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from afrieval.scoring.identified_language import CODES, RELIABLE, identified
from afrieval.tools.data_checks.groups import CHOICES, FEWEST, Finding, Group
from afrieval.tools.data_checks.pairing import Matrix, words
from afrieval.tools.data_checks.rows import COPIED_SHARE, SOURCES

TOGETHER = 10  # rows; all of a language's texts that are in order and of that language are then recognised


def misidentified_languages(group: Group) -> Iterator[Finding]:
    """Yields languages most of whose texts are recognised as another language."""
    names = {theirs: ours for ours, theirs in CODES.items()}
    for code, documents in group.documents.items():
        if code not in RELIABLE or len(documents) < FEWEST:
            continue
        rows = [" ".join(texts[code][place] for texts in group.columns.values()) for place in range(group.n)]
        parts = [" ".join(rows[at : at + TOGETHER]) for at in range(0, group.n, TOGETHER)]
        times = Counter(map(identified, parts))
        if 2 * times[CODES[code]] < len(parts):
            likeliest = times.most_common(1)[0][0]
            shown = names.get(likeliest, likeliest)
            detail = f"{times[CODES[code]]} of {len(parts)} parts look like {code}, {times[likeliest]} like {shown}"
            yield group.whole_finding(code, "language", detail)


LONGEST = 4  # letters in a row
PARTS = 5  # of the rows; a row is compared with profiles of the other parts
SURER = 1.5  # nats per letter by which another language is likelier
SURE = 185  # nats in all; names in a sentence make up for less
CONFUSED = 0.02  # of rows that may look like another language's; more, and the two are too similar to be distinguished
DEVIATIONS, LEAST_DEVIATION = 7.0, 0.3  # robust ones, in nats per letter
SHARED = 0.3  # of a text's words, in the other language's row too: they do not tell the two languages apart
PRIOR = 0.1
KINDS = ("language", "unlike")
Cube = NDArray[np.float64]


def rows_in_other_languages(group: Group) -> Iterator[Finding]:
    """Yields rows that look like another language of the group, and rows unlike the language's other rows."""
    if group.n < 5 * FEWEST or len(group.documents) < 2:
        return
    suspected: dict[str, dict[str, dict[int, str]]] = {kind: {c: {} for c in group.documents} for kind in KINDS}
    for name, texts in group.columns.items():
        if name == CHOICES:
            continue  # they are often names and formulas
        rows = {code: [f" {' '.join(words(text))} " for text in of] for code, of in texts.items()}
        likely, letters = _likelihoods(rows), np.array([[max(len(text), 1) for text in of] for of in rows.values()])
        for code, by_index in _others(likely, letters, list(rows)).items():
            for index, other in by_index.items():
                own_words, theirs = (set(words(texts[language][index])) for language in (code, other))
                # Names and quotations, which two translations share, make much of some texts.
                are_names = SHARED * len(own_words) <= len(own_words & theirs) < COPIED_SHARE * len(own_words)
                if other in SOURCES or not are_names:
                    suspected["language"][code][index] = f"{name} looks like {other}"
        for code, odd in zip(rows, _unlike(likely, letters), strict=True):
            suspected["unlike"][code] |= {int(place): name for place in np.flatnonzero(odd)}
    times = Counter(place for places in suspected["language"].values() for place in places)
    for kind, of_kind in suspected.items():  # names look like any language
        unshared = {
            code: {at: what for at, what in places.items() if times[at] < 3} for code, places in of_kind.items()
        }
        yield from group.findings(kind, unshared)


def _others(likely: Cube, letters: Matrix, codes: Sequence[str]) -> dict[str, dict[int, str]]:
    by_code: dict[str, dict[int, str]] = {}
    for index, code in enumerate(codes):
        gap = likely[index] - likely[index][:, index][:, None]
        gap[:, (gap > 0).mean(axis=0) > CONFUSED] = 0
        best = gap.argmax(axis=1)
        odd = gap.max(axis=1) > np.maximum(SURE, SURER * letters[index])
        by_code[code] = {int(place): codes[best[place]] for place in np.flatnonzero(odd)}
    return by_code


def _unlike(likely: Cube, letters: Matrix) -> NDArray[np.bool_]:
    """Returns whether each row is unlikely in its own language, and more so than its translations are in theirs."""
    loss = -np.array([of[:, at] for at, of in enumerate(likely)]) / letters
    loss -= np.median(loss, axis=1, keepdims=True)
    excess = loss - np.median(loss, axis=0)
    deviation = np.maximum(1.4826 * np.median(np.abs(excess), axis=1, keepdims=True), LEAST_DEVIATION)
    odd: NDArray[np.bool_] = (excess > DEVIATIONS * deviation) & (excess * letters > SURE)
    return odd


def _likelihoods(rows: Mapping[str, Sequence[str]]) -> Cube:
    """Returns the log-likelihood of each row by the profile of each language, shape (languages, rows, languages)."""
    texts = [text for of in rows.values() for text in of]
    text_numbers = {text: at for at, text in enumerate(dict.fromkeys(texts))}  # equal rows are in the same part
    part, language = (
        np.array([text_numbers[text] % PARTS for text in texts]),
        np.repeat(np.arange(len(rows)), len(texts) // len(rows)),
    )
    counts, likely = _counts(texts), np.zeros((len(texts), len(rows)))
    for number in range(PARTS):
        others = part != number
        sums = np.vstack([np.asarray(counts[others & (language == at)].sum(axis=0)).ravel() for at in range(len(rows))])
        profile = np.log((sums + PRIOR) / (sums.sum(axis=1, keepdims=True) + PRIOR * counts.shape[1]))
        likely[part == number] = counts[part == number] @ profile.T
    return likely.reshape(len(rows), -1, len(rows))


def _counts(rows: Sequence[str]) -> sparse.csr_matrix:
    column_of: dict[str, int] = {}
    row_columns = []
    for text in rows:
        grams = (text[at : at + size] for size in range(1, LONGEST + 1) for at in range(len(text) - size + 1))
        row_columns.append([column_of.setdefault(gram, len(column_of)) for gram in grams])
    row_numbers = np.repeat(np.arange(len(rows)), [len(of) for of in row_columns])
    columns = [column for of in row_columns for column in of]
    return sparse.csr_matrix((np.ones(len(columns)), (row_numbers, columns)), shape=(len(rows), len(column_of)))
