"""Rows that are not where they are in the other languages, or have the text of another row."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import isotonic_regression

from afrieval.languages import LANGUAGES
from afrieval.tools.data_checks.groups import FEWEST, Finding, Group, Texts

LENGTH = 4  # letters; parts of this length survive prefixes, as in zul iPharis and sna neParis
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")


def anchors(text: str) -> set[str]:
    """Returns the numbers in a text, and all parts of four letters of its words.

    Case and accents are ignored. Ethiopic syllables are spelled in Latin letters, so that names in Amharic and Tigrinya
    have something in common with those in other languages; other scripts share numbers only.
    """
    parts = set()
    for word in _WORD.findall("".join(map(_letters, unicodedata.normalize("NFKD", text.casefold())))):
        if word[0].isdigit():
            parts.add(re.sub("[.,]", "", word))
        else:
            parts |= {word[at : at + LENGTH] for at in range(len(word) - LENGTH + 1)}
    return parts


@cache
def _letters(character: str) -> str:
    """Returns a character in ASCII, as far as Unicode's names say how; an accent is nothing."""
    if unicodedata.combining(character):
        return ""
    if character.isdigit():
        return str(unicodedata.digit(character, character))
    kind, _, name = unicodedata.name(character, "").partition(" SYLLABLE ")
    return name.lower() if kind == "ETHIOPIC" and " " not in name else character


def words(text: str) -> list[str]:
    """Returns the words of a text, in lower case and without numbers."""
    return _LETTERS.findall(unicodedata.normalize("NFC", text).casefold())


Matrix = NDArray[np.float64]
NOTHING = 1e-9  # weights are logarithms of shares of rows, and larger


class Similarity:
    """A column of a group's texts, as anchors weighted by how rare they are in each language.

    Row i of each language translates row i of the others.
    """

    def __init__(self, texts: Texts):
        self._weighted = dict(zip(texts, _weighted([*texts.values()]), strict=True))
        self._sums: dict[tuple[str, ...], sparse.csr_matrix] = {}  # of the languages that were asked for last

    def to_others(self, language: str, others: Collection[str]) -> Matrix:
        """Returns the similarity of a language's rows to the others' rows, as cosines of shape (n, n).

        What a row has in the other languages is their sum: what many of them share counts more, and one that is itself
        out of order does little harm.
        """
        pooled = self._pooled(language, others)
        in_pool = np.asarray(pooled.sum(axis=0)).ravel() > 0
        return np.asarray((_unit(self._weighted[language].multiply(in_pool).tocsr()) @ _unit(pooled).T).toarray())

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


def text_similarity(first: Iterable[str], second: Iterable[str]) -> Matrix:
    """Returns the similarity of each text to each of some others in the same language, as cosines."""
    one, other = map(_unit, _weighted([first, second]))
    return np.asarray((one @ other.T).toarray())


def order_statistic(similarity: Matrix) -> float:
    """Returns how far rows at the same place are more similar than shuffled rows.

    It is in standard deviations over all permutations, which are known exactly (Hoeffding 1951, "A Combinatorial
    Central Limit Theorem"); 0 if all rows are equally similar.
    """
    n = len(similarity)
    centred = similarity - similarity.mean(axis=0) - similarity.mean(axis=1)[:, None] + similarity.mean()
    deviation = np.sqrt((centred**2).sum() / max(n - 1, 1))
    return float(np.trace(centred) / deviation) if deviation > 0 else 0.0


def _weighted(columns: Sequence[Iterable[str]]) -> Iterator[sparse.csr_matrix]:
    """Yields the texts of each column by their anchors, over one vocabulary for all columns.

    An anchor weighs the logarithm of how rare it is in its column, so 0 if all of the column's texts have it.
    """
    of_columns = [[anchors(text) for text in texts] for texts in columns]
    names = sorted({name for rows in of_columns for row in rows for name in row})
    column_of = {name: at for at, name in enumerate(names)}
    for rows in of_columns:
        row_numbers = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        column_numbers = [column_of[name] for row in rows for name in row]
        counts = sparse.csr_matrix(
            (np.ones(len(column_numbers)), (row_numbers, column_numbers)), shape=(len(rows), len(column_of))
        )
        times = np.asarray(counts.sum(axis=0)).ravel()
        yield counts.multiply(np.log(len(rows) / np.maximum(times, 1))).tocsr()


def _unit(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """Returns rows of length 1; the shortest quarter stays shorter, since two words in common say little."""
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return matrix.multiply(1 / np.maximum(lengths, max(float(np.quantile(lengths, 0.25)), 1e-9))[:, None]).tocsr()


ODDS = 1.0  # logarithm; docs/data-quality.md says how it was set, and what is found with it
INTERCHANGEABLE = 0.5  # similarity of rows that may replace one another, such as several questions on one passage
NEIGHBOURS = 10
LEAST_SHARE, MOST_SHARE = 0.01, 0.9  # of rows that are moved, as the mixture may assume
STEPS = 15
Vector = NDArray[np.float64]


def moved_rows(similarity: Matrix, similarity_of_others: Matrix) -> dict[int, int]:
    """Returns the rows that have the text of another row: their places, and that row's.

    A row is named if the odds are large enough that it translates the most similar other row, and not the row at its
    place. The odds come from how similar this language's rows are to the rows that they translate, and to all others:
    where sound rows often share nothing with their translations, as with few languages, or are often similar to other
    rows, nothing is named. An EM algorithm finds both distributions and the share of moved rows.
    """
    scaled, same = _scaled(similarity), similarity_of_others >= INTERCHANGEABLE
    np.fill_diagonal(same, True)
    in_place = np.where(same, scaled, -np.inf).max(axis=1)
    target_match = np.where(same, scaled, -np.inf).max(axis=0)
    elsewhere = np.where(same, -np.inf, scaled)
    nearest = elsewhere.argmax(axis=1)
    best = elsewhere.max(axis=1)
    odds = _odds(in_place, best, scaled[~same], best >= target_match[nearest])
    return {int(place): int(nearest[place]) for place in np.flatnonzero(odds > ODDS)}


def _scaled(similarity: Matrix) -> Matrix:
    """Returns similarities less those to the nearest rows, since some rows are similar to many.

    That is CSLS (Conneau et al. 2018, "Word Translation Without Parallel Data").
    """
    k = min(NEIGHBOURS, len(similarity) - 1)
    of_rows, of_columns = (np.partition(similarity, -k, axis=axis) for axis in (1, 0))
    nearest: Matrix = (of_rows[:, -k:].mean(axis=1)[:, None] + of_columns[-k:].mean(axis=0)) / 2
    return similarity - nearest


def _odds(in_place: Vector, best: Vector, pairs: Vector, possible: NDArray[np.bool_]) -> Vector:
    """Returns the logarithm of the odds that each row is moved.

    Args:
        in_place: similarity to the row at the same place.
        best: similarity to the most similar other row.
        pairs: similarities of rows at different places.
        possible: whether a row can be moved at all.
    """
    n, edges = len(in_place), np.unique(np.concatenate([in_place, best]))
    bins = len(edges) + 1
    own_bins, other, unrelated = (np.searchsorted(edges, values, side="right") for values in (in_place, best, pairs))
    of_pairs = np.bincount(unrelated, minlength=bins)
    moved, share = np.zeros(n), 0.1
    odds: Vector = np.full(n, -np.inf)
    counted = np.ones(n)  # at first, the most similar pair of each row says nothing of rows that do not belong together
    for _ in range(STEPS):
        together = np.bincount(own_bins, 1 - moved, bins) + np.bincount(other, moved, bins)
        others = np.maximum(of_pairs + np.bincount(own_bins, moved, bins) - np.bincount(other, counted, bins), 0)
        ratio = _log_ratio(together, others)
        odds = np.log(share / (1 - share) / (n - 1)) + ratio[other] - ratio[own_bins]
        odds = np.where(possible, odds, -np.inf)
        moved = counted = 1 / (1 + np.exp(-odds))
        share = float(np.clip(moved.mean(), LEAST_SHARE, MOST_SHARE))
    return odds


def _log_ratio(together: NDArray[Any], others: NDArray[Any]) -> Vector:
    """Returns how much likelier each bin is for rows that belong together: a logarithm that rises with the bins."""
    total = together + others
    seen = np.flatnonzero(total > 0)
    fit = isotonic_regression(together[seen] / total[seen], weights=total[seen])
    block = np.repeat(np.arange(len(fit.blocks) - 1), np.diff(fit.blocks))
    one, other = np.bincount(block, together[seen]), np.bincount(block, others[seen])
    ratio = np.log((one + 0.5) / (one.sum() + 0.5)) - np.log((other + 0.5) / (other.sum() + 0.5))
    last_seen = np.maximum(np.searchsorted(seen, np.arange(len(together)), side="right") - 1, 0)
    of_bins: Vector = ratio[block[last_seen]]
    return of_bins


RANDOM = 4.0  # standard deviations from chance, which a random order exceeds 3 times in 100,000
SHARE = 0.1  # of the median language's; a language in order has 0.2 or more, even in another script
TELLING = 20.0  # what the median language needs for a verdict on another one
READ = ("Latn", "Ethi")  # scripts whose letters are compared; of others, numbers alone are


def out_of_order(group: Group) -> Iterator[Finding]:
    """Yields languages whose rows are in another order than the others', and single rows in another one's place.

    Of two languages, nobody knows which one is out of order: rows that do not match are a finding of both.
    """
    sound = [code for code, documents in group.documents.items() if not all(d.defect for d in documents)]
    if group.n < FEWEST or len(group.documents) < 2 or not sound:
        return
    moved: dict[str, dict[int, int]] = {code: {} for code in group.documents}
    whole: dict[str, list[tuple[str, str]]] = {code: [] for code in group.documents}
    for name, texts in group.columns.items():
        similarity = Similarity(texts)
        statistics = statistics_of_order(similarity, list(texts), sound)
        ordered = [code for code in sound if statistics[code] >= RANDOM]
        usual = median(statistics[code] for code in ordered) if ordered else 0.0
        for code, statistic in statistics.items():
            if statistic < max(RANDOM, SHARE * usual):
                others = [other for other in ordered if other != code]
                can_judge = len(others) > 1 and usual >= TELLING and LANGUAGES[code].script in READ
                verdict = "order" if can_judge else "unsure"
                whole[code].append((verdict, f"{name} {statistic:.1f} (median of the others {usual:.0f})"))
            elif len(ordered) > 1:
                moved[code] |= moved_rows(similarity.to_others(code, ordered), similarity.of_others(code, ordered))
    for code in group.documents:
        if whole[code]:
            verdict = min(kind for kind, _ in whole[code])  # "order" comes before "unsure"
            detail = ", ".join(text for kind, text in whole[code] if kind == verdict)
            yield group.whole_finding(code, verdict, f"standard deviations from a random order: {detail}")
        elif moved[code]:
            others = [other for other in sound if other != code and not whole[other]]
            yield from _of_rows(group, code, moved[code], others)


def statistics_of_order(similarity: Similarity, languages: list[str], sound: Collection[str]) -> dict[str, float]:
    """Returns how far each language's rows are in the others' order, as `order_statistic`.

    Languages are compared with `sound`, the worst of which is left out until all of them are in order, or two are left.
    """
    others = list(sound)
    while True:
        statistics = {code: order_statistic(similarity.to_others(code, others)) for code in languages}
        worst = min(others, key=lambda code: statistics[code], default=None)
        if worst is None or statistics[worst] >= RANDOM or len(others) <= 2:
            return statistics
        others.remove(worst)


def _of_rows(group: Group, code: str, moved: dict[int, int], others: list[str]) -> Iterator[Finding]:
    """Yields the rows of a language that have another row's text, or do not match the only other language."""
    documents = group.documents[code]
    kind = "pair" if len(others) == 1 else "order"
    if kind == "pair":
        other = group.documents[others[0]]  # rows that are known to be defective there explain what does not match
        moved = {
            row: source
            for row, source in moved.items()
            if documents[row].defect or not (other[row].defect or other[source].defect)
        }
    if moved:
        details = {here: f"has the text of {documents[there].id}" for here, there in moved.items()}
        yield group.finding(code, kind, details, f"compared with {others[0]} alone" if kind == "pair" else "")
