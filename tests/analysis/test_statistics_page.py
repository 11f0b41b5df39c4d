"""The example of docs/statistics.md is what our functions make of its questions."""

import numpy as np
from tests.analysis.cells import scored
from tests.conftest import ROOT

from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.scores import over_prompts
from afrieval.report.values import shown_change, shown_score
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.statistics.intervals import clustered_wilson, wilson
from afrieval.scoring.statistics.tests import bonferroni

OTHER_P = 0.02  # of the example's other language


def table(marker: str) -> list[list[str]]:
    """The cells of the table after a marker, without its head."""
    text = (ROOT / "docs/statistics.md").read_text(encoding="utf-8")
    lines = text.partition(f"<!-- {marker} -->\n")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def numbers(units: list[CellScores]) -> list[list[str]]:
    ((row,),) = (c.rows for c in contrasts(units, "prompt", seed=42))
    (spread,) = over_prompts(units)
    assert row.interval is not None
    both = clustered_wilson(np.mean([u.values for u in units], axis=0), 2)
    adjusted, others = (bonferroni(p, 2) for p in (row.p, OTHER_P))
    return [
        ["score, prompt 1", shown_score(row.first)],
        ["its interval", "-".join(map(shown_score, wilson(row.first * row.n, row.n)))],
        ["score, prompt 2", shown_score(row.second)],
        ["difference", shown_change(row.difference)],
        ["its interval", " to ".join(map(shown_change, row.interval))],
        ["+/-", f"{row.gained}/{row.lost}"],
        ["p", f"{row.p:.3f}"],
        ["adjusted p", f"{adjusted:.3f}"],
        ["the other's", f"{others:.3f}"],
        ["detectable", shown_score(row.detectable)],
        ["mean, spread", f"{shown_score(spread.score)}, {shown_score(spread.spread)}"],
        ["interval of the mean", "-".join(map(shown_score, both))],
    ]


def test_the_example_says_what_our_functions_say() -> None:
    units = [
        scored(list(map(float, right)), "afrimmlu", prompt=prompt)
        for prompt, (_, *right) in enumerate(table("example"), 1)
    ]
    assert [row[:2] for row in table("numbers")] == numbers(units)


def test_the_coins_of_the_example() -> None:
    """Seven coins: 2 or less of a side, or of the other."""
    assert 2 * (1 + 7 + 21) == 58 and table("numbers")[6][1] == f"{58 / 2**7:.3f}"
