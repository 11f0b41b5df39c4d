"""What a fault run has found, as a table: printed at its end, and written into docs/tables/faults.md if asked to.

A test gives its part with `reported`.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pytest
from tests.conftest import ROOT

FAULTS = "faults"
PAGE = ROOT / "docs/tables/faults.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->"


class Figures(NamedTuple):
    """What a test has found.

    Attributes:
        part: title of the table that it belongs to.
        what: was broken, and of what.
        faults: how many.
        result: in a few words.
        again: how much was computed or asked again.
    """

    part: str
    what: str
    faults: int
    result: str
    again: str = ""


Record = Callable[[str, Any], None]


def reported(record_property: Record, *figures: Any) -> None:
    """Adds the `Figures` of a test to its report."""
    record_property(FAULTS, [*Figures(*figures)])  # a process of a test can send lists, and no others


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints the figures of all tests that gave some, and writes them if AFRIEVAL_FAULTS_WRITE is set."""
    reports = [
        report for of in terminalreporter.stats.values() for report in of if isinstance(report, pytest.TestReport)
    ]
    found = [
        Figures(*value)
        for report in reports
        if report.when == "call"
        for name, value in report.user_properties
        if name == FAULTS and isinstance(value, Sequence)
    ]
    if not found:
        return
    terminalreporter.section("faults")
    terminalreporter.write_line(table := _tables(sorted(found)))
    if os.environ.get("AFRIEVAL_FAULTS_WRITE"):
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}{table}{END}", text), encoding="utf-8")


def _tables(found: list[Figures]) -> str:
    parts = []
    for title in dict.fromkeys(figures.part for figures in found):
        rows = list(_summed(figures for figures in found if figures.part == title))
        names = [name for name in ("what", "faults", "again", "result") if any(getattr(row, name) for row in rows)]
        lines = [names, ["--:" if name in ("faults", "again") else ":--" for name in names]]
        lines += [[str(getattr(row, name)) for name in names] for row in rows]
        total = f"\n{sum(row.faults for row in rows)} faults in all.\n"
        parts.append(f"### {title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines) + total)
    return "\n" + "\n".join(parts) + "\n"


def _summed(found: Iterable[Figures]) -> Iterator[Figures]:
    """Yields the figures of each `what` and result, with the faults of all tests that gave some."""
    by_what = defaultdict[tuple[str, str], list[Figures]](list)
    for figures in found:
        by_what[figures.what, figures.result].append(figures)
    for several in by_what.values():
        yield several[0]._replace(faults=sum(figures.faults for figures in several))
