"""Published scores and evaluations as tables, next to scores of our runs if there are any."""

from dataclasses import replace

from afrieval.analysis.entries import defective
from afrieval.analysis.published import (
    as_published,
    on_same_prompts,
    standings,
)
from afrieval.analysis.published_files import AFROBENCH, PublishedRow
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column
from afrieval.report.score_tables import without
from afrieval.report.table import Table
from afrieval.report.values import language_names
from afrieval.results.cell_scores import CellScores

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
