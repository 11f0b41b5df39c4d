"""Tables of how many questions a decision takes, and what they cost."""

from collections.abc import Sequence
from typing import Any

from afrieval.report.columns import Column
from afrieval.report.table import Table
from afrieval.report.values import SHARE, shown_score
from afrieval.tools.plan.precision import SAMPLES, Asked, Needed, Precision
from afrieval.tools.plan.rates import Rates, hours
from afrieval.tools.plan.tables import TokenPrices, costs

OF_A_LANGUAGE = "half the width of the 95% interval of a language's score, the narrowest and the widest"
OF_A_MEAN = "the same of a task's mean over exactly these languages, as sure as in the runs of --like"
FOUND = "the smallest difference between two models that is found four times out of five, in the best and worst case"
ASSUMED = (
    "Half of the answers are taken to be right, which has the widest interval, and two models to differ on three "
    "questions of ten."
)


def precision_tables(
    found: Precision, wanted: tuple[float | None, float | None], rates: Rates, prices: TokenPrices | None
) -> list[Table]:
    """Returns a table by sample, and one by task.

    Args:
        found: what is expected.
        wanted: the interval and the difference that were asked for, as shares.
        rates: how fast the model answers.
        prices: of its tokens; None if they are not known.
    """
    needed = found.needed(*wanted)
    samples = sorted({*SAMPLES, *(n for of in needed for n in (of.precision, of.difference) if n)})
    longest = max(size.documents // size.cells for size in found.sizes)
    asked = [found.asked(n) for n in [*(n for n in samples if n < longest), None]]
    return [_by_sample(found, asked, rates, prices), _by_task(needed, wanted)]


def _by_sample(found: Precision, asked: Sequence[Asked], rates: Rates, prices: TokenPrices | None) -> Table:
    timed, written = hours(asked[-1].size, rates) is not None, asked[-1].size.most > 0
    columns = [
        Column("sample", "text"),
        Column("+/-", "limits", "precision", says=OF_A_LANGUAGE),
        Column("+/- of mean", "limits" if asked[-1].mean is not None else "hidden", "mean", says=OF_A_MEAN),
        Column("difference", "limits", says=FOUND),
        Column("requests", "amount"),
        Column("prompt tokens", "amount", "prompt_tokens"),
        Column("answer tokens", "amount" if written else "hidden", "answer_tokens"),
        *([Column("time", "time", "hours")] if timed else []),
        *([Column("cost", "money")] if prices else []),
    ]
    rows: list[list[Any]] = []
    for each in asked:
        size = each.size
        row: list[Any] = [
            "all" if each.sample is None else f"{each.sample:,}",
            each.precision,
            each.mean,
            each.detectable,
        ]
        row += [size.requests, size.plain, size.most]
        row += [hours(size, rates)] if timed else []
        rows.append(row + ([sum(costs(size, prices))] if prices else []))
    return Table("samples", "What a sample of each test set gives and takes", columns, rows, _notes(found))


def _notes(found: Precision) -> list[str]:
    taken, known = len(found.from_runs), len(found.expected) - len(found.unknown_places)
    said = ["Requests, tokens and time are in proportion to those of all rows."]
    said += [f"Scores and differences of {taken} of {known} test sets are expected as in the runs of --like."] * bool(
        taken
    )
    said += [ASSUMED if not taken else f"Of the others, {ASSUMED[0].lower()}{ASSUMED[1:]}"] * (taken < known)
    if found.unknown:
        said.append(f"Not known without --like, since their metrics are no shares: {', '.join(found.unknown)}.")
    return said


def _by_task(needed: Sequence[Needed], wanted: tuple[float | None, float | None]) -> Table:
    precision, difference = ("" if value is None else shown_score(value, SHARE) for value in wanted)
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
    for of in needed:
        row: list[Any] = [of.task, of.languages, of.rows, *([of.precision, of.mean] if precision else []), of.widest]
        rows.append([*row, *([of.difference] if difference else []), of.detectable])
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
        known = [of for of in needed if getattr(of, key) is not None]
        few = [of.task for of in known if getattr(of, key) > of.rows]
        most = max((getattr(of, key) for of in known), default=None)
        if most is not None:
            lines.append(f"For {what} {value} points {where}, up to {most:,} questions are needed.")
        if few:
            lines.append(f"Too few rows for that: {', '.join(few)}.")
    return lines
