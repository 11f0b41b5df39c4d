"""Rows that are not where they are in the other languages: a whole language, or single rows."""

from collections.abc import Iterator

import numpy as np

from afrieval.quality.findings import Finding
from afrieval.quality.groups import FEWEST, Group
from afrieval.quality.similarity import Matrix, Similarity, order_statistic

IN_ORDER = 10.0  # standard deviations from chance: languages in order have 50 or more, one out of order 2 or less
MARGIN = 0.15  # docs/data-quality.md says what is found with it, and how often it is wrong
ALIKE = 0.5  # similarity of rows that may stand for one another, such as several questions on one passage
NEIGHBOURS = 10


def out_of_order(group: Group) -> Iterator[Finding]:
    """Yields languages whose rows are in another order than the others', and single rows in another one's place."""
    if group.n < FEWEST or len(group.documents) < 2:
        return
    moved: dict[str, dict[int, int]] = {code: {} for code in group.documents}
    shuffled: dict[str, list[str]] = {code: [] for code in group.documents}
    for name, texts in group.columns.items():
        similarity = Similarity(texts)
        statistics = statistics_of_order(similarity, list(texts))
        ordered = [code for code, found in statistics.items() if found >= IN_ORDER]
        least = min((statistics[code] for code in ordered), default=0.0)
        for code, statistic in statistics.items():
            if statistic < IN_ORDER:
                shuffled[code].append(f"{name} {statistic:.1f} (other languages {least:.0f} or more)")
            else:
                moved[code] |= moved_rows(*similarity.to_others(code, ordered))
    for code, documents in group.documents.items():
        if shuffled[code]:
            detail = f"standard deviations from a random order: {', '.join(shuffled[code])}"
            yield group.whole_finding(code, "order", detail)
        elif moved[code]:
            places = {here: f"has the text of {documents[there].id}" for here, there in moved[code].items()}
            yield group.finding(code, "order", places)


def statistics_of_order(similarity: Similarity, languages: list[str]) -> dict[str, float]:
    """Returns how far each language's rows are in the others' order, as `order_statistic`.

    The worst is left out of the others until all of them are in order, or two are left.
    """
    others = list(languages)
    while True:
        found = {code: order_statistic(similarity.to_others(code, others)[0]) for code in languages}
        worst = min(others, key=lambda code: found[code])
        if found[worst] >= IN_ORDER or len(others) <= 2:
            return found
        others.remove(worst)


def moved_rows(similarity: Matrix, alike: Matrix) -> dict[int, int]:
    """Returns the rows that have the text of another row: their places, and that row's.

    A row is moved if it is more similar to another language's row there than to the one at its own place, and also more
    similar than the row that is there now. Similarities are reduced by those to the nearest rows (CSLS, Conneau et al.
    2018, "Word Translation Without Parallel Data"), since some rows are similar to many.

    Args:
        similarity: of rows to the other languages' rows.
        alike: of the other languages' rows to each other.
    """
    k = min(NEIGHBOURS, len(similarity) - 1)
    nearest = [np.sort(similarity, axis=axis) for axis in (1, 0)]
    scaled = similarity - (nearest[0][:, -k:].mean(axis=1)[:, None] + nearest[1][-k:].mean(axis=0)) / 2
    same = alike >= ALIKE
    np.fill_diagonal(same, True)
    here = np.where(same, scaled, -np.inf).max(axis=1)
    there_now = np.where(same, scaled, -np.inf).max(axis=0)
    elsewhere = np.where(same, -np.inf, scaled)
    there = elsewhere.argmax(axis=1)
    best = elsewhere.max(axis=1)
    found = (best > here + MARGIN) & (best > there_now[there] + MARGIN)
    return {int(place): int(there[place]) for place in np.flatnonzero(found)}
