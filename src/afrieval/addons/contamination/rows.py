"""The rows of a test set: units that belong together, shuffled orders, and whether the published order is arbitrary."""

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from afrieval.addons.contamination.order import exchangeability_p
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.spec import TaskSpec

Unit = list[Document]
PARAGRAPH = "\n\n"


def units(spec: TaskSpec, documents: Sequence[Document]) -> list[Unit]:
    """Returns rows with a text as units, in order.

    Adjacent rows are of the same unit if they have the same `apart` fields, or the same first field in tasks that
    declare none: three hypotheses on a premise, two questions on a passage. They are not exchangeable with other rows
    one by one, and not independent of one another.
    """
    names = spec.apart or _names(spec)[:1]
    rows = [document for document in documents if question_text(spec, document)]
    row_units: list[Unit] = [[row] for row in rows[:1]]
    for before, row in pairwise(rows):
        if names and all(row.fields[name] == before.fields[name] != "" for name in names):
            row_units[-1].append(row)
        else:
            row_units.append([row])
    return row_units


def question_text(spec: TaskSpec, document: Document) -> str:
    """Returns the texts of a row without its answer, one per line; the answer if that is all that the row has."""
    return "\n".join(text for name in _names(spec) if (text := document.fields[name])) or answer_text(document)


def unit_text(spec: TaskSpec, unit: Unit) -> str:
    """Returns the texts of all rows of a unit with their right answers; what they share is there once.

    It has no prompt: a model that was trained on a data set has seen its fields, not the prompts of an evaluation.
    """
    shared = [name for name in _names(spec) if unit[1:] and len({row.fields[name] for row in unit}) == 1]
    parts = ["\n".join(filter(None, (unit[0].fields[name] for name in shared)))]
    for row in unit:
        texts = [row.fields[name] for name in _names(spec) if name not in shared]
        parts.append("\n".join(filter(None, (*texts, answer_text(row)))))
    return PARAGRAPH.join(filter(None, parts))


def answer_text(document: Document) -> str:
    """Returns the right answer of a row as text: a choice, a text or the first of several; empty for other answers."""
    gold = document.gold
    if document.choices and isinstance(gold, int):
        return document.choices[gold]
    first = gold[0] if isinstance(gold, list) and gold else gold
    return str(first) if isinstance(first, str | int) and not isinstance(first, bool) else ""


def _names(spec: TaskSpec) -> list[str]:
    """Returns the names of the fields that are texts, without those by which results are broken down or grouped."""
    grouped = spec.grouped_fields
    broken_down = {*spec.breakdowns, *([spec.macro] if spec.macro else []), *(of.of for of in grouped.values())}
    names = [name for name in spec.fields if name not in grouped]
    return [name for name in names if name not in broken_down] or names


SHUFFLES = 15  # whose likelihoods are asked for
UNITS, FEWEST, BYTES = 10, 3, 8_000  # of a shard
PERMUTATIONS, LEVEL = 999, 0.01  # of the test whether rows are sorted
Kind = tuple[Hashable, ...]


@dataclass(frozen=True)
class Shard:
    """Adjacent units of a test set.

    Attributes:
        rows: ids of the first rows of its units.
        orders: places of the units in the published order, then in each of the shuffled ones.
    """

    rows: list[int]
    parts: list[str]
    orders: list[list[int]]

    @property
    def texts(self) -> list[str]:
        """The text of each order."""
        return [PARAGRAPH.join(self.parts[at] for at in order) for order in self.orders]


def sorted_by(spec: TaskSpec, units: Sequence[Unit]) -> list[str]:
    """Returns what the published rows are sorted by, of breakdown fields and right answers.

    A permutation test of the number of runs: rows with equal values stand together more often than by chance.
    """
    return [name for name, values in _values(spec, units).items() if _in_runs(values)]


def kinds_of(spec: TaskSpec, units: Sequence[Unit], by: Sequence[str]) -> list[Kind]:
    """Returns the values of each unit in what rows are sorted by; only units that are equal in it change places."""
    values = _values(spec, units)
    return [tuple(values[name][at] for name in by) for at in range(len(units))]


def _values(spec: TaskSpec, units: Sequence[Unit]) -> dict[str, list[Hashable]]:
    by_breakdown: dict[str, list[Hashable]] = {
        name: [unit[0].fields.get(name) for unit in units] for name in spec.breakdowns
    }
    by_choice = spec.scoring.answer.has_choices
    return by_breakdown | ({"answer": [tuple(str(row.gold) for row in unit) for unit in units]} if by_choice else {})


def _in_runs(values: Sequence[Hashable]) -> bool:
    if len({*values}) < 2:
        return False
    _, codes = np.unique([str(value) for value in values], return_inverse=True)
    rng, equal = np.random.default_rng(0), int(np.sum(codes[1:] == codes[:-1]))
    drawn = (rng.permutation(codes) for _ in range(PERMUTATIONS))
    as_many = sum(int(np.sum(each[1:] == each[:-1])) >= equal for each in drawn)
    return (as_many + 1) / (PERMUTATIONS + 1) < LEVEL


def shards(spec: TaskSpec, units: Sequence[Unit], by: Sequence[str], seed: str) -> list[Shard]:
    """Returns the shards of a split in which some units can change places, in order.

    The orders of a shard depend on `seed` and on the shard's number; `by` is what rows are sorted by.
    """
    texts = [unit_text(spec, unit) for unit in units]
    kinds, exchangeable = kinds_of(spec, units, by), []
    for number, indices in enumerate(_places([len(text.encode()) for text in texts])):
        shard_kinds = [kinds[at] for at in indices]
        if len({*shard_kinds}) == len(shard_kinds):
            continue
        rng = np.random.default_rng(int.from_bytes(hashlib.sha256(f"{seed} {number}".encode()).digest()))
        orders = [list(range(len(shard_kinds))), *(shuffled(shard_kinds, rng) for _ in range(SHUFFLES))]
        rows, parts = [units[at][0].id for at in indices], [texts[at] for at in indices]
        exchangeable.append(Shard(rows, parts, orders))
    return exchangeable


def _places(sizes: Sequence[int]) -> list[list[int]]:
    """Returns the places of the units of each shard; a remainder of few units is part of the shard before it."""
    groups: list[list[int]] = []
    for index, size in enumerate(sizes):
        last = groups[-1] if groups else []
        full = len(last) >= UNITS or sum(sizes[i] for i in last) + size > BYTES
        if not last or (full and len(last) >= FEWEST):
            groups.append([index])
        else:
            last.append(index)
    if groups[1:] and len(groups[-1]) < FEWEST:
        remainder = groups.pop()
        groups[-1] += remainder
    return groups


def shuffled(kinds: Sequence[Hashable], rng: np.random.Generator) -> list[int]:
    """Returns places in a random order in which each is taken by one of the same kind; it may be the published one.

    Every such order is equally likely, so that the published one is like the others if the rows are exchangeable.
    """
    order = list(range(len(kinds)))
    for kind in dict.fromkeys(kinds):
        of_kind = [at for at, own in enumerate(kinds) if own == kind]
        for slot, index in zip(of_kind, rng.permutation(of_kind).tolist(), strict=True):
            order[slot] = index
    return order


ORDER_SHUFFLES, SEED = 99, 42
LETTERS = 4  # of a sequence; they see what is inflected, and scripts without spaces
Matrix = NDArray[np.float64]


class _Rows:
    """The units of a language: their index by the number of their first row, and what they are compared in."""

    def __init__(self, spec: TaskSpec, units: Sequence[Unit]):
        texts = [unit_text(spec, unit) for unit in units]
        self.indices = {unit[0].id: at for at, unit in enumerate(units)}
        self.kinds = kinds_of(spec, units, sorted_by(spec, units))
        self._words, self._shapes = _weighed(texts), _shapes(texts)

    def similar(self, numbers: Sequence[int]) -> Matrix:
        """Returns how similar rows are in words and in shape, shape (2, n, n); 0 for a row that the language lacks."""
        similarities = np.zeros((2, len(numbers), len(numbers)))
        present = [(i, self.indices[number]) for i, number in enumerate(numbers) if number in self.indices]
        if present:
            positions, indices = map(list, zip(*present, strict=True))
            words, shapes = self._words[indices], self._shapes[indices]
            similarities[0][np.ix_(positions, positions)] = (words @ words.T).toarray()
            similarities[1][np.ix_(positions, positions)] = -np.abs(shapes[:, None] - shapes).sum(axis=2)
        return similarities


def alike(spec: TaskSpec, units: Mapping[str, Sequence[Unit]]) -> dict[str, float]:
    """Returns for each language the p-value of what adjacent rows have in common.

    It is the smallest of several, times their number (Bonferroni): words with sequences of letters, and shape (length,
    digits, punctuation, capitals), in the language alone and summed over all languages with translations of its rows.
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
    numbers = sorted({number for rows in languages for number in rows.indices})
    kinds = {number: rows.kinds[at] for rows in reversed(languages) for number, at in rows.indices.items()}
    rng, sums = np.random.default_rng(SEED), []
    for start in range(0, len(numbers), UNITS):
        window = numbers[start : start + UNITS]
        window_kinds = [kinds[number] for number in window]
        if len({*window_kinds}) == len(window_kinds):
            continue
        orders = [list(range(len(window_kinds))), *(shuffled(window_kinds, rng) for _ in range(ORDER_SHUFFLES))]
        similar = np.sum([rows.similar(window) for rows in languages], axis=0)
        sums.append([similar[:, order[:-1], order[1:]].sum(axis=1) for order in orders])
    return [exchangeability_p(np.array(sums)[:, :, of]) for of in range(2)] if sums else []


def _weighed(texts: Sequence[str]) -> csr_matrix:
    """Returns the words and sequences of letters of each text with weights, in a row of length 1; rare ones count more.

    Each is there once per text.
    """
    words = []
    for text in map(str.casefold, texts):
        parts = (text[at : at + LETTERS] for at in range(len(text) - LETTERS + 1))
        words.append(sorted({*re.findall(r"\w+", text), *parts}))
    often = Counter(word for of_text in words for word in of_text)
    columns = {word: at for at, word in enumerate(often)}
    rows = []
    for of_text in words:
        weights = np.log([len(texts) / often[word] for word in of_text])
        rows.append(weights / (math.sqrt(float(weights @ weights)) or 1.0))
    ends = np.cumsum([0, *map(len, words)])
    column_indices = [columns[word] for of_text in words for word in of_text]
    return csr_matrix((np.concatenate([*rows, []]), column_indices, ends), shape=(len(texts), len(columns)))


def _shapes(texts: Sequence[str]) -> Matrix:
    """Returns ranks, from 0 to 1, of each text's length and its shares of digits, punctuation, capitals and words."""
    rows = []
    for text in texts:
        categories = Counter(unicodedata.category(letter)[0] for letter in text)
        capitals, marks = sum(map(str.isupper, text)), categories["P"] + categories["S"]
        counts = (categories["N"], marks, capitals, len(text.split()))
        rows.append([float(len(text)), *(count / max(1, len(text)) for count in counts)])
    ranks = [np.unique(values, return_inverse=True)[1] for values in zip(*rows, strict=True)]
    return np.array([rank / max(1, rank.max()) for rank in ranks]).T
