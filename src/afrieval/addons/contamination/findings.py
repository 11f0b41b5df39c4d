"""What a run says of the test sets that its model may have seen: numbers per language, and careful words."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.addons.contamination.order import LEVEL as LEVEL_OF_ORDER
from afrieval.addons.contamination.order import smallest_gain
from afrieval.report.columns import Column
from afrieval.report.score_tables import INTERVAL
from afrieval.report.table import Table
from afrieval.report.values import ANY
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.statistics.intervals import LEVEL, Interval
from afrieval.scoring.statistics.score_intervals import auc_interval, smallest_auc
from afrieval.scoring.statistics.tests import holm

ALIKE = 0.2  # below it, adjacent rows may be more alike than others: high, as the test must see it where it is so
NO_EVIDENCE = "no evidence"
LENGTH, LIKELIER, TOO_FEW_UNSEEN = "as length", "likelier", "too few unseen"
TOO_FEW, SORTED, SEEN = "too few rows", "not arbitrary", "evidence"
SHOWN = ("completion", "completion_unseen", "completion_gain", "membership_auc", "length_auc")  # metrics


@dataclass(frozen=True)
class RowsFound:
    """Rows of a test set in a language against unseen rows; what could not be measured is None.

    Attributes:
        completed: share of the tokens of second halves that the model would write.
        completed_unseen: the same of unseen rows.
        gain: the interval of their difference.
        detectable: the smallest AUC that so many rows show.
        length: AUC of length alone, in the direction in which it tells more.
    """

    language: str
    completed: float | None
    completed_unseen: float | None
    gain: Interval | None
    auc: float | None
    auc_interval: Interval | None
    detectable: float | None
    length: float | None
    n: int
    n_unseen: int
    verdict: str


@dataclass(frozen=True)
class OrderFound:
    """The exchangeability test of a language.

    Attributes:
        gain: of the published order, in nats per token.
        p: adjusted for the number of languages.
        detectable: the smallest gain that the test finds; None if it can find none.
        alike: p-value of what adjacent rows have in common.
        sorted_by: what rows are sorted by, and change places within.
    """

    language: str
    gain: float
    interval: Interval | None
    p: float
    detectable: float | None
    alike: float
    sorted_by: Sequence[str]
    shards: int
    verdict: str


def part_of(cell: CellScores) -> str:
    """Returns the part of the task memorisation that a cell is; empty for cells of other tasks."""
    return cell.declared["memorisation"]["part"] if "memorisation" in cell.declared else ""


def rows_found(cells: Sequence[CellScores]) -> list[RowsFound]:
    """Returns what is known of rows against unseen ones, by language."""
    of_part = {(part_of(cell), cell.language): cell for cell in cells}
    languages = dict.fromkeys(cell.language for cell in cells if part_of(cell) != "order")
    pairs = [(of_part.get(("completion", code)), of_part.get(("membership", code))) for code in languages]
    tests = sum(bool(membership) for _, membership in pairs)
    return [_rows(*pair, tests) for pair in pairs]


def _rows(completion: CellScores | None, membership: CellScores | None, tests: int) -> RowsFound:
    some = membership or completion
    assert some is not None  # a language is there because one of them is
    cells = [cell for cell in (completion, membership) if cell]
    by_metric = {name: cell.with_metric(name) for cell in cells for name in SHOWN if name in cell.metrics}
    scores = {name: cell.score for name, cell in by_metric.items()}
    unseen = int(some.measures[some.main][:, 1].sum())
    n, auc, length = some.n - unseen, scores.get("membership_auc"), scores.get("length_auc")
    length = None if length is None else max(length, 1 - length)
    interval = smallest = None
    verdict = TOO_FEW_UNSEEN
    if auc is not None and length is not None:  # at a level that holds for all languages together (Bonferroni)
        interval, smallest = auc_interval(auc, n, unseen), smallest_auc(n, unseen, tests)
        low = auc_interval(auc, n, unseen, NormalDist().inv_cdf(1 - LEVEL / tests)).low
        verdict = NO_EVIDENCE if low <= 0.5 else LENGTH if low <= length else LIKELIER
    gain = by_metric["completion_gain"].interval if "completion_gain" in by_metric else None
    completed = scores.get("completion"), scores.get("completion_unseen"), gain
    return RowsFound(some.language, *completed, auc, interval, smallest, length, n, unseen, verdict)


def orders_found(cells: Sequence[CellScores]) -> list[OrderFound]:
    """Returns the exchangeability test of each language, with p-values adjusted by Holm's method."""
    order_cells = [cell for cell in cells if part_of(cell) == "order"]
    adjusted = holm([cell.with_metric("order_p").score for cell in order_cells])
    return [_order(cell, p, len(order_cells)) for cell, p in zip(order_cells, adjusted, strict=True)]


def _order(cell: CellScores, p: float, tests: int) -> OrderFound:
    declared = cell.declared["memorisation"]
    detectable = smallest_gain(cell.measures["order_gain"], tests)
    alike, sorted_by = declared["alike"][cell.language], declared["sorted_by"][cell.language]
    verdict = SEEN if alike >= ALIKE else SORTED
    if not math.isfinite(detectable) or p >= LEVEL_OF_ORDER:
        verdict = NO_EVIDENCE if math.isfinite(detectable) else TOO_FEW
    seen = detectable if math.isfinite(detectable) else None
    return OrderFound(cell.language, cell.score, cell.interval, p, seen, alike, sorted_by, cell.n, verdict)


DOCS = "docs/contamination.md says what they cannot show."
OF_ROWS = [
    "done: share of the tokens of second halves that the model would write, of rows of the test set and of unseen "
    "rows; difference: its 95% CI. AUC: how often an unseen row has a higher min-k++ than a row of the "
    "test set; 50 if the two cannot be told apart. detectable: the smallest AUC found with 80% power. length: the "
    "AUC of length alone, in the direction that tells more. likelier: than unseen rows, for whatever reason; as "
    "length: no more than the AUC of length.",
    f"No evidence does not mean that rows were not seen; {DOCS}",
]
OF_ORDERS = [
    "gain: log-likelihood of the published order above the mean of shuffled ones, in nats per token. p: "
    "exchangeability test, Holm-adjusted. detectable: the smallest gain found with 80% power. evidence: of having "
    "seen the rows in this order (p < .01). alike: p-value of what adjacent rows have in common; below .2, the order "
    "may not be arbitrary, and p proves nothing. "
    "within: what rows are sorted by; they change places only within it.",
    f"No evidence does not mean that rows were not seen; {DOCS}",
]
COLUMNS_OF_ROWS = [
    Column("language", "language"),
    Column("done", "score", "completed"),
    Column("unseen", "score", "completed_unseen"),
    Column("difference", "changes", "gain"),
    Column("AUC", "score", "auc"),
    Column(INTERVAL, "interval", "auc_interval"),
    Column("detectable", "score"),
    Column("length", "score"),
    Column("n", "count"),
    Column("n unseen", "count", "n_unseen"),
    Column("verdict"),
]
COLUMNS_OF_ORDERS = [
    Column("language", "language"),
    Column("gain", "change", "gain", ANY),
    Column(INTERVAL, "changes", "interval", ANY),
    Column("p", "p", "p_adjusted"),
    Column("detectable", "score", "detectable", ANY),
    Column("alike", "p"),
    Column("within", "members", "sorted_by"),
    Column("shards", "count"),
    Column("verdict"),
]


def memorisation_tables(units: Iterable[object]) -> list[Table]:
    """Returns two tables for each task that a model was asked about: of its rows, and of their order.

    `units` are cells and other results; those of other tasks are left out.
    """
    cells = [unit for unit in units if isinstance(unit, CellScores) and unit.n and part_of(unit)]
    tables = []
    several = len({cell.model for cell in cells}) > 1
    for (model, task), of_task in grouped(
        cells, lambda cell: (cell.model, cell.declared["memorisation"]["of"])
    ).items():
        about, whose = {"task": task, "model": model}, f", {model}" if several else ""
        if rows := [*map(_values, rows_found(of_task))]:
            title = f"{task}{whose}: rows of the test set and unseen rows"
            tables.append(Table("memorisation_rows", title, COLUMNS_OF_ROWS, rows, about=about, signs=OF_ROWS))
        if orders := [*map(_values, orders_found(of_task))]:
            title = f"{task}{whose}: the order of its rows"
            tables.append(Table("memorisation_order", title, COLUMNS_OF_ORDERS, orders, about=about, signs=OF_ORDERS))
    return tables


def _values(row: RowsFound | OrderFound) -> list[Any]:
    return [getattr(row, each.name) for each in fields(row)]
