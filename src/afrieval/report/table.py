"""A table, and several: raw values that print, show and write themselves. All that commands show is of this type."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from afrieval._util.errors import UserError
from afrieval._util.registry import Registry
from afrieval.report.columns import Column, TableContent
from afrieval.report.formats import csv_parts, flat, html, text, write

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Column", "Table", "Tables"]


@dataclass(frozen=True)
class Table(TableContent):
    """A table that prints, shows and writes itself."""

    def to_csv(self) -> str:
        """Returns the table as CSV, with raw values and each interval in two columns."""
        return write([self], "csv")

    def to_pandas(self) -> "DataFrame":
        """Returns the table as a data frame of pandas, with raw values and each interval in two columns."""
        from pandas import DataFrame

        return DataFrame.from_records(flat(self))

    def __str__(self) -> str:
        """Returns the table as a terminal shows it."""
        return text([self])

    def _repr_html_(self) -> str:
        """Returns the table as a notebook shows it."""
        return html([self])


class Tables(tuple[Table, ...]):
    """Tables in order, with the same methods as one of them."""

    __slots__ = ()

    def to_csv(self) -> str:
        """Returns all tables as CSV, an empty line between those that differ in their kind or in their scales."""
        return write(list(self), "csv")

    def to_pandas(self) -> "DataFrame":
        """Returns all tables as one data frame, with a column for each name that occurs.

        Raises:
            UserError: if they differ in their kind or in the scales of their scores.
        """
        from pandas import DataFrame

        if len(parts := csv_parts(self)) > 1:
            cure = "take the data frame of each: [table.to_pandas() for table in tables]"
            raise UserError(f"these tables cannot be one data frame, since they are {', '.join(parts)}", cure)
        return DataFrame.from_records([record for table in self for record in flat(table)])

    def __str__(self) -> str:
        """Returns the tables as a terminal shows them."""
        return text(self)

    def _repr_html_(self) -> str:
        """Returns the tables as a notebook shows them."""
        return html(self)


# Tables of cells of runs that only add-ons and other packages know to make.
ADDED_TABLES: Registry[Callable[[Iterable[object]], list[Table]]] = Registry(
    "table", "afrieval.tables", {}, needs=["__call__"]
)
# Modules that make tables of tasks with a published evaluation.
EVALUATION_TABLES: Registry[Any] = Registry(
    "table of evaluations", "afrieval.evaluation_tables", {}, needs=["reference_tables", "verdict_tables"]
)


def added_tables(units: Iterable[object]) -> list[Table]:
    """Returns the tables that add-ons make of cells of runs, for those cells that they know."""
    units, tables = list(units), list[Table]()
    for name in ADDED_TABLES:
        with ADDED_TABLES.calling(name):
            tables += ADDED_TABLES[name](units)
    return tables
