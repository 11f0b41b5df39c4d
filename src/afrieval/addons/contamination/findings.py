"""What a run says of the test sets that its model may have seen: numbers per language, and careful words."""

import math
from collections.abc import Iterable, Sequence
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
from afrieval.scoring.statistics.intervals import LEVEL
from afrieval.scoring.statistics.score_intervals import auc_interval, smallest_auc
from afrieval.scoring.statistics.tests import holm

ALIKE = 0.2  # below it, adjacent rows may be more alike than others: high, as the test must see it where it is so
NO_EVIDENCE = "no evidence"
LENGTH, LIKELIER, TOO_FEW_UNSEEN = "as length", "likelier", "too few unseen"
TOO_FEW, SORTED, SEEN = "too few rows", "not arbitrary", "evidence"
SHOWN = ("completion", "completion_unseen", "completion_gain", "membership_auc", "length_auc")  # metrics


def _part_of(cell: CellScores) -> str:
    """Returns the part of the task memorisation that a cell is; empty for cells of other tasks."""
    return cell.declared["memorisation"]["part"] if "memorisation" in cell.declared else ""


def _row_values(cells: Sequence[CellScores]) -> list[list[Any]]:
    """Returns a row for each language in `COLUMNS_OF_ROWS`; what could not be measured is None."""
    of_part = {(_part_of(cell), cell.language): cell for cell in cells}
    languages = dict.fromkeys(cell.language for cell in cells if _part_of(cell) != "order")
    tests, rows = sum(("membership", code) in of_part for code in languages), list[list[Any]]()
    for code in languages:
        parts = [of_part[part, code] for part in ("membership", "completion") if (part, code) in of_part]
        by_metric = {name: cell.with_metric(name) for cell in parts for name in SHOWN if name in cell.metrics}
        scores = {name: cell.score for name, cell in by_metric.items()}
        unseen = int(parts[0].measures[parts[0].main][:, 1].sum())
        n, auc, length = parts[0].n - unseen, scores.get("membership_auc"), scores.get("length_auc")
        length = None if length is None else max(length, 1 - length)
        interval = smallest = None
        verdict = TOO_FEW_UNSEEN
        if auc is not None and length is not None:  # at a level that holds for all languages together (Bonferroni)
            interval, smallest = auc_interval(auc, n, unseen), smallest_auc(n, unseen, tests)
            low = auc_interval(auc, n, unseen, NormalDist().inv_cdf(1 - LEVEL / tests)).low
            verdict = NO_EVIDENCE if low <= 0.5 else LENGTH if low <= length else LIKELIER
        gain = by_metric["completion_gain"].interval if "completion_gain" in by_metric else None
        completed = scores.get("completion"), scores.get("completion_unseen"), gain
        rows.append([code, *completed, auc, interval, smallest, length, n, unseen, verdict])
    return rows


def _order_values(cells: Sequence[CellScores]) -> list[list[Any]]:
    """Returns a row for each language in `COLUMNS_OF_ORDERS`, with p-values adjusted by Holm's method."""
    order_cells, rows = [cell for cell in cells if _part_of(cell) == "order"], list[list[Any]]()
    adjusted = holm([cell.with_metric("order_p").score for cell in order_cells])
    for cell, p in zip(order_cells, adjusted, strict=True):
        declared, code = cell.declared["memorisation"], cell.language
        alike, sorted_by = declared["alike"][code], declared["sorted_by"][code]
        detectable = smallest_gain(cell.measures["order_gain"], len(order_cells))
        verdict = NO_EVIDENCE if p >= LEVEL_OF_ORDER else SEEN if alike >= ALIKE else SORTED
        if not math.isfinite(detectable):
            verdict = TOO_FEW
        smallest = detectable if math.isfinite(detectable) else None
        rows.append([code, cell.score, cell.interval, p, smallest, alike, sorted_by, cell.n, verdict])
    return rows


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
    cells = [unit for unit in units if isinstance(unit, CellScores) and unit.n and _part_of(unit)]
    tables = []
    several = len({cell.model for cell in cells}) > 1
    for (model, task), of_task in grouped(cells, lambda c: (c.model, c.declared["memorisation"]["of"])).items():
        about, whose = {"task": task, "model": model}, f", {model}" if several else ""
        if rows := _row_values(of_task):
            title = f"{task}{whose}: rows of the test set and unseen rows"
            tables.append(Table("memorisation_rows", title, COLUMNS_OF_ROWS, rows, about=about, signs=OF_ROWS))
        if orders := _order_values(of_task):
            title = f"{task}{whose}: the order of its rows"
            tables.append(Table("memorisation_order", title, COLUMNS_OF_ORDERS, orders, about=about, signs=OF_ORDERS))
    return tables
