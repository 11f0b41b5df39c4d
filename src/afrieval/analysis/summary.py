"""A run folder's sample files to summary.csv, results.json and the tables at the end of a run."""

from pathlib import Path
from typing import Any

from rich.console import Console

from afrieval.analysis.cells import SUMMARY_COLUMNS, CellScores, cell_scores, harness_results, summary_row
from afrieval.analysis.compare import african_means, by_language, native_differences
from afrieval.analysis.tables import difference_table, mean_lines, overview_table, score_table
from afrieval.results.files import read_cell, read_run, sample_files, write_results, write_summary


def summarise(folder: Path) -> list[CellScores]:
    """Writes summary.csv and results.json from all sample files of a run folder, and returns its cells.

    Raises:
        UserError: if a sample file is damaged; its line is named.
    """
    names = [path.stem.removeprefix("samples_") for path in sample_files(folder)]
    cells = [cell_scores(name, read_cell(folder, name)) for name in names]
    known = read_run(folder)["identity"]
    versions = {task: described["version"] for task, described in known["tasks"].items()}
    write_summary(folder, SUMMARY_COLUMNS, [summary_row(cell) for cell in cells])
    write_results(folder, harness_results(cells, known["fewshot"]["num_fewshot"], versions))
    return cells


def show(
    cells: list[CellScores], identity: dict[str, Any], unreviewed: dict[str, set[str]], supported: set[str], seed: int
) -> None:
    """Prints a table per task, where both prompt languages ran one of their difference, and one of all tasks.

    Args:
        cells: what to show.
        identity: what run.yaml says the run is.
        unreviewed: task to the languages whose native prompts nobody has reviewed.
        supported: languages that the model's authors name.
        seed: of the bootstrap.
    """
    console = Console(width=max(80, Console().width))  # in a narrow terminal lines break, numbers are never cut
    scores, differences = by_language(cells), native_differences(cells, seed)
    tasks = list(dict.fromkeys(s.task for s in scores))
    for task in tasks:
        doubtful = unreviewed.get(task, set())
        console.print()
        of_task = [s for s in scores if s.task == task]
        title, notes = _heading(task, identity)
        console.print(score_table(title, of_task, notes, doubtful, supported))
        for line in mean_lines(of_task):
            console.print(line, highlight=False)
        if differing := [d for d in differences if d.task == task]:
            console.print()
            console.print(difference_table(task, differing, doubtful))
    console.print()
    if len(tasks) > 1 and african_means(scores):
        console.print(overview_table(scores))
        console.print()


def _heading(task: str, identity: dict[str, Any]) -> tuple[str, list[str]]:
    """Returns a table's title, and what has to be said of the examples."""
    described, shots = identity["tasks"][task], identity["fewshot"]["num_fewshot"]
    notes = []
    if shots and described["fewshot"] == described["evaluate"]:
        notes = [f"Examples come from the {described['evaluate']} split itself, leaving out the question asked."]
    return f"{task}: {described['answer_form']}, {shots}-shot", notes
