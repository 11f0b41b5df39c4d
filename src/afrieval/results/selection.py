"""Which rows of a test set a cell has: all, the first ones, or a sample that stands for all."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from afrieval.grouping import grouped

Kind = Literal["all", "first", "sample"]
BY_LIMIT = "eval.limit"  # in the identity of a run


@dataclass(frozen=True)
class Selection:
    """The rows of a cell.

    Attributes:
        kind: `all` rows, the `first` ones, or a `sample` drawn by a seed.
        n: number of rows, scored or not.
        of: number of rows of the test set; 0 if it is not known, as in runs of older versions.
    """

    kind: Kind = "all"
    n: int = 0
    of: int = 0

    @property
    def concludes(self) -> bool:
        """Whether something can be concluded from scores on these rows: not from the first ones, which may be alike."""
        return self.kind != "first"

    @property
    def words(self) -> str:
        """The rows in words, such as `first 50 of 204 rows: for debugging`; empty for all."""
        return words([self])


ALL = Selection()


def words(found: Iterable[Selection]) -> str:
    """Returns the rows of several cells in words, such as `in part first 50 of 204 rows`; empty where all have all."""
    of_kinds = grouped(found, lambda each: str(each.kind))
    parts = []
    for kind, how in (("first", "first {}: for debugging"), ("sample", "sample of {}")):
        if of_kind := of_kinds.get(kind):
            sizes = f" of {_range(each.of for each in of_kind)}" if all(each.of for each in of_kind) else ""
            parts.append(how.format(f"{_range(each.n for each in of_kind)}{sizes} rows"))
    some = "in part " if parts and "all" in of_kinds else ""
    return f"{some}{'; '.join(parts)}"


def _range(numbers: Iterable[int]) -> str:
    found = sorted({*numbers})
    return f"{found[0]:,} to {found[-1]:,}" if found[1:] else f"{found[0]:,}"


def selection(n: int, of: int, sampled: bool) -> Selection:
    """Returns the selection of a cell.

    Args:
        n: its rows.
        of: rows of the test set; 0 if not known.
        sampled: whether its rows have ranks in the order of samples.
    """
    if of and n >= of:
        return Selection("all", n, of)
    return Selection("sample" if sampled else "first" if of else "all", n, of)


def selection_of_older(n: int, record: Mapping[str, Any]) -> Selection:
    """Returns the selection of a cell of a version that stored no size of test sets, by the limits of its visits.

    Args:
        n: its rows.
        record: run.yaml.
    """
    return Selection("first" if n in _limits(record) else "all", n)


def identity_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the identity in run.yaml, with the selection of rows where an older version did not store it."""
    identity = dict(record.get("identity", {}))
    return {"selection": {"by": BY_LIMIT}, **identity} if _limits(record) else identity


def _limits(record: Mapping[str, Any]) -> set[int]:
    """Returns the limits of visits of versions that did not know samples."""
    settings = [visit.get("config", {}).get("eval", {}) for visit in record.get("visits", [])]
    return {of["limit"] for of in settings if of.get("limit") and "sample" not in of}
