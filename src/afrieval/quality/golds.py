"""Right answers that differ from those of most languages."""

from collections import Counter
from collections.abc import Iterator

from afrieval.quality.findings import Finding
from afrieval.quality.groups import Group
from afrieval.tasks.documents import Document


def other_golds(group: Group) -> Iterator[Finding]:
    """Yields the rows whose right answer is not that of most languages."""
    rows = list(zip(*group.documents.values(), strict=True))
    usual = [_usual(row) for row in rows]
    for code, documents in group.documents.items():
        pairs = enumerate(zip(documents, usual, strict=True))
        odd = {at: "" for at, (d, gold) in pairs if gold is not None and d.gold_cell not in (None, gold)}
        if odd:
            yield group.finding(code, "gold", odd)


def _usual(row: tuple[Document, ...]) -> int | str | None:
    """Returns the right answer that more than half of the languages have; None if there is none."""
    [(gold, times)] = Counter(d.gold_cell for d in row).most_common(1)
    return gold if 2 * times > len(row) and len(row) > 2 else None
