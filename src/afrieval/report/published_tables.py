"""Published scores and evaluations as tables, next to scores of our runs if there are any."""

from collections import Counter
from dataclasses import replace
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.analysis.entries import defective
from afrieval.analysis.published import (
    as_published,
    is_other_model,
    on_same_prompts,
    reference_model,
    standings,
    verdicts,
)
from afrieval.analysis.published_files import AFROBENCH, PublishedRow
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column, rows_of
from afrieval.report.score_tables import INTERVAL, defective_column, metric_column, without
from afrieval.report.table import Table
from afrieval.report.values import SHARE, language_names
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.scoring.labels import DESCRIPTIONS, NOT_PARSED
from afrieval.scoring.statistics.intervals import Interval
from afrieval.tasks.declaration.meta import ORGANISATION

OTHER_PROMPTS = "Prompts of the suite are not those of published scores, whatever their numbers."


def published_tables(cells: list[CellScores], rows: list[PublishedRow]) -> list[Table]:
    """Returns the tables of each task that has published scores."""
    tables = []
    for task in dict.fromkeys(row.task for row in rows):
        of_task = [row for row in rows if row.task == task]
        task_cells, metric = as_published(task, cells)
        task_tables = [
            table
            for table in (_standing(task, task_cells, of_task), _on_same_prompts(task, task_cells, of_task))
            if table
        ]
        note = [f"Scores are {metric}, as published."] if metric and task_cells else []
        if not task_cells or not task_tables:
            where = language_names({cell.language for cell in task_cells}, None)
            why = f"The runs of this task, with {where}, are not shown here: no African language is in all models."
            if not task_cells:
                why = f"The runs of this task are not shown here: they lack {metric}, which the published scores are."
            note = [why] if any(cell.task == task for cell in cells) else note
            task_tables.append(_averages(task, of_task))
        tables += [replace(table, notes=[*table.notes, *note]) for table in task_tables]
    return tables


def _standing(task: str, cells: list[CellScores], rows: list[PublishedRow]) -> Table | None:
    """Returns best and mean over prompts of each model; published ones are marked. None if they share no language."""
    models, languages = standings(cells, rows)
    if not models:
        return None
    columns = [Column("model"), Column("source"), Column("shots", "count"), Column("prompts", "count")]
    columns += [Column("best", "score"), Column("mean", "score")]
    names = dict.fromkeys([*(cell.model for cell in cells), *(row.model for row in rows)])
    lost = [name for name in names if name not in {model.model for model in models}]
    missing = [f"Not shown, since no English prompt of theirs has all of these languages: {', '.join(lost)}."]
    sizes = sorted({n for row in rows for n in row.n.values()})
    size = " to ".join(f"{n:,}" for n in dict.fromkeys([*sizes[:1], *sizes[-1:]]))
    compared = f"of {size} documents per language, where their source says so."
    if not sizes:  # tables of papers do not say
        compared = "of whole test sets: compare them with runs without --eval.limit or --eval.sample."
    notes = [
        f"Means over the {len(languages)} languages that all of them have: {language_names(languages, None)}.",
        "best: the prompt was chosen on test.",
        *([OTHER_PROMPTS] if any(model.source == "run" for model in models) else []),
        *(missing if lost else []),
        f"Published scores are {compared}",
        *_inconsistent(rows),
    ]
    title, about = f"{task}: runs and published scores", {"task": task}
    lines = [[of.model, of.source, of.shots, len(of.scores), of.best, of.mean] for of in models]
    table = Table("standing", title, columns, lines, notes, about=about)
    return without(table, defective(task, cells, rows))


def _on_same_prompts(task: str, cells: list[CellScores], rows: list[PublishedRow]) -> Table | None:
    """Returns the scores under each prompt of the paper that was run and published; None without one."""
    by_prompt, languages = on_same_prompts(cells, rows)
    if not by_prompt:
        return None
    columns = [Column("prompt", "count"), Column("model"), Column("source"), Column("shots", "count")]
    columns += [Column("score", "score")]
    notes = [
        f"Means over the {len(languages)} languages that all of them have: {language_names(languages, None)}.",
        "Prompt 3 is paper3 of a run and prompt_3 of a published table.",
    ]
    title = f"{task}: runs and published scores, prompt by prompt"
    lines = [[n, of.model, of.source, of.shots, of.mean] for n, models in by_prompt.items() for of in models]
    table = Table("same prompts", title, columns, lines, notes, about={"task": task})
    return without(table, defective(task, cells, rows))


def _averages(task: str, rows: list[PublishedRow]) -> Table:
    averaged = [row for row in rows if row.averaged]
    columns = [Column("model"), Column("prompt"), Column("languages", "count")]
    columns += [Column(AFROBENCH, "score"), Column("printed", "score")]
    printed = [None if row.average is None else row.average / 100 for row in averaged]
    heads = [[row.model, row.prompt, len(row.averaged), row.recomputed / 100] for row in averaged]
    cells = [[*place, of_row] for place, of_row in zip(heads, printed, strict=True)]
    notes = [f"{AFROBENCH}: the mean over all languages of the row except English and French."]
    lost = len(rows) - len(averaged)
    notes += [f"Not shown: {lost} of {len(rows)} rows, which have no other language."] if lost else []
    notes += [
        f"It includes {LANGUAGES[code].name}, which has a known defect of its data: {defect}."
        for code, defect in defective(task, [], rows).items()
    ]
    agree = ["All printed averages agree with it to 0.1."] if any(of_row is not None for of_row in printed) else []
    notes += _inconsistent(rows) or agree
    return Table("published", f"{task}: published averages", columns, cells, notes, about={"task": task})


def _inconsistent(rows: list[PublishedRow]) -> list[str]:
    return [
        f"Inconsistent: {row.model}, prompt {row.prompt}, prints an average of {row.average}; "
        f"the mean of its scores is {row.recomputed:.1f}."
        for row in rows
        if not row.is_consistent
    ]


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
    """Returns cells by model and published data set, in order."""
    return list(grouped(cells, lambda each: (each.model, each.declared["evals"])).values())


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
        agreements = [(each, agreement) for each in of_run if (agreement := verdicts(each))]
        if not agreements:
            continue
        first = agreements[0][0]
        records = [{"task": each.task, **agreement, "metric": each.main} for each, agreement in agreements]
        about = {"model": first.model, "evals": first.declared["evals"], "samples": first.own_rows}
        title = f"{first.model}: agreement with Meta's verdicts"
        title += f" on {name}" if (name := reference_model(first)) else ""
        other = f"{reference_model(first)}, another model," if is_other_model(first) else "the same model"
        note = f"Ours: {first.model}, its answers in this run, our scoring. "
        note += f"Meta's: is_correct in {first.declared['evals']}, of {other} with Meta's code and sampling."
        note += next((f" IFEval: {each.main}." for each, _ in agreements if each.main in FOLLOWED), "")
        if first.own_rows:
            note = "The verdicts of our own sample rows are made up: this table shows its form, and nothing of Meta's."
        rows = rows_of(VERDICT_COLUMNS, records)
        tables.append(Table("verdicts", title, VERDICT_COLUMNS, rows, [note], about=about, signs=[LEGEND]))
    return tables
