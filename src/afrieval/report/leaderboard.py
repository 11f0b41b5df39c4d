"""Published scores as tables, with those of our runs if there are some."""

from dataclasses import replace

from afrieval.analysis.leaderboard import as_published, defective, standings
from afrieval.analysis.published import AFROBENCH, Average, PublishedRow, Standing, averages
from afrieval.analysis.same_prompts import on_same_prompts
from afrieval.languages import LANGUAGES
from afrieval.report.defects import without
from afrieval.report.table import Column, Table
from afrieval.results.scores import CellScores

OTHER_PROMPTS = "Prompts of the suite are not those of published scores, whatever their numbers."


def published_tables(cells: list[CellScores], rows: list[PublishedRow]) -> list[Table]:
    """Returns the tables of each task that has published scores.

    Args:
        cells: cells of our runs.
        rows: of published tables.
    """
    tables = []
    for task in dict.fromkeys(row.task for row in rows):
        of_task = [row for row in rows if row.task == task]
        own, metric = as_published(task, cells)
        found = [table for table in (_standing(task, own, of_task), _on_same_prompts(task, own, of_task)) if table]
        note = [f"Scores are {metric}, as published."] if metric and own else []
        if not own or not found:
            note = [_why_alone(own, metric)] if any(cell.task == task for cell in cells) else note
            found.append(_averages(task, of_task))
        tables += [replace(table, notes=[*table.notes, *note]) for table in found]
    return tables


def _why_alone(cells: list[CellScores], metric: str | None) -> str:
    """Returns why published scores are not next to those of a run of the same task."""
    if not cells:
        return f"The runs of this task are not shown here: they lack {metric}, which the published scores are."
    languages = " ".join(sorted({cell.language for cell in cells}))
    return f"The runs of this task, with {languages}, are not shown here: no African language is in all models."


def _standing(task: str, cells: list[CellScores], rows: list[PublishedRow]) -> Table | None:
    """Returns best and mean over prompts of each model; published ones are marked. None if they share no language."""
    found, languages = standings(task, cells, rows)
    if not found:
        return None
    columns = [Column("model"), Column("source"), Column("shots", "count"), Column("prompts", "count")]
    columns += [Column("best", "score"), Column("mean", "score")]
    notes = [
        f"Means over the {len(languages)} languages that all of them have: {' '.join(languages)}.",
        "best: the prompt was chosen on test.",
        *([OTHER_PROMPTS] if any(standing.source == "run" for standing in found) else []),
        *_missing(cells, rows, found),
        _sizes(rows),
        *_inconsistent(averages(rows)[1]),
    ]
    title, about = f"{task}: runs and published scores", {"task": task}
    table = Table("standing", title, columns, [list(s) for s in found], notes, about=about)
    return without(table, defective(task, cells, rows))


def _missing(cells: list[CellScores], rows: list[PublishedRow], found: list[Standing]) -> list[str]:
    """Returns a note on the models that are not in the table; empty if all are."""
    shown = {standing.model for standing in found}
    models = dict.fromkeys([*(cell.model for cell in cells), *(row.model for row in rows)])
    lost = [name for name in models if name not in shown]
    return (
        [f"Not shown, since no English prompt of theirs has all of these languages: {', '.join(lost)}."] if lost else []
    )


def _sizes(rows: list[PublishedRow]) -> str:
    """Returns a note on how many documents published scores are of; tables of papers do not say."""
    known = sorted({n for row in rows for n in row.n.values()})
    if not known:
        return "Published scores are of whole test sets: compare them with runs without --eval.limit or --eval.sample."
    size = f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,} to {known[-1]:,}"
    return f"Published scores are of {size} documents per language, where their source says so."


def _on_same_prompts(task: str, cells: list[CellScores], rows: list[PublishedRow]) -> Table | None:
    """Returns the scores under each prompt of the paper that was run and published; None without one."""
    found, languages = on_same_prompts(task, cells, rows)
    if not found:
        return None
    columns = [Column("prompt", "count"), Column("model"), Column("source"), Column("shots", "count")]
    columns += [Column("score", "score")]
    notes = [
        f"Means over the {len(languages)} languages that all of them have: {' '.join(languages)}.",
        "Prompt 3 is paper3 of a run and prompt_3 of a published table.",
    ]
    title = f"{task}: runs and published scores, prompt by prompt"
    table = Table("same prompts", title, columns, [list(of) for of in found], notes, about={"task": task})
    return without(table, defective(task, cells, rows))


def _averages(task: str, rows: list[PublishedRow]) -> Table:
    """Returns AfroBench's own average of each published row, next to the one that is printed."""
    found, wrong = averages(rows)
    columns = [Column("model"), Column("prompt"), Column("languages", "count")]
    columns += [Column(AFROBENCH, "score"), Column("printed", "score")]
    printed = [None if a.row.average is None else a.row.average / 100 for a in found]
    cells = [
        [a.row.model, a.row.prompt, len(a.languages), a.value / 100, of_row]
        for a, of_row in zip(found, printed, strict=True)
    ]
    notes = [f"{AFROBENCH}: the mean over all languages of the row except English and French."]
    lost = len(rows) - len(found)
    notes += [f"Not shown: {lost} of {len(rows)} rows, which have no other language."] if lost else []
    notes += [_counted(code, defect) for code, defect in defective(task, [], rows).items()]
    agree = ["All printed averages agree with it to 0.1."] if any(of_row is not None for of_row in printed) else []
    notes += _inconsistent(wrong) or agree
    return Table("published", f"{task}: published averages", columns, cells, notes, about={"task": task})


def _counted(code: str, defect: str) -> str:
    return f"It includes {LANGUAGES[code].name}, which has a known defect of its data: {defect}."


def _inconsistent(wrong: list[Average]) -> list[str]:
    return [
        f"Inconsistent: {a.row.model}, prompt {a.row.prompt}, prints an average of {a.row.average}; "
        f"the mean of its scores is {a.value:.1f}."
        for a in wrong
    ]
