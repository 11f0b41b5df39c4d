"""The table of requests, tokens and cost at the end of a run, and what else is to be said of a server's answers."""

from collections.abc import Iterable, Sequence
from typing import Any

from afrieval.report.table import Column, Table
from afrieval.results.scores import CellScores
from afrieval.results.usage import Row

SHOWN = {
    "requests": "requests",
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "answer tokens",
    "reasoning_tokens": "thinking",
}


def usage_tables(rows: Sequence[Row]) -> list[Table]:
    """Returns what answers took, by task and language and in all; empty if no backend tells.

    Args:
        rows: those of usage.csv.
    """
    if not rows:
        return []
    names = [name for name in SHOWN if name != "reasoning_tokens" or any(row[name] for row in rows)]
    priced = ["cost"] if any(row["cost"] is not None for row in rows) else []
    columns = [Column("task"), Column("language", "language"), *(Column(SHOWN[n], "amount", n) for n in names)]
    found = [[row[name] for name in ("task", "language", *names, *priced)] for row in rows]
    ends = (len(found) - 1,) if len(found) > 1 else ()
    total = [["total", "", *map(_total, list(zip(*found, strict=True))[2:])]] if ends else []
    columns += [Column(name, "money") for name in priced]
    return [Table("usage", "Requests and tokens", columns, [*found, *total], _notes(rows), ends=ends)]


def cut_off(cells: Iterable[CellScores]) -> list[str]:
    """Returns how many answers ended at their limit of tokens; empty for none."""
    every = list(cells)
    n, cut = (int(sum(cell.usage.get(name, 0) for cell in every)) for name in ("answers", "cut_off"))
    thinks = any(cell.usage.get("reasoning_tokens") for cell in every)
    cure = "; --model.api.reasoning_effort leaves more room for thinking" if thinks else ""
    return [f"{cut:,} of {n:,} answers were cut off at max_gen_toks{cure}."] if cut else []


def missing_letters(cells: Iterable[CellScores]) -> list[str]:
    """Returns how many letters had no likelihood, if answers are letters; empty if all had one."""
    every = list(cells)
    names = ("missing_letters", "letters", "no_letter", "answers")
    missing, letters, none, answers = (int(sum(cell.usage.get(name, 0) for cell in every)) for name in names)
    if not missing:
        return []
    of_all = f"{none:,} of {answers:,} questions, whose answers are unparsed"
    return [f"{missing:,} of {letters:,} letters were not among the tokens that the server returns; all in {of_all}."]


def _total(values: Iterable[Any]) -> Any:
    return sum(value for value in values if value is not None)


def _notes(rows: Sequence[Row]) -> list[str]:
    answers, unknown = (sum(row[name] for row in rows) for name in ("answers", "unknown"))
    if not unknown:
        return []
    of = f"{unknown:,} of {answers:,} answers; they are in no sum and no cost."
    return [f"The server states no usable number of tokens for {of}"]
