"""Texts of a row that do not belong together, such as a premise and the hypothesis of another premise."""

from collections.abc import Iterator
from itertools import combinations
from statistics import median

from afrieval.quality.findings import Finding
from afrieval.quality.groups import FEWEST, Group
from afrieval.quality.similarity import between, order_statistic

TOGETHER = 10.0  # standard deviations from chance, which half of the languages have to exceed
SHARE = 0.6  # of the median language's; sound languages have 0.75 or more


def apart(group: Group) -> Iterator[Finding]:
    """Yields languages in which two columns share no more than shuffled rows do, although they do in most languages."""
    if group.n < FEWEST or len(group.documents) < 2:
        return
    for (first, one), (second, other) in combinations(group.columns.items(), 2):
        found = {code: order_statistic(between(one[code], other[code])) for code in one}
        usual = median(found.values())
        if usual < TOGETHER:
            continue
        for code, statistic in found.items():
            if statistic < SHARE * usual:
                detail = f"{first}, {second}: {statistic:.1f} standard deviations from chance, median {usual:.0f}"
                yield group.whole_finding(code, "together", detail)
