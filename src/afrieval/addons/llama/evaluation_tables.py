"""Tables of tasks with a published evaluation: measured and published scores, and verdicts on the same questions."""

from collections import Counter
from typing import Any

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.addons.llama.evaluations import END, ORGANISATION, llama
from afrieval.report.columns import Column, rows_of
from afrieval.report.score_tables import INTERVAL, defective_column, metric_column
from afrieval.report.table import Table
from afrieval.report.values import SHARE
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.scoring.labels import DESCRIPTIONS, NOT_PARSED
from afrieval.scoring.statistics.intervals import Interval
from afrieval.scoring.statistics.tests import Values, bonferroni, mcnemar

COLUMNS = [
    Column("task", "text", "-"),
    Column("metric", "text", "-"),
    Column("score", "score"),
    Column(INTERVAL, "limits", "interval"),
    Column("n", "count"),
]
HIDDEN = [Column("", "hidden", of) for of in ("task", "kind", "metric", "average", "parts", "setting", "source")]


def reference_tables(cells: list[CellScores]) -> list[Table]:
    """Returns a table per model and data set: each task's measured scores, then its published ones."""
    return [_reference_table(of_run) for of_run in _by_run(cells)]


def _by_run(cells: list[CellScores]) -> list[list[CellScores]]:
    """Returns cells by model and Meta's data set, in order."""
    of_meta = [cell for cell in cells if cell.declared["evals"].startswith(ORGANISATION)]
    return list(grouped(of_meta, lambda each: (each.model, each.declared["evals"])).values())


def _reference_table(of_run: list[CellScores]) -> Table:
    records: list[dict[str, Any]] = []
    dimmed: list[int] = []
    ends: list[int] = []
    for each in of_run:
        main, *others = _measured(each)
        counted = {"shown task": each.task, "n_defect": each.n_defect, NOT_PARSED: _unparsed(each)}
        records += [main | counted, *others]  # only the first one has the name of the task
        of_others = _published(each)
        dimmed += range(len(records), len(records) + len(of_others))
        records += of_others
        ends.append(len(records) - 1)
    first = of_run[0]
    about = {"model": first.model, "evals": first.declared["evals"], "samples": first.own_rows}
    data = [first.declared["evals"].removeprefix(ORGANISATION)] if reference_model(first) else []
    title = f"{', '.join([*data, *(['our own sample rows'] if first.own_rows else [])])}: {first.model}"
    signs = ["Prompts are Meta's own, complete with examples."] if not first.own_rows else []
    if any(each.macro for each in of_run):
        signs.append("micro: all rows have the same weight; macro: all subtasks do. Compare like with like.")
    columns = [
        *COLUMNS,
        defective_column(each.n_defect for each in of_run),
        metric_column(NOT_PARSED, SHARE, map(_unparsed, of_run)),
        *HIDDEN,
    ]
    rows, notes = rows_of(columns, records), _about_published(of_run)
    return Table("reference", title, columns, rows, notes, about=about, signs=signs, dimmed=dimmed, ends=ends)


def _unparsed(each: CellScores) -> float | None:
    """Returns the share of answers that could not be parsed; None where none was generated."""
    return each.with_metric(NOT_PARSED).score if NOT_PARSED in each.metrics else None


def _measured(each: CellScores) -> list[dict[str, Any]]:
    """Returns the records of a cell's scores, the main one first; derived metrics follow what they are made of."""
    macro = each.macro
    scores: list[tuple[str, str | None, float, Interval | None, int, int | None]] = [
        (each.main, "micro" if macro else None, each.score, each.interval, each.n, None)
    ]
    scores += [(each.main, "macro", macro.value, macro.interval, each.n, macro.n)] if macro else []
    for scored in (each.with_metric(name) for name in each.of_derived if name != each.main):
        scores.append((scored.main, None, scored.score, scored.interval, scored.n, None))
    records = []
    for metric, average, score, interval, n, parts in scores:
        over = f"mean of {parts} subtask{'s' * (parts != 1)}" if parts else DESCRIPTIONS.get(metric, "")
        shown = {"shown task": over, "shown metric": ", ".join(filter(None, (metric, average)))}
        numbers = {"score": score, "interval": interval, "n": n, "parts": parts}
        records.append(
            {**shown, **numbers, "kind": "measured", "metric": metric, "average": average, "task": each.task}
        )
    return records


def _published(each: CellScores) -> list[dict[str, Any]]:
    """Returns the records of published scores, each with all sources that give it in the same words.

    Sources are named where several scores have the same setting.
    """
    rows = each.declared.get("published", [])
    scores = grouped(rows, lambda row: (row["average"], row["setting"], row["score"]))
    times = Counter((average, setting) for average, setting, _ in scores)
    records = []
    for (average, setting, score), of_score in scores.items():
        source = "; ".join(row["source"] for row in of_score)
        apart = f" ({source})" if times[average, setting] > 1 else ""
        shown_average = (average or "not stated") if each.declared.get("macro") else ""
        shown = {"shown task": f"published: {setting}{apart}", "shown metric": shown_average}
        stated = {"kind": "published", "average": average, "setting": setting, "source": source, "task": each.task}
        records.append({**shown, **stated, "score": round(score / 100, 6)})
    return records


def _about_published(of_run: list[CellScores]) -> list[str]:
    first = of_run[0]
    if not any(each.declared.get("published") for each in of_run):
        return []
    other = f", not of {first.model}" if is_other_model(first) else ""
    whose = f"published: scores of {reference_model(first)}{other}, on all rows; run.yaml lists their sources."
    rows = [(e.task, e.rows, e.declared.get("rows")) for e in of_run]
    fewer = [f"{task} {ran} of {of_all}" for task, ran, of_all in rows if of_all and ran < of_all]
    return [whose, *([f"Fewer rows ran here, so do not compare: {', '.join(fewer)}."] if fewer else [])]


LEGEND = (
    "both, ours, Meta, none: how many answers are right on both sides, on one alone, on neither; same: verdicts that "
    "agree, in percent; diff.: our score minus Meta's, in percentage points; p: exact McNemar test."
)
VERDICT_COLUMNS = [
    Column("task"),
    Column("n", "count"),
    Column("both", "count", "both_right"),
    Column("ours", "count", "only_here"),
    Column("Meta", "count", "only_published"),
    Column("none", "count", "both_wrong"),
    Column("same", "score", "agreement"),
    Column("score", "score"),
    Column("Meta's", "score", "published_score"),
    Column("difference", "change"),
    Column("p", "p"),
    Column("metric", "hidden"),
]


def verdict_tables(cells: list[CellScores]) -> list[Table]:
    """Returns a table per model and data set, with a row for each task whose data have verdicts."""
    tables = []
    for of_run in _by_run(cells):
        with_verdicts = [(each, both) for each in of_run if (both := ~np.isnan(each.verdicts)).any()]
        if not with_verdicts:
            continue
        first = with_verdicts[0][0]
        records = [
            {"task": each.task, **agreement(each.values[both], each.verdicts[both], each.looks), "metric": each.main}
            for each, both in with_verdicts
        ]
        about = {"model": first.model, "evals": first.declared["evals"], "samples": first.own_rows}
        title = f"{first.model}: agreement with Meta's verdicts"
        title += f" on {name}" if (name := reference_model(first)) else ""
        other = f"{reference_model(first)}, another model," if is_other_model(first) else "the same model"
        note = f"Ours: {first.model}, its answers in this run, our scoring. "
        note += f"Meta's: is_correct in {first.declared['evals']}, of {other} with Meta's code and sampling."
        note += next((f" IFEval: {each.main}." for each, _ in with_verdicts if each.main in FOLLOWED), "")
        if first.own_rows:
            note = "The verdicts of our own sample rows are made up: this table shows its form, and nothing of Meta's."
        rows = rows_of(VERDICT_COLUMNS, records)
        tables.append(Table("verdicts", title, VERDICT_COLUMNS, rows, [note], about=about, signs=[LEGEND]))
    return tables


def reference_model(each: CellScores) -> str:
    """Returns the model whose answers and scores are published; empty if no data set was chosen."""
    evals = each.declared["evals"]
    return "" if evals.endswith("{evals}") else evals.removeprefix(ORGANISATION).removesuffix(END)


def is_other_model(each: CellScores) -> bool:
    """Tells whether the model run is another than the published one."""
    recipe = llama(each.model)
    return reference_model(each) != (recipe.name if recipe else each.model)


def agreement(ours: Values, published: Values, looks: int = 1) -> dict[str, float]:
    """Returns how often two verdicts agree on documents, as a row of a table; p is for all looks together."""
    both, first, second, neither = (
        int((((ours == 1) == one) & ((published == 1) == other)).sum())
        for one, other in ((True, True), (True, False), (False, True), (False, False))
    )
    n = both + first + second + neither
    score, published_score = (both + first) / n, (both + second) / n
    return {
        "n": n,
        "both_right": both,
        "only_here": first,
        "only_published": second,
        "both_wrong": neither,
        "agreement": (both + neither) / n,
        "score": score,
        "published_score": published_score,
        "difference": score - published_score,
        "p": bonferroni(mcnemar(first, second), looks),
    }
