"""Whether the published order of rows is arbitrary, as far as it can be seen without a model."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from afrieval.scoring.derived.order_p import exchangeability_p
from afrieval.tasks.memorisation.orders import UNITS, kinds_of, shuffled, sorted_by
from afrieval.tasks.memorisation.units import Unit, unit_text
from afrieval.tasks.spec import TaskSpec

SHUFFLES, SEED = 99, 42
LETTERS = 4  # of a sequence; they see what is inflected, and scripts without spaces
Matrix = NDArray[np.float64]


class _Rows:
    """The units of a language: their places by the number of their first row, and what they are compared in."""

    def __init__(self, spec: TaskSpec, units: Sequence[Unit]):
        texts = [unit_text(spec, unit) for unit in units]
        self.places = {unit[0].id: at for at, unit in enumerate(units)}
        self.kinds = kinds_of(spec, units, sorted_by(spec, units))
        self._words, self._shapes = _weighed(texts), _ranks(texts)

    def similar(self, numbers: Sequence[int]) -> Matrix:
        """Returns how similar rows are in words and in shape, shape (2, n, n); 0 for a row that the language lacks."""
        found = np.zeros((2, len(numbers), len(numbers)))
        own = [(i, self.places[number]) for i, number in enumerate(numbers) if number in self.places]
        if own:
            here, at = map(list, zip(*own, strict=True))
            words, shapes = self._words[at], self._shapes[at]
            found[0][np.ix_(here, here)] = (words @ words.T).toarray()
            found[1][np.ix_(here, here)] = -np.abs(shapes[:, None] - shapes).sum(axis=2)
        return found


def alike(spec: TaskSpec, units: Mapping[str, Sequence[Unit]]) -> dict[str, float]:
    """Returns for each language the p-value of what adjacent rows have in common.

    It is the smallest of several, times their number (Bonferroni): words with sequences of letters, and shape (length,
    digits, punctuation, capitals), in the language alone and summed over all languages with translations of its rows.

    Args:
        spec: the task.
        units: language to all units of a split.
    """
    rows = {code: _Rows(spec, found) for code, found in units.items()}
    alone = {code: _p_values([found]) for code, found in rows.items()}
    together: dict[str, list[float]] = {}
    for group in spec.parallel.get(spec.data.evaluate, []):
        members = [rows[code] for code in group if code in rows]
        together |= dict.fromkeys(group, _p_values(members) if members[1:] else [])
    tests = {code: [*p, *together.get(code, [])] for code, p in alone.items()}
    return {code: min(1.0, len(p) * min(p)) if p else 1.0 for code, p in tests.items()}


def _p_values(languages: Sequence[_Rows]) -> list[float]:
    """Returns the p-values of words and of shape; none if no rows can change places."""
    numbers = sorted({number for rows in languages for number in rows.places})
    kinds = {number: rows.kinds[at] for rows in reversed(languages) for number, at in rows.places.items()}
    rng, sums = np.random.default_rng(SEED), []
    for start in range(0, len(numbers), UNITS):
        window = numbers[start : start + UNITS]
        own = [kinds[number] for number in window]
        if len({*own}) == len(own):
            continue
        orders = [list(range(len(own))), *(shuffled(own, rng) for _ in range(SHUFFLES))]
        similar = np.sum([rows.similar(window) for rows in languages], axis=0)
        sums.append([similar[:, order[:-1], order[1:]].sum(axis=1) for order in orders])
    return [exchangeability_p(np.array(sums)[:, :, of]) for of in range(2)] if sums else []


def _weighed(texts: Sequence[str]) -> csr_matrix:
    """Returns the words and sequences of letters of each text with weights, in a row of length 1; rare ones count more.

    Each is there once per text.
    """
    words = [sorted(_words(text.casefold())) for text in texts]
    often = Counter(word for of_text in words for word in of_text)
    columns = {word: at for at, word in enumerate(often)}
    rows = []
    for of_text in words:
        weights = np.log([len(texts) / often[word] for word in of_text])
        rows.append(weights / (math.sqrt(float(weights @ weights)) or 1.0))
    ends = np.cumsum([0, *map(len, words)])
    found = [columns[word] for of_text in words for word in of_text]
    return csr_matrix((np.concatenate([*rows, []]), found, ends), shape=(len(texts), len(columns)))


def _words(text: str) -> set[str]:
    return {*re.findall(r"\w+", text), *(text[at : at + LETTERS] for at in range(len(text) - LETTERS + 1))}


def _ranks(texts: Sequence[str]) -> Matrix:
    """Returns the rank of each text in each property, from 0 to 1."""
    ranks = [np.unique(values, return_inverse=True)[1] for values in zip(*map(_shape, texts), strict=True)]
    return np.array([rank / max(1, rank.max()) for rank in ranks]).T


def _shape(text: str) -> list[float]:
    """Returns the length of a text, and its share of digits, punctuation, capitals and words."""
    first = Counter(unicodedata.category(letter)[0] for letter in text)
    counts = [first["N"], first["P"] + first["S"], sum(letter.isupper() for letter in text), len(text.split())]
    return [float(len(text)), *(count / max(1, len(text)) for count in counts)]
