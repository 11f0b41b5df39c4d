"""`afrieval run`: evaluate, then say per language how good the model is and what the prompt language did."""

import hashlib
import json
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from afrieval.arguments import read_config
from afrieval.commands.writeout import write_out
from afrieval.config import DEMO, RunConfig
from afrieval.models.processes import Processes, joined
from afrieval.run.plan import Cell, Plan, plan


def main(argv: list[str]) -> None:
    """Runs what the run folder lacks, writes its tables and prints them."""
    with joined() as processes:
        with processes.together():
            config = read_config(argv, command="run", needs_model=True)
            planned = plan(config)
        folder = Path(config.run_dir).expanduser() if config.run_dir else default_folder(config, planned.cells[0])
        from afrieval.results.files import locked

        with ExitStack() as stack:
            with processes.together():
                if processes.is_first:
                    _tell_left_out(planned)
                    stack.enter_context(locked(folder))
            _run(config, planned, folder, processes)


def _tell_left_out(planned: Plan) -> None:
    for line in planned.left_out:
        print(f"left out: {line}", file=sys.stderr)


def _run(config: RunConfig, planned: Plan, folder: Path, processes: Processes) -> None:
    from afrieval.analysis.summary import summarise
    from afrieval.results.files import sample_files
    from afrieval.run.evaluate import evaluate

    after_cell = partial(write_out, folder) if config.eval.write_out else _nothing
    try:
        evaluate(config, planned, folder, after_cell, processes)
    except KeyboardInterrupt:
        if processes.is_first and sample_files(folder):
            summarise(folder)
        raise
    if processes.is_first:
        _tell(config, planned, folder)


def _tell(config: RunConfig, planned: Plan, folder: Path) -> None:
    from afrieval.analysis.summary import show, summarise

    cells = summarise(folder)
    wanted = {cell.name for cell in planned.cells}
    unreviewed: dict[str, set[str]] = {}
    for cell in planned.cells:
        if cell.prompt_language == "native" and not cell.prompt.reviewed_by:
            unreviewed.setdefault(cell.task.name, set()).add(cell.language)
    shown = [c for c in cells if c.name in wanted]
    show(shown, unreviewed, set(config.model.languages_supported), config.eval.numpy_random_seed)
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
