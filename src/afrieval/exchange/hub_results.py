"""Writes scores for a model's page on the Hugging Face Hub: `.eval_results/*.yaml` of its repository."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from afrieval._util.files import read_bytes
from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval._util.whole_files import write_whole
from afrieval.analysis.scores import LanguageScore, by_language
from afrieval.analysis.verdicts import OWN
from afrieval.exchange.stored_runs import StoredRun, file_name, hub_id
from afrieval.report.values import language_name
from afrieval.results.cell_key import SUITE, prompt_ranges
from afrieval.results.cell_scores import CellScores
from afrieval.tasks.declaration.spec import load_task, task_names

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

FOLDER = ".eval_results"


def write_eval_results(runs: list[StoredRun], folder: Path) -> list[Path]:
    """Writes a folder per model, to be uploaded to its repository, and returns the files.

    A file has one variant of a task, such as five shots with native prompts, as the Hub wants it; it has an entry per
    language, and no average over languages.
    """
    from huggingface_hub import eval_result_entries_to_yaml  # here, since other exports do without it

    paths = []
    for run in runs:
        model_folder = folder / file_name(run.model) / FOLDER
        for variant, cells in grouped(run.cells, _variant).items():
            for why in dict.fromkeys(filter(None, map(_refused, cells))):
                note(f"left out: {variant} of {run.name}: {why}")
            cells = [cell for cell in cells if not _refused(cell)]
            if not cells:
                continue
            model_folder.mkdir(parents=True, exist_ok=True)
            path = model_folder / f"{file_name(variant)}.yaml"
            entries = [_entry(run, cells, score) for score in by_language(cells)]
            text = yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True, width=1000)
            # other languages, from another run of the model
            before = read_bytes(path, "write to another folder") if path.exists() else b""
            write_whole(path, before + text.encode())
            paths.append(path)
    return list(dict.fromkeys(paths))


def _refused(cell: CellScores) -> str:
    """Returns why the scores of a task cannot be on the Hub; empty if they can."""
    if not cell.is_averaged:
        return "it is not a score of a benchmark"
    if cell.own_rows:
        return f"it is of {OWN}"
    if not cell.selection.concludes:
        return f"it is of the {cell.selection.words}"
    return "" if hub_id(cell) else "its data set on the Hub is not known"


def _variant(cell: CellScores) -> str:
    """Returns the name of a variant of a task, which has all languages and prompt numbers of a set."""
    sets = [] if cell.prompt_set == SUITE else [cell.prompt_set]
    return "_".join([cell.task, cell.prompt_language, f"{cell.shots}shot", cell.answer_form, *sets])


def _entry(run: StoredRun, cells: Sequence[CellScores], score: LanguageScore) -> "EvalResultEntry":
    """Returns the score of a language: the mean over prompts, on the metric's own scale."""
    from huggingface_hub import EvalResultEntry

    first, commits = cells[0], run.visit.get("data_commits") or {}
    base = score.task.removesuffix("_translate")
    codes = load_task(base).languages if base in task_names() else {}
    version = run.visit.get("versions", {}).get("afrieval")
    written = "English" if score.prompt_language == "eng" else "native, unreviewed" if score.unreviewed else "native"
    lowest, highest = first.metric.bounds
    title = first.declared.get("title", score.task)
    notes = [
        f"{title}, {language_name(score.language)}, {score.metric}, scale {lowest:g} to {highest:g}",
        f"{'mean over prompts' if len(score.prompts) > 1 else 'prompt'} {prompt_ranges(score.prompts)} ({written})",
        f"{first.shots}-shot",
        f"answers by {first.answer_form}",
        f"n = {score.n}",
        *([first.selection.words] if first.selection.words else []),
        *(["chat template"] if first.recorded_settings.get("chat_template") else []),
        *([f"95 % interval {score.interval.low:.4g} to {score.interval.high:.4g}"] if score.interval else []),
        *([f"known defect of the data: {score.defect}"] if score.defect else []),
        f"afrieval {version}" if version else "afrieval",
    ]
    return EvalResultEntry(
        dataset_id=hub_id(first),
        task_id=codes.get(score.language, score.language),  # in most data sets, the name of its configuration
        value=score.score,
        dataset_revision=commits.get(first.data_set),
        date=run.visit.get("date"),
        notes="; ".join(notes),
    )
