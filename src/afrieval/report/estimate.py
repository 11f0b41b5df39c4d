"""The table of a dry run: how much there is to run, and what it costs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from afrieval.report.table import Column, Table
from afrieval.tasks.size import Size

PER = 1_000_000  # prices are for this many tokens


class Prices(NamedTuple):
    """US dollars per million tokens."""

    input: float
    output: float


def estimate_table(sizes: Sequence[Size], model: str, bytes_per_token: int, prices: Prices | None = None) -> Table:
    """Returns what is to be run, by task and language, and in all.

    Args:
        sizes: by task and language.
        model: its name.
        bytes_per_token: how tokens were estimated.
        prices: of the model; None if unknown.
    """
    columns = [Column("task"), Column("language", "language"), Column("documents", "amount")]
    columns += [Column("requests", "amount"), Column("prompt tokens", "amount", "prompt_tokens")]
    written = any(size.answer_tokens for size in sizes)
    columns += [Column("answer tokens", "amount" if written else "hidden", "answer_tokens")]
    columns += (
        [Column("prompt cost", "money", "prompt_cost"), Column("answer cost", "money", "answer_cost")] if prices else []
    )
    rows = [_row(size, prices) for size in sizes]
    total: list[Any] = ["total", "", *(sum(values) for values in list(zip(*rows, strict=True))[2:])]
    notes = [f"Tokens of prompts are estimated: one for {bytes_per_token} bytes of UTF-8."]
    if written:
        notes.append("Tokens of answers are the most that they may have; most answers are shorter.")
    if prices:
        notes.append("Costs are in US dollars, at the prices of the model file.")
    ends = (len(rows) - 1,) if len(rows) > 1 else ()
    return Table("estimate", f"{model}: left to run", columns, [*rows, *([total] if ends else [])], notes, ends=ends)


def _row(size: Size, prices: Prices | None) -> list[Any]:
    row: list[Any] = [size.task, size.language, size.documents, size.requests, size.prompt_tokens, size.answer_tokens]
    if prices is None:
        return row
    return [*row, size.prompt_tokens * prices.input / PER, size.answer_tokens * prices.output / PER]
