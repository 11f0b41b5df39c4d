"""Several tables together, as Python code gets them."""

from typing import TYPE_CHECKING

from afrieval.errors import UserError
from afrieval.report.formats import csv_parts, flat, write
from afrieval.report.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame


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
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        """Returns the tables as a notebook shows them."""
        return "\n".join(table._repr_html_() for table in self)
