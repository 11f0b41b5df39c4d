"""What the answers of a model behind a server took: requests, tokens and cost."""

from collections.abc import Iterable, Mapping
from typing import Any

from afrieval.grouping import grouped
from afrieval.results.scores import CellScores

TOKENS = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")
LETTERS = ("letters", "missing_letters", "no_letter")  # of the most likely first tokens
COUNTS = ("answers", "requests", *TOKENS, "unknown", "cut_off", "refused", *LETTERS)
COLUMNS = ("task", "language", *COUNTS, "cost")
CUT_OFF = "length"  # the reason why an answer ended
MOST = 10**15  # of anything that an answer may take; servers of old runs were believed
Row = dict[str, Any]


def usage_of(details: Mapping[str, Any]) -> dict[str, float]:
    """Returns what one answer took, by names of `COUNTS`, and its cost if prices were known.

    Args:
        details: those of a sample.
    """
    told = {name: details[name] for name in ("requests", *TOKENS, *LETTERS, "cost") if _is_amount(details.get(name))}
    ended = details.get("finish_reason") == CUT_OFF
    seen = details.get("missing_letters") != details.get("letters", -1)
    counted = {
        "no_letter": not seen,
        "unknown": TOKENS[0] not in told,
        "cut_off": ended,
        "refused": bool(details.get("refused")),
    }
    return {"answers": 1, **told, **{name: int(found) for name, found in counted.items()}}


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < MOST


def usage_rows(cells: Iterable[CellScores]) -> list[Row]:
    """Returns rows of usage.csv: sums per task and language; empty if no answer has details.

    A cost is empty where prices were not known for all answers.
    """
    told = [cell for cell in cells if cell.usage]
    return [
        {"task": task, "language": language, **_sum(members)}
        for (task, language), members in grouped(told, lambda cell: (cell.task, cell.language)).items()
    ]


def _sum(cells: Iterable[CellScores]) -> Row:
    every = list(cells)
    counts = {name: int(sum(cell.usage.get(name, 0) for cell in every)) for name in COUNTS}
    priced = all("cost" in cell.usage for cell in every)
    return {**counts, "cost": round(sum(cell.usage["cost"] for cell in every), 6) if priced else None}
