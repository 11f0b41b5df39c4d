"""The tables of a plan: how much there is to run, how long it takes, what it costs, and whether it fits."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from afrieval._util.grouping import grouped
from afrieval.analysis.tokenizer import Fertility
from afrieval.config.settings import ModelConfig
from afrieval.report.columns import Column, shown
from afrieval.report.language_tables import fertility_table
from afrieval.report.run_summary import PLAIN
from afrieval.report.table import Table
from afrieval.report.values import shown_time
from afrieval.tools.plan.counting import BYTES_PER_TOKEN, Size, total
from afrieval.tools.plan.plan import Estimate, Memory
from afrieval.tools.plan.rates import hours

PER = 1_000_000  # prices are for this many tokens
GIB = 2**30
MEMORY = {"weights": "weights", "passes": "cache, activations, logits", "total": "in all"}
ANSWERS = "the most that answers may have; most are shorter"
LEFT = "Only what is left is counted"


UNFIT = [
    Column("truncated", "amount", "truncated", says="requests that lose their beginning"),
    Column("fewer examples", "amount", "fewer_examples", says="documents whose last examples are left out"),
    Column("shortened text", "amount", "shortened", says="documents whose long text is cut"),
]


class TokenPrices(NamedTuple):
    """US dollars per million tokens."""

    input: float
    output: float


def prices_of(config: ModelConfig) -> TokenPrices | None:
    """Returns the prices of a model; None if they are not known."""
    paid = config.api.prices
    return None if paid.input is None or paid.output is None else TokenPrices(paid.input, paid.output)


def estimate_tables(estimate: Estimate, prices: TokenPrices | None = None) -> list[Table]:
    """Returns the tables of a plan."""
    tables = [_size_table(estimate, prices), *_fit_tables(estimate)]
    return [
        *tables,
        *_fertility_tables(estimate.fertilities),
        *([_memory_table(estimate, estimate.memory)] if estimate.memory else []),
    ]


def _size_table(estimate: Estimate, prices: TokenPrices | None) -> Table:
    sizes, counted = estimate.sizes, not estimate.unknown
    whole = total(sizes)
    timed = hours(whole, estimate.rates) is not None
    form = {True: "amount", False: "hidden"}
    columns = [Column("task"), Column("language", "language"), Column("cells", "amount"), Column("documents", "amount")]
    columns += [Column("requests", "amount")]
    plain = ("plain tokens", PLAIN) if counted else ("prompt tokens", "")
    columns += [Column(plain[0], "amount", "prompt_tokens", says=plain[1])]
    what = "engine, which computes shared parts once" if estimate.engine == "tree" else "harness"
    computed = f"tokens of the {what}; padding is included"
    columns += [Column("computed", form[bool(counted and estimate.engine)], "computed_tokens", says=computed)]
    columns += [Column("answer tokens", form[whole.most > 0], "answer_tokens", says=ANSWERS)]
    columns += [Column("time", "time", "hours")] if timed else []
    columns += [Column("prompt cost", "money", "prompt_cost")] if prices else []
    columns += [Column("answer cost", "money", "answer_cost")] if prices else []
    rows = [_row(size, estimate, prices, timed) for size in sizes]
    ends = (len(rows) - 1,) if len(rows) > 1 else ()
    rows += [["total", "", *_row(whole, estimate, prices, timed)[2:]]] if ends else []
    left = sum(size.cells for size in sizes) < estimate.planned
    title = f"{estimate.model}: {'left ' if left else ''}to run"
    findings = [_in_all(estimate, whole, prices), *_findings(estimate, whole)]
    return Table("estimate", title, columns, rows, _notes(estimate, prices), findings, ends=ends)


def _in_all(estimate: Estimate, whole: Size, prices: TokenPrices | None) -> str:
    """Returns the requests, tokens, time and cost of the run, as a sentence."""
    parts = [f"{whole.requests:,} requests", f"{whole.plain:,} prompt tokens"]
    parts += [f"at most {whole.most:,} answer tokens"] if whole.most else []
    time = hours(whole, estimate.rates)
    parts += [f"about {shown_time(time)}"] if time is not None else []
    parts += (
        [("at most " if whole.most else "") + shown(sum(costs(whole, prices)), Column("", "money"))] if prices else []
    )
    return f"In all: {', '.join(parts)}."


def _row(size: Size, estimate: Estimate, prices: TokenPrices | None, timed: bool) -> list[Any]:
    counts: list[Any] = [size.task, size.language, size.cells, size.documents, size.requests]
    counts += [size.plain, size.computed if estimate.engine else None, size.most]
    counts += [hours(size, estimate.rates)] if timed else []
    return counts + (costs(size, prices) if prices else [])


def costs(size: Size, prices: TokenPrices) -> list[float]:
    """Returns US dollars for prompts, and the most for answers."""
    return [size.plain * prices.input / PER, size.most * prices.output / PER]


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


def _notes(estimate: Estimate, prices: TokenPrices | None) -> list[str]:
    notes = []
    if estimate.neutral:
        notes.append(
            f"{estimate.neutral:,} requests have neutral prompts, which acc_pmi needs; equal ones are asked once."
        )
    if not estimate.engine and not estimate.unknown:
        notes.append("What vLLM saves by caching prefixes is not counted.")
    if estimate.step > 1:
        notes.append(f"One of {estimate.step} documents of each cell was counted, and stands for the others.")
    notes += _rate_notes(estimate)
    return [*notes, "Costs are in US dollars, at the prices of the model file."] if prices else notes


def _rate_notes(estimate: Estimate) -> list[str]:
    if not estimate.rates:
        return ["--calibrate measures how long it takes."] if estimate.engine else []
    sources = grouped(estimate.rates.items(), lambda rate: rate[1].source)
    speeds = {
        kind: f"{rate.per_second:,.0f} {'tokens' if rate.tokens else 'requests'}/s for {kind}"
        for kind, rate in estimate.rates.items()
    }
    measured = [
        f"{' and '.join(speeds[kind] for kind, _ in rates)}, measured in {source}" for source, rates in sources.items()
    ]
    shares = [rate.share for rate in estimate.rates.values() if rate.tokens and rate.share < 1]
    used = "Answers are taken to have {:.0f}% of the tokens that they may have, as those that were measured."
    return [f"Time is at {'; and '.join(measured)}.", *(used.format(100 * share) for share in shares)]


def _fit_tables(estimate: Estimate) -> list[Table]:
    rows = [[size.task, size.language, *(getattr(size, column.key) for column in UNFIT)] for size in estimate.sizes]
    rows = [row for row in rows if any(row[2:])]
    if not rows:
        return []
    columns = [Column("task"), Column("language", "language"), *UNFIT]
    return [Table("fit", f"What does not fit the context of {estimate.context:,} tokens", columns, rows)]


def _fertility_tables(fertilities: Sequence[Fertility]) -> list[Table]:
    if not fertilities:
        return []
    notes = ["Of rows spread over each task's data, without prompts and special tokens. Words are runs of letters, "
             "marks and digits; bytes are those of UTF-8."]  # fmt: skip
    if any(f.premium for f in fertilities):
        notes.append("times English: tokens divided by those of the same rows in English, where they are parallel.")
    return [fertility_table(fertilities, [], Column("rows", "amount", "n"), notes)]


def _memory_table(estimate: Estimate, memory: Memory) -> Table:
    values = {name: getattr(memory, name) for name in MEMORY}
    rows = [[MEMORY[name], value, None if value is None else value / GIB] for name, value in values.items()]
    rows.append([f"free on {memory.device}", memory.free, memory.free / GIB])
    columns = [Column("memory"), Column("bytes", "hidden"), Column("GiB", "ratio")]
    findings = []
    if memory.total > memory.free and not estimate.absent:
        findings.append("The model does not fit: it needs more memory than is free.")
    if estimate.absent:
        findings.append(f"{estimate.absent} is not on this machine, which plans for {memory.device}.")
    notes = [f"Weights are {memory.dtype}; cache, activations and logits are what is in memory at a time, at most."]
    notes += ["The weights are quantised, and take less."] if memory.quantised else []
    notes += ["What a forward pass takes is not known for this model."] if memory.passes is None else []
    return Table("memory", f"{estimate.model}: memory", columns, rows, notes, findings)
