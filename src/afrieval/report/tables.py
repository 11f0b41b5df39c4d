"""Several tables together, as Python code gets them."""

from typing import TYPE_CHECKING

from afrieval.report.formats import flat, write
from afrieval.report.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame


class Tables(tuple[Table, ...]):
    """Tables in order, with the same methods as one of them."""

    __slots__ = ()

    def to_csv(self) -> str:
        """Returns all tables as one CSV, with a column for each name that occurs."""
        return write(list(self), "csv")

    def to_pandas(self) -> "DataFrame":
        """Returns all tables as one data frame, with a column for each name that occurs."""
        from pandas import DataFrame

        return DataFrame.from_records([record for table in self for record in flat(table)])

    def __str__(self) -> str:
        """Returns the tables as a terminal shows them."""
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        """Returns the tables as a notebook shows them."""
        return "\n".join(table._repr_html_() for table in self)
