"""How similar each row of a language is to each row of the other languages, by what translations share."""

from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from afrieval.quality.anchors import anchors
from afrieval.quality.groups import Texts

Matrix = NDArray[np.float64]
NOTHING = 1e-9  # weights are logarithms of shares of rows, and larger


class Similarity:
    """A column of a group's texts, as anchors weighted by how rare they are in each language.

    Args:
        texts: language to the text of each row; row i translates row i of the others.
    """

    def __init__(self, texts: Texts):
        of_rows = {language: [anchors(text) for text in rows] for language, rows in texts.items()}
        names = sorted({name for rows in of_rows.values() for row in rows for name in row})
        place = {name: at for at, name in enumerate(names)}
        self._weighted = {language: _weighted(rows, place) for language, rows in of_rows.items()}
        self._sums: dict[tuple[str, ...], sparse.csr_matrix] = {}  # of the languages that were asked for last

    def to_others(self, language: str, others: Collection[str]) -> Matrix:
        """Returns the similarity of a language's rows to the others' rows, as cosines of shape (n, n).

        What a row has in the other languages is their sum: what many of them share counts more, and one that is itself
        out of order does little harm.

        Args:
            language: the language to compare.
            others: the languages to compare it with; it is never compared with itself.
        """
        pooled = self._pooled(language, others)
        known = np.asarray(pooled.sum(axis=0)).ravel() > 0
        return np.asarray((_unit(self._weighted[language].multiply(known).tocsr()) @ _unit(pooled).T).toarray())

    def of_others(self, language: str, others: Collection[str]) -> Matrix:
        """Returns the similarity of the others' rows to each other, without the language's, as cosines."""
        pooled = _unit(self._pooled(language, others))
        return np.asarray((pooled @ pooled.T).toarray())

    def _pooled(self, language: str, others: Collection[str]) -> sparse.csr_matrix:
        codes = tuple(others)
        if codes not in self._sums:
            self._sums = {codes: sum(self._weighted[code] for code in codes).tocsr()}
        pooled = self._sums[codes]
        if language in codes:
            pooled = pooled - self._weighted[language]
            pooled.data[pooled.data < NOTHING] = 0  # what only this language has, as sums are rounded
            pooled.eliminate_zeros()
        return pooled.sqrt()


def between(first: Iterable[str], second: Iterable[str]) -> Matrix:
    """Returns the similarity of each text to each of some others in the same language, as cosines."""
    rows = [[anchors(text) for text in texts] for texts in (first, second)]
    names = sorted({name for texts in rows for row in texts for name in row})
    place = {name: at for at, name in enumerate(names)}
    one, other = (_unit(_weighted(texts, place)) for texts in rows)
    return np.asarray((one @ other.T).toarray())


def order_statistic(similarity: Matrix) -> float:
    """Returns how far the mean similarity of rows at the same place exceeds that of shuffled rows.

    It is in standard deviations over all permutations, which are known exactly (Hoeffding 1951, "A Combinatorial
    Central Limit Theorem"); 0 if all rows are equally similar.
    """
    n = len(similarity)
    centred = similarity - similarity.mean(axis=0) - similarity.mean(axis=1)[:, None] + similarity.mean()
    deviation = np.sqrt((centred**2).sum() / max(n - 1, 1))
    return float(np.trace(centred) / deviation) if deviation > 0 else 0.0


def _weighted(rows: list[set[str]], place: Mapping[str, int]) -> sparse.csr_matrix:
    """Returns rows by anchors; each anchor has the logarithm of how rare it is, so one that all rows have has 0."""
    counts = [len(row) for row in rows]
    columns = [place[name] for row in rows for name in row]
    shape = (len(rows), len(place))
    found = sparse.csr_matrix((np.ones(len(columns)), (np.repeat(np.arange(len(rows)), counts), columns)), shape=shape)
    times = np.asarray(found.sum(axis=0)).ravel()
    return found.multiply(np.log(len(rows) / np.maximum(times, 1))).tocsr()


def _unit(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """Returns rows of length 1; the shortest quarter stays shorter, since two words in common say little."""
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return matrix.multiply(1 / np.maximum(lengths, max(float(np.quantile(lengths, 0.25)), 1e-9))[:, None]).tocsr()
