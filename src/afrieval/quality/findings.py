"""What a check of data finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

DEFECTS = {
    "order": "another row's text",
    "pair": "does not match the only other language",
    "together": "texts do not belong together",
    "gold": "another right answer",
    "duplicate": "repeats another row",
    "equal": "one text twice",
    "empty": "empty text",
    "copied": "not translated",
    "language": "another language",
    "script": "another script",
}
# What is often harmless, so that a reader has to judge it.
NOTICES = {
    "unsure": "order cannot be judged",
    "choices": "equal choices",
    "number": "another number",
    "length": "unusual length",
    "unlike": "unlike its other rows",
    "letters": "letters of another script",
    "mixed": "words of two scripts",
    "damaged": "damaged characters, markup",
}
KINDS = DEFECTS | NOTICES


@dataclass(frozen=True)
class Finding:
    """What a check suspects.

    Attributes:
        kind: one of `KINDS`.
        rows: row numbers in the language's file, ascending; all paired rows of the split if `whole`.
        detail: the figures that support it, or what `each` is about.
        each: row number to what is found there, if that differs between rows.
        whole: whether the language is affected as a whole.
        n_known: how many of the rows are known to have a defect.
        witnesses: the hashes of these rows' texts that an entry in known_defects.yaml needs, in the order of the rows.
    """

    split: str
    language: str
    kind: str
    rows: Sequence[int]
    detail: str = ""
    each: Mapping[int, str] = field(default_factory=dict)
    whole: bool = False
    n_known: int = 0
    witnesses: Sequence[str] = ()

    @property
    def is_new(self) -> bool:
        """Whether it is a defect, and not all of its rows are known."""
        return self.kind in DEFECTS and self.n_known < len(self.rows)
