"""Intervals cover and tests err at the rates of docs/tables/simulations.md; AFRIEVAL_REWRITE_GOLDEN=1 writes them.

`-m slow` runs the simulations, some minutes in all. They have one seed and are not tuned: where a promise is not kept,
the table says so, and the bounds are about what was found.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from tests.analysis import (
    simulations,
    simulations_of_matching,
    simulations_of_metrics,
    simulations_of_samples,
    simulations_of_suites,
)
from tests.analysis.simulations import Simulation
from tests.conftest import ROOT

from afrieval.analysis.differences import paired_test
from afrieval.analysis.uncertainty import half_width
from afrieval.scoring.statistics.intervals import Interval, wilson
from afrieval.scoring.statistics.paired import PairedTest
from afrieval.scoring.statistics.score_intervals import mean_values

PAGE = ROOT / "docs/tables/simulations.md"
BEGIN, END = "<!-- rates: written by tests/analysis/test_simulation.py -->\n", "<!-- end of rates -->\n"
REWRITE = os.environ.get("AFRIEVAL_REWRITE_GOLDEN") == "1"
HOW = "AFRIEVAL_REWRITE_GOLDEN=1 python -m pytest -m slow tests/analysis/test_simulation.py writes it"
HEAD = ["| what | tried on | promised | found | |", "| --- | --- | --- | ---: | --- |"]
SIMULATIONS = [
    *simulations.SIMULATIONS,
    *simulations_of_suites.SIMULATIONS,
    *simulations_of_metrics.SIMULATIONS,
    *simulations_of_matching.SIMULATIONS,
    *simulations_of_samples.SIMULATIONS,
]
Key = tuple[str, str]


def key(simulation: Simulation) -> Key:
    return simulation.name, simulation.setting


def line(simulation: Simulation, rate: float) -> str:
    promise = simulation.promise
    cells = [*key(simulation), promise.text, f"{100 * rate:.1f} %", promise.verdict(rate)]
    return f"| {' | '.join(cells)} |"


def shown() -> dict[Key, str]:
    """The lines of the page's table."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    lines = [line for line in text.strip().splitlines() if line not in HEAD]
    return {(cells[1].strip(), cells[2].strip()): line for line in lines if (cells := line.split("|"))}


def rewrite(lines: dict[Key, str]) -> None:
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    rows = [lines[key(s)] for s in SIMULATIONS if key(s) in lines]
    table = "\n".join(["", *HEAD, *rows, "", ""])
    PAGE.write_text(f"{before}{begin}{table}{END}{after}", encoding="utf-8", newline="")


@pytest.mark.slow
@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda s: f"{s.name}: {s.setting}")
def test_the_rate_is_the_one_on_the_page(simulation: Simulation, tmp_path_factory: pytest.TempPathFactory) -> None:
    rate = simulation.rate(simulation.right)
    expected = line(simulation, rate)
    print(expected)
    assert simulation.low <= rate <= simulation.high
    with FileLock(tmp_path_factory.getbasetemp().parent / "rates.lock"):  # each writes into the page
        lines = shown()
        if REWRITE and lines.get(key(simulation)) != expected:
            lines[key(simulation)] = expected
            rewrite(lines)
    assert shown().get(key(simulation)) == expected, HOW


def test_the_page_has_the_table() -> None:
    lines = shown()
    assert list(lines) == [key(s) for s in SIMULATIONS], HOW
    for simulation in SIMULATIONS:
        rate = float(lines[key(simulation)].split("|")[4].strip(" %")) / 100
        assert simulation.low - 0.001 <= rate <= simulation.high + 0.001
        assert lines[key(simulation)] == line(simulation, rate)


def wald(successes: float, n: float) -> Interval:
    p = successes / n
    half = 1.96 * np.sqrt(p * (1 - p) / n)
    return Interval(p - half, p + half)


def halved(test: PairedTest) -> PairedTest:
    return test._replace(p=test.p / 2)


def only_documents(languages: list[dict[Any, float]]) -> Interval:
    """As if there were no other languages than these, all with the same questions."""
    means = [np.mean([of[q] for of in languages if q in of]) for q in {q for of in languages for q in of}]
    middle, half = np.mean(means), 1.96 * np.std(means, ddof=1) / np.sqrt(len(means))
    return Interval(float(middle - half), float(middle + half))


def of_counts(share: float, n: float) -> Interval:
    return wilson(share * n, n)


# A formula that is wrong, and the first lines of the table it must fall out of.
WRONG: dict[str, tuple[str, Callable[..., Any]]] = {
    "no score interval": ("interval, one prompt", wald),
    "answers as if they were documents": ("interval, several prompts", lambda v, k: wilson(v.sum() * k, len(v) * k)),
    "documents as if they were answers": ("interval, several prompts", lambda v, k: wilson(v.sum(), len(v))),
    "90 % instead of 95": (
        "interval of a difference",
        lambda one, two, rng: simulations.interval_of(one, two, rng, 0.1),
    ),
    "one-sided McNemar": ("p, one prompt", lambda *given: halved(simulations.tested(*given))),
    "one-sided permutations": ("p, several prompts", lambda *given: halved(simulations.signed(*given))),
    "size without power": ("detectable difference", lambda n, m, level: 1.96 * np.sqrt(m) / n),
    "not adjusted": ("adjusted p", lambda p, tests: p),
    "rows, not parts": ("interval, macro", lambda parts: wilson(sum(p.sum() for p in parts), sum(map(len, parts)))),
    "instructions as if they were prompts": (
        "interval, instructions",
        lambda sides: wilson(*sides[0].sum(axis=0)),
    ),
    "only languages drawn, questions forgotten": (
        "interval, mean over languages",
        lambda ls: simulations.interval_over_languages([{(i, q): v for q, v in of.items()} for i, of in enumerate(ls)]),
    ),
    "a score that is no share as if it were": (
        "interval, macro F1",
        lambda of, sides: wilson(
            mean_values(of, sides).mean() * len(sides[0]) * len(sides), len(sides[0]) * len(sides)
        ),
    ),
    "n-grams as if they were documents": (
        "interval, n-gram F-score",
        lambda of, sides: [100 * end for end in of_counts(mean_values(of, sides).mean() / 100, sides[0].sum())],
    ),
    "each language as if it were alone": (
        "intervals of 16 differences at once",
        lambda one, two, rng, level: simulations.interval_of(one, two, rng),
    ),
    "one-sided swaps": ("p, macro F1", lambda one, two, rng: halved(paired_test(one, two, rng, permutations=999))),
    "tasks as if each had languages of its own": (
        "interval, average of a suite",
        lambda shares: sum((share.weight * half_width([share._replace(weight=1.0)])) ** 2 for share in shares) ** 0.5,
    ),
    "first rows of a sorted test set": ("interval of a sample", lambda classes, key: [*range(len(classes))]),
    "only documents drawn": ("interval, mean over languages", lambda ls: only_documents(ls)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_formula_falls_out_of_the_bounds(name: str) -> None:
    procedure, wrong = WRONG[name]
    tried = [s for s in SIMULATIONS if s.name == procedure]
    assert any(not s.low <= s.rate(wrong) <= s.high for s in tried)
