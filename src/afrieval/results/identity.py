"""What makes two runs the same run, and how selections of rows are named in results."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped

# What may change of a task if only its answers are scored differently.
SCORING = ("version", "declaration", "code", "extract")


def differences(old: Mapping[str, Any], new: Mapping[str, Any], path: str = "") -> list[str]:
    """Returns a line for each key of both maps whose values differ; a key of one map is no difference."""
    lines = []
    for key in [k for k in old if k in new]:
        name = f"{path}.{key}" if path else str(key)
        if isinstance(old[key], dict) and isinstance(new[key], dict):
            lines += differences(old[key], new[key], name)
        elif old[key] != new[key]:
            lines.append(f"{name} was {_short(old[key])} and is {_short(new[key])}")
    return lines


def _short(value: Any) -> str:
    text = "not given" if value is None else repr(value)
    return text if len(text) <= 50 else f"{text[:12]}...{text[-4:]}"


def check_same_run(
    old: Mapping[str, Any], new: Mapping[str, Any], folder: Any, stored: Collection[str] | None = None
) -> None:
    """Refuses to put another run's cells into a folder.

    A task of which none of the `stored` cells is may be scored in another way, so that a metric can be corrected.
    """
    lines = differences(old, new)
    if stored is not None:
        tasks = {line: line.split(".")[1] for line in lines if _is_scoring([line])}
        begun = {line for line, task in tasks.items() if any(name.startswith(f"{task}_") for name in stored)}
        lines = [line for line in lines if line not in tasks or line in begun]
    if lines:
        more = f", and {len(lines) - 1} more" if lines[1:] else ""
        cure = (
            f"or score its answers again: afrieval score {folder}"
            if _is_scoring(lines)
            else "or the settings that the folder was begun with"
        )
        raise UserError(
            f"the run folder {folder} holds another run: {lines[0]}{more}", f"give another --run_dir, {cure}"
        )


def _is_scoring(lines: list[str]) -> bool:
    """Returns whether only the scoring of tasks differs, and by their files: a run keeps the options of its command."""
    of_tasks = [line.split(" ")[0].split(".") for line in lines]
    scored = all(path[0] == "tasks" and len(path) > 2 and path[2] in SCORING for path in of_tasks)
    return scored and any(path[2] != "extract" for path in of_tasks)


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Returns nested maps with the keys of both; the new value where both have one."""
    result = dict(old)
    for key, value in new.items():
        both = isinstance(value, dict) and isinstance(old.get(key), dict)
        result[key] = merged(old[key], value) if both else value
    return result


Kind = Literal["all", "first", "sample"]
BY_LIMIT = "eval.limit"  # in the identity of a run


@dataclass(frozen=True)
class Selection:
    """The rows of a cell.

    Attributes:
        kind: `all` rows, the `first` ones, or a `sample` drawn by a seed.
        n: number of rows, scored or not.
        test_set: number of rows of the test set; 0 if it is not known.
    """

    kind: Kind = "all"
    n: int = 0
    test_set: int = 0

    @property
    def concludes(self) -> bool:
        """Whether something can be concluded from scores on these rows: not from the first ones, which may be alike."""
        return self.kind != "first"

    @property
    def words(self) -> str:
        """The rows in words, such as `first 50 of 204 rows: for debugging`; empty for all."""
        return words([self])


ALL = Selection()


def words(selections: Iterable[Selection]) -> str:
    """Returns the rows of several cells in words, such as `in part first 50 of 204 rows`; empty where all have all."""
    of_kinds = grouped(selections, lambda each: str(each.kind))
    parts = []
    for kind, how in (("first", "first {}: for debugging"), ("sample", "sample of {}")):
        if of_kind := of_kinds.get(kind):
            sizes = f" of {_range(each.test_set for each in of_kind)}" if all(each.test_set for each in of_kind) else ""
            parts.append(how.format(f"{_range(each.n for each in of_kind)}{sizes} rows"))
    some = "in part " if parts and "all" in of_kinds else ""
    return f"{some}{'; '.join(parts)}"


def _range(numbers: Iterable[int]) -> str:
    ascending = sorted({*numbers})
    return f"{ascending[0]:,} to {ascending[-1]:,}" if ascending[1:] else f"{ascending[0]:,}"


def selection(n: int, test_set: int, sampled: bool) -> Selection:
    """Returns the selection of a cell.

    Args:
        n: its rows.
        test_set: rows of the test set; 0 if not known.
        sampled: whether its rows have ranks in the order of samples.
    """
    if test_set and n >= test_set:
        return Selection("all", n, test_set)
    return Selection("sample" if sampled else "first" if test_set else "all", n, test_set)
