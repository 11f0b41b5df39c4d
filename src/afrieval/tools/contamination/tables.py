"""Tables of what a model remembers of test sets."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.report.columns import Column
from afrieval.report.score_tables import INTERVAL
from afrieval.report.table import Table
from afrieval.report.values import ANY
from afrieval.results.cell_scores import CellScores
from afrieval.tools.contamination.analysis import OrderFound, RowsFound, orders_found, rows_found

DOCS = "docs/contamination.md says what they cannot show."
OF_ROWS = [
    "done: share of the tokens of second halves that the model would write, of rows of the test set and of unseen "
    "rows; difference: its 95% CI. AUC: how often an unseen row has a higher min-k++ than a row of the "
    "test set; 50 if the two cannot be told apart. visible: the smallest AUC detectable with 80% power. length: the "
    "AUC of length alone, in the direction that tells more. likelier: than unseen rows, for whatever reason; as "
    "length: no more than the AUC of length.",
    f"No evidence does not mean that rows were not seen; {DOCS}",
]
OF_ORDERS = [
    "gain: log-likelihood of the published order above the mean of shuffled ones, in nats per token. p: "
    "exchangeability test, Holm-adjusted. visible: the smallest gain detectable with 80% power. evidence: of having "
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
    Column("visible", "score"),
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
    Column("visible", "score", "visible", ANY),
    Column("alike", "p"),
    Column("within", "members", "sorted_by"),
    Column("shards", "count"),
    Column("verdict"),
]


def memorisation_tables(cells: Sequence[CellScores]) -> list[Table]:
    """Returns two tables for each task that a model was asked about: of its rows, and of their order."""
    tables = []
    several = len({cell.model for cell in cells}) > 1
    for (model, task), of_task in grouped(
        cells, lambda cell: (cell.model, cell.declared["memorisation"]["of"])
    ).items():
        about_task, whose = {"task": task, "model": model}, f", {model}" if several else ""
        if rows := [*map(_values, rows_found(of_task))]:
            title = f"{task}{whose}: rows of the test set and unseen rows"
            tables.append(Table("memorisation_rows", title, COLUMNS_OF_ROWS, rows, OF_ROWS, about=about_task))
        if orders := [*map(_values, orders_found(of_task))]:
            title = f"{task}{whose}: the order of its rows"
            tables.append(Table("memorisation_order", title, COLUMNS_OF_ORDERS, orders, OF_ORDERS, about=about_task))
    legends = {table.kind: number for number, table in enumerate(tables)}  # the last of each kind has one
    return [t if legends[t.kind] == number else replace(t, notes=[]) for number, t in enumerate(tables)]


def _values(found: RowsFound | OrderFound) -> list[Any]:
    return [getattr(found, each.name) for each in fields(found)]
