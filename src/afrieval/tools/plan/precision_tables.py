"""Tables of how many questions a decision takes, and what they cost."""

from collections.abc import Sequence
from typing import Any

from afrieval.report.columns import Column
from afrieval.report.table import Table
from afrieval.report.values import SHARE, shown_score
from afrieval.tools.plan.precision import SAMPLES, Needed, Precision, SampleEstimate
from afrieval.tools.plan.rates import Rates, hours
from afrieval.tools.plan.tables import TokenPrices, costs

OF_A_LANGUAGE = "half the width of the 95% interval of a language's score, the narrowest and the widest"
OF_A_MEAN = "the same of a task's mean over exactly these languages, as sure as in the runs of --like"
OF_AN_AVERAGE = "half the width of the interval of the average over tasks, in exactly these languages"
FOUND = "the smallest difference between two models that is found four times out of five, in the best and worst case"
ASSUMED = (
    "Half of the answers are taken to be right, which has the widest interval, and two models to differ on three "
    "questions of ten."
)


def precision_tables(
    precision: Precision, targets: tuple[float | None, float | None], rates: Rates, prices: TokenPrices | None
) -> list[Table]:
    """Returns a table by sample, and one by task.

    Args:
        precision: what is expected.
        targets: the interval and the difference that were asked for, as shares.
        rates: how fast the model answers.
        prices: of its tokens; None if they are not known.
    """
    needed = precision.needed(*targets)
    enough = precision.for_average(targets[0]) if targets[0] else None
    samples = sorted(
        {*SAMPLES, *(n for of in needed for n in (of.precision, of.difference) if n), *filter(None, [enough])}
    )
    longest = max(size.documents // size.cells for size in precision.sizes)
    estimates = [precision.of_sample(n) for n in [*(n for n in samples if n < longest), None]]
    return [
        _by_sample(precision, estimates, rates, prices, _on_average(estimates[-1].average, targets[0], enough)),
        _by_task(needed, targets),
    ]


def _on_average(whole: float | None, precision: float | None, enough: int | None) -> list[str]:
    """Returns how large a sample gives the interval of the average over tasks that was asked for."""
    if whole is None or precision is None:
        return []
    target = f"For an average over tasks of +/- {shown_score(precision, SHARE)} points"
    if enough is None:
        return [f"{target}, there are too few rows."]
    return [f"{target}, a sample of {enough:,} is enough."]


def _by_sample(
    precision: Precision,
    estimates: Sequence[SampleEstimate],
    rates: Rates,
    prices: TokenPrices | None,
    lines: list[str],
) -> Table:
    timed, written = hours(estimates[-1].size, rates) is not None, estimates[-1].size.most > 0
    columns = [
        Column("sample", "text"),
        Column("+/-", "limits", "precision", says=OF_A_LANGUAGE),
        Column("+/- of mean", "limits" if estimates[-1].mean is not None else "hidden", "mean", says=OF_A_MEAN),
        Column(
            "+/- of average", "score" if estimates[-1].average is not None else "hidden", "average", says=OF_AN_AVERAGE
        ),
        Column("difference", "limits", says=FOUND),
        Column("requests", "amount"),
        Column("prompt tokens", "amount", "prompt_tokens"),
        Column("answer tokens", "amount" if written else "hidden", "answer_tokens"),
        *([Column("time", "time", "hours")] if timed else []),
        *([Column("cost", "money")] if prices else []),
    ]
    rows: list[list[Any]] = []
    for each in estimates:
        size = each.size
        row: list[Any] = [
            "all" if each.sample is None else f"{each.sample:,}",
            each.precision,
            each.mean,
            each.average,
            each.detectable,
        ]
        row += [size.requests, size.plain, size.most]
        row += [hours(size, rates)] if timed else []
        rows.append(row + ([sum(costs(size, prices))] if prices else []))
    return Table("samples", "What a sample of each test set gives and takes", columns, rows, _notes(precision), lines)


def _notes(precision: Precision) -> list[str]:
    n_observed, n_expected = len(precision.from_runs), len(precision.expected) - len(precision.unknown_test_sets)
    notes = ["Requests, tokens and time are in proportion to those of all rows."]
    notes += [
        f"Scores and differences of {n_observed} of {n_expected} test sets are expected as in the runs of --like."
    ] * bool(n_observed)
    notes += [ASSUMED if not n_observed else f"Of the others, {ASSUMED[0].lower()}{ASSUMED[1:]}"] * (
        n_observed < n_expected
    )
    if n_observed < n_expected and precision.average(None) is not None:
        notes.append("For the average, a question is taken to be answered alike in all languages, as it is at worst.")
    if precision.unknown:
        notes.append(f"Not known without --like, since their metrics are no shares: {', '.join(precision.unknown)}.")
    return notes


def _by_task(needed: Sequence[Needed], targets: tuple[float | None, float | None]) -> Table:
    precision, difference = ("" if value is None else shown_score(value, SHARE) for value in targets)
    columns = [Column("task"), Column("languages", "amount"), Column("rows", "amount")]
    if precision:
        columns.append(Column(f"for +/- {precision}", "amount", "for_precision", says="questions in each language"))
        of_means = "amount" if any(of.mean for of in needed) else "hidden"
        columns.append(
            Column("of mean", of_means, "for_mean", says="the same for the mean over exactly these languages")
        )
    columns.append(Column("all rows: +/-", "score", "precision"))
    if difference:
        columns.append(Column(f"to show {difference}", "amount", "for_difference", says="questions in each language"))
    columns.append(Column("all rows show", "score", "difference"))
    rows = []
    for need in needed:
        row: list[Any] = [
            need.task,
            need.languages,
            need.rows,
            *([need.precision, need.mean] if precision else []),
            need.widest,
        ]
        rows.append([*row, *([need.difference] if difference else []), need.detectable])
    title = "Questions that each task needs in each language"
    return Table("questions", title, columns, rows, [], list(_findings(needed, precision, difference)))


def _findings(needed: Sequence[Needed], precision: str, difference: str) -> list[str]:
    """Returns which tasks have enough rows for what was asked."""
    lines = []
    for what, value, key, where in (
        ("an interval of +/-", precision, "precision", "in each language"),
        ("an interval of +/-", precision, "mean", "of the mean over exactly these languages"),
        ("a difference of", difference, "difference", "in each language"),
    ):
        if not value:
            continue
        needs = [of for of in needed if getattr(of, key) is not None]
        few = [of.task for of in needs if getattr(of, key) > of.rows]
        most = max((getattr(of, key) for of in needs), default=None)
        if most is not None:
            lines.append(f"For {what} {value} points {where}, up to {most:,} questions are needed.")
        if few:
            lines.append(f"Too few rows for that: {', '.join(few)}.")
    return lines
