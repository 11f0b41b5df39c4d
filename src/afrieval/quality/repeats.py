"""Rows that repeat another row or one of their own texts, and empty texts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from afrieval.quality.findings import Finding
from afrieval.quality.groups import Group
from afrieval.tasks.documents import Document

Check = Callable[[list[Document]], dict[int, str]]  # the places of rows with a defect, each with what it is


def repeated(group: Group) -> Iterator[Finding]:
    """Yields rows that repeat something or are empty, unless most languages' rows do, which comes from the source."""
    for kind, check in CHECKS.items():
        found = {code: check(list(documents)) for code, documents in group.documents.items()}
        times = Counter(place for places in found.values() for place in places)
        for code, places in found.items():
            odd = {place: what for place, what in sorted(places.items()) if 2 * times[place] <= max(len(found), 2)}
            if odd:
                yield group.finding(code, kind, odd)


def _same_rows(documents: list[Document]) -> dict[int, str]:
    seen: dict[tuple[str, ...], int] = {}
    found = {}
    for place, document in enumerate(documents):
        first = seen.setdefault(tuple(map(same, [*document.fields.values(), *document.choices])), place)
        if first != place and any(document.fields.values()):
            found[place] = f"is {documents[first].id}"
    return found


def _same_texts(documents: list[Document]) -> dict[int, str]:
    return {place: "" for place, document in enumerate(documents) if _repeats(document.fields.values())}


def _same_choices(documents: list[Document]) -> dict[int, str]:
    return {place: "" for place, document in enumerate(documents) if _repeats(document.choices)}


def _repeats(texts: Iterable[str]) -> bool:
    there = [same(text) for text in texts if text]
    return len(set(there)) < len(there)


def _empty(documents: list[Document]) -> dict[int, str]:
    empty = {place: [name for name, text in d.fields.items() if not text] for place, d in enumerate(documents)}
    for place, document in enumerate(documents):
        empty[place] += ["an option"] if "" in document.choices else []
    return {place: " and ".join(names) for place, names in empty.items() if names}


def same(text: str) -> str:
    """Returns the same for texts that differ only in case and whitespace."""
    return " ".join(text.casefold().split())


CHECKS: dict[str, Check] = {
    "duplicate": _same_rows,
    "equal": _same_texts,
    "choices": _same_choices,
    "empty": _empty,
}
