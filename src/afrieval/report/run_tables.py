"""The tables at the end of a run, from its folder alone: whole, or as far as it got."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval.analysis.scores import LanguageScore, by_language
from afrieval.report.run_summary import run_tables
from afrieval.report.score_tables import naming_rows, run_table
from afrieval.report.table import Table
from afrieval.report.values import ANY, Bounds
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import prompt_order
from afrieval.results.run_folder import RunFolder
from afrieval.results.schema import Identity
from afrieval.run.finish import Summary, config_of, read_summary, stored_references
from afrieval.run.harness.harness_scores import HarnessScore, task_scores
from afrieval.run.suites.run import scores_of_run

CONTINUES = "the same `afrieval run` command continues"


def stored_tables(run: RunFolder, label: str) -> tuple[list[Table], list[CellScores]]:
    """Returns the tables of a run, derived metrics last, and the cells that they show.

    What an unfinished run lacks is in the notes of tables, and in one line on standard error.

    Raises:
        UserError: if a file of the folder is damaged.
    """
    record, every = run.record, read_summary(run)
    cells = in_order((replace(cell, model=label) for cell in every.cells), record["identity"])
    places = {name: at for at, name in enumerate(record["identity"].get("harness_tasks", {}))}
    harness = sorted(every.harness, key=lambda task: places.get(task.record["task"], len(places)))
    config = config_of(record)
    supported, seed = config.get("model", {}).get("languages_supported") or [], config.get("eval", {})
    lacking = _lacking(run, cells)
    for line in lacking.values():
        note(f"{run.path}: {line}")
    found = Summary(cells, harness, every.groups, scores_of_run(record, cells, stored_references(config)))
    tables = run_tables(found, record, supported, seed.get("numpy_random_seed", 42))
    for at, table in enumerate(tables):
        if lack := lacking.get("" if table.kind == "harness" else table.about.get("task", "-")):
            tables[at] = replace(table, notes=[lack, *table.notes])
    return tables, cells


def in_order(cells: Iterable[CellScores], identity: Identity) -> list[CellScores]:
    """Returns cells in the order in which they were planned, as run.yaml has tasks and languages."""
    tasks = identity.get("tasks", {})

    def place(cell: CellScores) -> tuple[Any, ...]:
        languages = list(tasks[cell.task]["data"])
        at = languages.index(cell.language) if cell.language in languages else len(languages)
        return list(tasks).index(cell.task), at, cell.prompt_language, prompt_order(cell.prompt)

    return sorted(cells, key=place)


def _lacking(run: RunFolder, cells: list[CellScores]) -> dict[str, str]:
    """Returns what is missing of each task of the suite, and of all tasks of the harness together, as sentences."""
    tasks, there = run.record["identity"].get("tasks", {}), set(run.names)

    def task_of(name: str) -> str:  # empty for a task of the harness
        return max((task for task in tasks if name.startswith(f"{task}_")), key=len, default="")

    planned = grouped(run.record.get("cells", []), task_of)
    lines = {}
    for task, names in planned.items():
        if missing := [name for name in names if name not in there]:
            which = f"{len(missing)} of {len(names)} cells are missing, such as {missing[0]}"
            lines[task] = f"Not finished: {which}; {CONTINUES}."
    for (task, _), of in grouped(cells, lambda cell: (cell.task, cell.language)).items():
        first, last = min(of, key=lambda cell: cell.rows), max(of, key=lambda cell: cell.rows)
        if first.rows < last.rows:
            rows = f"{first.name} has {first.rows} rows, and {last.name} {last.rows}"
            lines.setdefault(task, f"Not finished: {rows}; {CONTINUES}.")
    return lines


def of_model(tables: Iterable[Table], label: str, path: Path) -> list[Table]:
    """Returns tables whose titles name the model, since tables of other runs are next to them."""
    about = {"model": label, "run": str(path)}
    return [replace(table, title=f"{label}, {table.title}", about={**about, **table.about}) for table in tables]


def one_table(run: RunFolder) -> Table:
    """Returns the scores, averaged over prompts: one row per task, language and prompt language.

    Harness tasks come last, each with the main metric, on the harness' own scale.

    Raises:
        UserError: if a file of the folder is damaged; its line is named.
    """
    cells = [run.scores(name) for name in run.names]
    own = [cell for cell in cells if not cell.harness]
    bounds: dict[tuple[str, str], Bounds] = {(c.task, c.main): c.metric.bounds for c in own if c.n}
    scores = by_language(own)
    harness = [known.scores[0] for cell in cells if cell.harness and (known := task_scores(cell)).scores]
    unreviewed = {task: set(known.get("unreviewed", {})) for task, known in run.record.get("declared", {}).items()}
    scales = [bounds[s.task, s.metric] for s in scores] + [ANY for _ in harness]
    table = run_table(f"Scores of {run.path.name}", [*scores, *map(_as_ours, harness)], unreviewed, scales)
    return naming_rows([table], cells)[0]


def _as_ours(score: HarnessScore) -> LanguageScore:
    metric = score.metric if score.filter == "none" else f"{score.metric},{score.filter}"
    return LanguageScore(
        task=score.task, language=score.language, prompt_language="", prompts=[], metric=metric, score=score.value,
        interval=score.interval, others={}, n=score.n, n_defect=0, chance=float("nan"),
    )  # fmt: skip
