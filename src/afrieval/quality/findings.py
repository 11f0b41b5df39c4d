"""What a check of data finds."""

from collections.abc import Sequence
from dataclasses import dataclass

KINDS = {
    "order": "rows in another row's place",
    "together": "texts of a row do not belong together",
    "gold": "another right answer than most languages",
}


@dataclass(frozen=True)
class Finding:
    """A defect that a check suspects.

    Attributes:
        kind: one of `KINDS`.
        rows: row numbers in the language's file, ascending; all rows of the split if `whole`.
        detail: the figures that support it.
        whole: whether the language is affected as a whole.
        n_known: how many of the rows are known to have a defect.
        witnesses: the hashes of these rows' texts that an entry in known_defects.yaml needs, in the order of the rows.
    """

    split: str
    language: str
    kind: str
    rows: Sequence[int]
    detail: str = ""
    whole: bool = False
    n_known: int = 0
    witnesses: Sequence[str] = ()

    @property
    def known(self) -> bool:
        """Whether nothing about it is new."""
        return self.n_known == len(self.rows)
