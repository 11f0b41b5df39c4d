"""Columns of tables, each declared once with its type, and the arrays that hold those of a cell's documents."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from afrieval.results.samples import Sample

T = TypeVar("T")
Kind = Literal["text", "number", "whole", "truth", "texts", "numbers", "wholes"]
Row = dict[str, Any]
Values = NDArray[np.float64]
Numbers = NDArray[np.int64]
NONE: Numbers = np.zeros(0, dtype=np.int64)
ARRAYS = {"whole": (np.int64, -1), "number": (np.float64, np.nan), "truth": (np.float64, np.nan)}  # and what is missing


@dataclass(frozen=True)
class DescribedColumn(Generic[T]):
    """A column of a table whose rows are of one type.

    Attributes:
        name: its name in every format.
        kind: the type of its values; any of them may be missing.
        words: what it holds, as docs/exchange.md says it; empty if other programs do not get it.
        source: returns the value of a row; by default, the attribute of the column's name.
    """

    name: str
    kind: Kind
    words: str
    source: Callable[[T], Any] | None = None

    def of(self, row: T) -> Any:
        """Returns the value of a row, as Python has it."""
        return self.source(row) if self.source else getattr(row, self.name)

    def stored(self, row: T) -> Any:
        """Returns the value of a row as a file of any format has it: None for numbers that are not finite."""
        value = self.of(row)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else None
        return str(value) if self.kind == "text" and value is not None else value


def stored_row(columns: Iterable[DescribedColumn[T]], row: T) -> Row:
    """Returns the values of a row by column, as a file has them."""
    return {column.name: column.stored(row) for column in columns}


SampleColumn = DescribedColumn[Sample]


def whole_number(name: str) -> Callable[[Sample], int | None]:
    """Returns what reads a whole number of a line; anything else is none."""
    return lambda line: number if type(number := line.get(name)) is int else None


def array_of(column: SampleColumn, values: Sequence[Any]) -> NDArray[Any]:
    """Returns the values of a column as an array of its type; -1 is a whole number that is missing, NaN any other."""
    dtype, missing = ARRAYS[column.kind]
    return np.array([missing if value is None else value for value in values], dtype=dtype)


@dataclass(frozen=True)
class Labels:
    """A text per document, such as its subject.

    Attributes:
        codes: place of each document's text in `names`, shape (n,); -1 where it has none.
        names: the texts, in the order in which they occur.
    """

    codes: Numbers
    names: tuple[str, ...]


Key = tuple[str, tuple[int, ...], int]
_arrays: WeakValueDictionary[Key, NDArray[Any]] = WeakValueDictionary()


def shared(array: NDArray[Any]) -> NDArray[Any]:
    """Returns an array that is equal to the bit and read-only: the one of an earlier call if there was one.

    Of 20 models on the same questions, only what each answered then takes memory.
    """
    content = array.tobytes()
    key = array.dtype.str, array.shape, hash(content)
    earlier = _arrays.get(key)
    if earlier is not None and earlier.tobytes() == content:
        return earlier
    frozen = array if array.base is None else array.copy()  # a view would keep all that it is a part of
    frozen.flags.writeable = False
    _arrays[key] = frozen
    return frozen
