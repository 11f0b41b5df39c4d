"""Rows that are not where they are in the other languages: a whole language, or single rows."""

from collections.abc import Collection, Iterator
from statistics import median

from afrieval.languages import LANGUAGES
from afrieval.quality.findings import Finding
from afrieval.quality.groups import FEWEST, Group
from afrieval.quality.moved import moved_rows
from afrieval.quality.similarity import Similarity, order_statistic

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
            verdict = _verdict(code, statistic, usual, ordered)
            if verdict:
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


def _verdict(code: str, statistic: float, usual: float, ordered: Collection[str]) -> str:
    """Returns the kind of finding about a language as a whole; empty if it is in order, except for single rows."""
    if statistic >= max(RANDOM, SHARE * usual):
        return ""
    others = [other for other in ordered if other != code]
    known = len(others) > 1 and usual >= TELLING and LANGUAGES[code].script in READ
    return "order" if known else "unsure"


def statistics_of_order(similarity: Similarity, languages: list[str], sound: Collection[str]) -> dict[str, float]:
    """Returns how far each language's rows are in the others' order, as `order_statistic`.

    The worst is left out of the others until all of them are in order, or two are left.

    Args:
        similarity: of the languages' rows.
        languages: those to return.
        sound: those to compare them with, at first.
    """
    others = list(sound)
    while True:
        found = {code: order_statistic(similarity.to_others(code, others)) for code in languages}
        worst = min(others, key=lambda code: found[code], default=None)
        if worst is None or found[worst] >= RANDOM or len(others) <= 2:
            return found
        others.remove(worst)


def _of_rows(group: Group, code: str, moved: dict[int, int], others: list[str]) -> Iterator[Finding]:
    """Yields the rows of a language that have another row's text, or do not match the only other language."""
    documents = group.documents[code]
    kind = "pair" if len(others) == 1 else "order"
    if kind == "pair":
        moved = {here: there for here, there in moved.items() if not _explained(group, code, others[0], here, there)}
    if moved:
        places = {here: f"has the text of {documents[there].id}" for here, there in moved.items()}
        yield group.finding(code, kind, places, f"compared with {others[0]} alone" if kind == "pair" else "")


def _explained(group: Group, code: str, other: str, here: int, there: int) -> bool:
    """Returns whether rows do not match because those of the other language are known to be defective."""
    known = any(group.documents[other][place].defect for place in (here, there))
    return known and not group.documents[code][here].defect
