"""Languages that are not what they are declared to be, by a library that knows many languages."""

from collections import Counter
from collections.abc import Iterator

from afrieval.quality.findings import Finding
from afrieval.quality.groups import FEWEST, Group
from afrieval.scoring.identify import CODES, RELIABLE, identified

TOGETHER = 10  # rows; all of a language's texts that are in order and of that language are then recognised


def unidentified(group: Group) -> Iterator[Finding]:
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


def unknown(group: Group) -> list[str]:
    """Returns the languages of a group that the library does not know well enough."""
    return [code for code in group.documents if code not in RELIABLE]
