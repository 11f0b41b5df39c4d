"""The tables of a plan: how much there is to run, how long it takes, what it costs, and whether it fits."""

from typing import Any

from afrieval._util.grouping import grouped
from afrieval.config.api_settings import Prices
from afrieval.config.settings import ModelConfig
from afrieval.report.columns import Column, rows_of, shown
from afrieval.report.language_tables import fertility_table
from afrieval.report.run_summary import PLAIN
from afrieval.report.table import Table
from afrieval.report.values import shown_time
from afrieval.tools.plan.counting import BYTES_PER_TOKEN, Size, total
from afrieval.tools.plan.plan import Estimate
from afrieval.tools.plan.rates import hours

PER = 1_000_000  # prices are for this many tokens
ANSWERS = "the most that answers may have; most are shorter"
LEFT = "Only what is left is counted"


UNFIT = [
    Column("truncated", "amount", "truncated", says="requests that lose their beginning"),
    Column("fewer examples", "amount", "fewer_examples", says="documents whose last examples are left out"),
    Column("shortened text", "amount", "shortened", says="documents whose long text is cut"),
]


def prices_of(config: ModelConfig) -> Prices | None:
    """Returns the prices of a model; None if they are not known."""
    prices = config.api.prices
    return None if prices.input is None or prices.output is None else prices


def estimate_tables(estimate: Estimate, prices: Prices | None = None) -> list[Table]:
    """Returns the tables of a plan."""
    tables = [_size_table(estimate, prices)]
    columns = [Column("task"), Column("language", "language"), *UNFIT]
    rows = [[size.task, size.language, *(getattr(size, column.key) for column in UNFIT)] for size in estimate.sizes]
    if rows := [row for row in rows if any(row[2:])]:
        tables.append(Table("fit", f"What does not fit the context of {estimate.context:,} tokens", columns, rows))
    if estimate.fertilities:
        notes = ["Of rows spread over each task's data, without prompts and special tokens. Words are runs of letters, "
                 "marks and digits; bytes are those of UTF-8."]  # fmt: skip
        if any(f.premium for f in estimate.fertilities):
            notes.append("times English: tokens divided by those of the same rows in English, where they are parallel.")
        tables.append(fertility_table(estimate.fertilities, [], Column("rows", "amount", "n"), notes))
    return [*tables, estimate.memory] if estimate.memory else tables


def _size_table(estimate: Estimate, prices: Prices | None) -> Table:
    whole = total(estimate.sizes)
    time = hours(whole, estimate.rates)
    engine = "engine, which computes shared parts once" if estimate.engine == "tree" else "harness"
    columns = [
        Column("task"),
        Column("language", "language"),
        Column("cells", "amount"),
        Column("documents", "amount"),
        Column("requests", "amount"),
        Column("prompt tokens", "amount", "prompt_tokens")
        if estimate.unknown
        else Column("plain tokens", "amount", "prompt_tokens", says=PLAIN),
        Column(
            "computed",
            "amount" if estimate.engine and not estimate.unknown else "hidden",
            "computed_tokens",
            says=f"tokens of the {engine}; padding is included",
        ),
        Column("answer tokens", "amount" if whole.most else "hidden", "answer_tokens", says=ANSWERS),
        *([] if time is None else [Column("time", "time", "hours")]),
        *(
            [Column("prompt cost", "money", "prompt_cost"), Column("answer cost", "money", "answer_cost")]
            * bool(prices)
        ),
    ]
    records = [_amounts(size, estimate, prices) for size in estimate.sizes]
    ends = (len(records) - 1,) if len(records) > 1 else ()
    records += [_amounts(whole, estimate, prices) | {"task": "total", "language": ""}] if ends else []
    amounts = [f"{whole.requests:,} requests", f"{whole.plain:,} prompt tokens"]
    amounts += [f"at most {whole.most:,} answer tokens"] if whole.most else []
    amounts += [f"about {shown_time(time)}"] if time is not None else []
    most = "at most " if whole.most else ""
    amounts += [most + shown(sum(costs(whole, prices)), Column("", "money"))] if prices else []
    findings = [f"In all: {', '.join(amounts)}.", *_findings(estimate, whole)]
    title = f"{estimate.model}: {'left ' if whole.cells < estimate.planned else ''}to run"
    rows = rows_of(columns, records)
    return Table("estimate", title, columns, rows, _notes(estimate, prices), findings, ends=ends)


def _amounts(size: Size, estimate: Estimate, prices: Prices | None) -> dict[str, Any]:
    prompt_cost, answer_cost = costs(size, prices) if prices else (None, None)
    return {
        "task": size.task,
        "language": size.language,
        "cells": size.cells,
        "documents": size.documents,
        "requests": size.requests,
        "prompt_tokens": size.plain,
        "computed_tokens": size.computed if estimate.engine else None,
        "answer_tokens": size.most,
        "hours": hours(size, estimate.rates),
        "prompt_cost": prompt_cost,
        "answer_cost": answer_cost,
    }


def costs(size: Size, prices: Prices) -> list[float]:
    """Returns US dollars for prompts, and the most for answers."""
    return [size.plain * (prices.input or 0) / PER, size.most * (prices.output or 0) / PER]


def _findings(estimate: Estimate, whole: Size) -> list[str]:
    n_left, lines = whole.cells, []
    if n_left < estimate.planned:
        done = estimate.planned - n_left
        lines.append(f"{LEFT}: {done:,} of {estimate.planned:,} cells are stored in the run folder.")
    if estimate.unknown:
        lines.append(f"Tokens are estimated, one for {BYTES_PER_TOKEN} bytes of UTF-8: {estimate.unknown}.")
        lines.append("Without a tokenizer, it is not known which prompts fit, nor the fertility of languages.")
    elif not (whole.truncated or whole.fewer_examples or whole.shortened):
        lines.append(f"All prompts fit: the longest takes {estimate.longest:,} of {estimate.context:,} tokens.")
    return lines


def _notes(estimate: Estimate, prices: Prices | None) -> list[str]:
    notes = []
    if estimate.neutral:
        notes.append(
            f"{estimate.neutral:,} requests have neutral prompts, which acc_pmi needs; equal ones are asked once."
        )
    if not estimate.engine and not estimate.unknown:
        notes.append("What vLLM saves by caching prefixes is not counted.")
    if estimate.step > 1:
        notes.append(f"One of {estimate.step} documents of each cell was counted, and stands for the others.")
    sources = grouped(estimate.rates.items(), lambda rate: rate[1].source)
    speeds = {
        kind: f"{rate.per_second:,.0f} {'tokens' if rate.tokens else 'requests'}/s for {kind}"
        for kind, rate in estimate.rates.items()
    }
    measured = [
        f"{' and '.join(speeds[kind] for kind, _ in rates)}, measured in {source}" for source, rates in sources.items()
    ]
    if measured:
        notes.append(f"Time is at {'; and '.join(measured)}.")
    elif estimate.engine:
        notes.append("--calibrate measures how long it takes.")
    used = "Answers are taken to have {:.0f}% of the tokens that they may have, as those that were measured."
    notes += [used.format(100 * rate.share) for rate in estimate.rates.values() if rate.tokens and rate.share < 1]
    return [*notes, "Costs are in US dollars, at the prices of the model file."] if prices else notes
