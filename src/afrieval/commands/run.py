"""`afrieval run`: evaluate, then say per language how good the model is and what the prompt language did."""

import hashlib
import json
import sys
from functools import partial
from pathlib import Path

from afrieval.arguments import read_config
from afrieval.commands.writeout import write_out
from afrieval.config import DEMO, RunConfig
from afrieval.run.plan import Cell, Plan, plan


def main(argv: list[str]) -> None:
    """Runs what the run folder lacks, writes its tables and prints them."""
    config = read_config(argv, command="run", needs_model=True)
    planned = plan(config)
    for line in planned.left_out:
        print(f"left out: {line}", file=sys.stderr)
    folder = Path(config.run_dir).expanduser() if config.run_dir else default_folder(config, planned.cells[0])
    from afrieval.results.files import locked

    with locked(folder):
        _run(config, planned, folder)


def _run(config: RunConfig, planned: Plan, folder: Path) -> None:
    from afrieval.analysis.summary import show, summarise
    from afrieval.results.files import read_run, sample_files
    from afrieval.run.evaluate import evaluate

    try:
        evaluate(config, planned, folder, partial(write_out, folder) if config.eval.write_out else _nothing)
    except KeyboardInterrupt:
        if sample_files(folder):
            summarise(folder)
        raise
    stored = {cell.name: cell for cell in summarise(folder)}
    unreviewed: dict[str, set[str]] = {}
    for cell in planned.cells:
        if cell.prompt_language == "native" and not cell.prompt.reviewed_by:
            unreviewed.setdefault(cell.task.name, set()).add(cell.language)
    shown = [stored[cell.name] for cell in planned.cells]
    identity = read_run(folder)["identity"]
    show(shown, identity, unreviewed, set(config.model.languages_supported), config.eval.numpy_random_seed)
    if config.model.model_name == DEMO:
        generated = planned.cells[0].answer_form == "generate"
        expected = "answers that nobody can read" if generated else "scores about chance"
        print(f"The demo model is random: {expected} are what it should have.")
    print(f"Run folder: {folder}")


def _nothing(cell: Cell) -> None:
    """What follows a cell whose prompts nobody wants to see."""


def default_folder(config: RunConfig, first: Cell) -> Path:
    """Returns runs/<task>/<model>/<settings>, where settings are what cannot share a folder."""
    model, evaluation = config.model, config.eval
    settings = [first.answer_form, f"{evaluation.num_fewshot}shot"]
    if evaluation.num_fewshot:
        settings += [evaluation.fewshot_selection.replace("_", "-"), f"seed{evaluation.fewshot_random_seed}"]
    settings += ["chat"] if model.chat_template else []
    settings += [model.dtype] if model.dtype != "auto" else []
    if model.backend_args:
        text = json.dumps(model.backend_args, sort_keys=True)
        settings.append("args" + hashlib.sha256(text.encode()).hexdigest()[:6])
    settings += ["samples"] if config.data.source == "samples" else []
    name = str(model.model_name)
    name = Path(name).resolve().name if Path(name).is_dir() else name.replace("/", "__")
    revision = "" if model.revision == "main" else f"@{model.revision.replace('/', '__')}"
    return Path("runs") / "+".join(config.task_names) / f"{name}{revision}" / "-".join(settings)
