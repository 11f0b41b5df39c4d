"""`afrieval run`: evaluates a model and prints scores per language and prompt."""

import hashlib
import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from afrieval.commands.options import Run
from afrieval.commands.writeout import write_out
from afrieval.config.arguments import read_config
from afrieval.config.settings import DEMO, RunConfig
from afrieval.files.paths import user_path
from afrieval.models.backend_args import check_backend_args
from afrieval.models.identity import telling_args
from afrieval.models.processes import Processes, joined
from afrieval.run.plan import plan
from afrieval.tasks.cell import Cell, Plan
from afrieval.tasks.meta import END, llama
from afrieval.terminal import note, one_line, say

if TYPE_CHECKING:
    from afrieval.results.reader import RunFolder


def main(argv: list[str]) -> None:
    """Runs the missing cells of the run folder, writes its tables and prints them."""
    run(lambda: read_config(argv, command="run", kind=Run, needs_model=True))


def run(read: Callable[[], RunConfig]) -> None:
    """Runs a config, as `main` does.

    Args:
        read: returns the config; several processes report its errors only once.

    Raises:
        UserError: for missing data, a model that cannot be loaded, or a folder with another run.
    """
    with joined() as processes:
        with processes.together():
            config = read()
            check_backend_args(config.model)
            planned = plan(config)
        folder = user_path(config.run_dir) if config.run_dir else default_folder(config, planned)
        from afrieval.results.files import locked

        check: Callable[[], None] = _nothing
        with ExitStack() as stack:
            with processes.together():
                if processes.is_first:
                    for line in planned.lines:
                        note(line)
                    check = stack.enter_context(locked(folder))
            try:
                _run(config, planned, folder, processes, check)
            except Exception:
                check()  # a missing folder is the likely cause of any error
                raise


def _run(config: RunConfig, planned: Plan, folder: Path, processes: Processes, check: Callable[[], None]) -> None:
    from afrieval.report.summary import summarise
    from afrieval.results.reader import RunFolder
    from afrieval.run.evaluate import evaluate

    stored = RunFolder(folder)

    after_cell = partial(write_out, folder) if config.eval.write_out else _nothing
    try:
        evaluate(config, planned, stored, after_cell, processes, check)
    except KeyboardInterrupt:
        if processes.is_first and stored.names:
            summarise(stored)
        raise
    if processes.is_first:
        check()
        _report(config, planned, stored)


def _report(config: RunConfig, planned: Plan, stored: "RunFolder") -> None:
    from afrieval.report.summary import show, show_harness, summarise

    summary = summarise(stored)
    cells = {cell.name: cell for cell in summary.cells}
    record = stored.record
    unreviewed = {task: set(facts.get("unreviewed", {})) for task, facts in record.get("declared", {}).items()}
    shown = [cells[cell.name] for cell in planned.cells if cell.name in cells]
    supported = set(config.model.languages_supported)
    show(shown, record["identity"], unreviewed, supported, config.eval.numpy_random_seed)
    of_task = {task.record["task"]: task for task in summary.harness}
    if of_plan := [of_task[cell.name] for cell in planned.cells if cell.name in of_task]:
        show_harness(of_plan, summary.groups, config.task.clean_prompts)
    if config.model.model_name == DEMO:
        generated = {cell.coordinates.answer_form == "generate" for cell in planned.cells}
        kinds = {False: "scores at chance level", True: "unparsed answers"}
        expected = " and ".join(words for kind, words in kinds.items() if kind in generated)
        say(f"The demo model is random: {expected} are expected.")
    say(f"Run folder: {one_line(stored.path)}")


def _nothing(*cell: Cell) -> None:
    """Does nothing, in place of a check or of printing a cell's prompt."""


def default_folder(config: RunConfig, planned: Plan) -> Path:
    """Returns runs/<task>/<model>/<settings>, with the settings that need separate folders."""
    model, evaluation = config.model, config.eval
    places = [cell.coordinates for cell in planned.cells]
    settings = [place.answer_form for place in places if place.answer_form][:1]
    given = evaluation.num_fewshot is not None or settings
    selection = [evaluation.fewshot_selection.replace("_", "-")] if evaluation.shots and settings else []
    settings += [f"{evaluation.shots}shot" if given else "own-shots", *selection]
    if evaluation.shots or any(place.shots for place in places):
        settings += [f"seed{evaluation.fewshot_random_seed}"]
    settings += ["translate"] if config.task.variant == "translate" else []
    settings += [f"max{evaluation.max_gen_toks}"] if evaluation.max_gen_toks else []
    settings += ["clean"] if config.task.clean_prompts and config.wants_harness else []
    settings += [model.model_type] if model.model_type != "hf" else []
    settings += ["chat"] if model.chat_template else []
    settings += ["thinks"] if model.thinking_end else []
    settings += [model.dtype] if model.dtype != "auto" else []
    if (args := telling_args(model)) != "{}":
        settings.append("args" + _short_hash(args))
    settings += [name] if (name := _other_evals(config)) else []
    settings += ["samples"] if config.data.source == "samples" else []
    name = str(model.model_name)
    name = folder.resolve().name if (folder := user_path(name)).is_dir() else name.replace("/", "__")
    revision = "" if model.revision == "main" else f"@{model.revision.replace('/', '__')}"
    return Path("runs") / _task_folder(config) / f"{name}{revision}" / "-".join(settings)


def _other_evals(config: RunConfig) -> str:
    """Returns the model whose evaluation data set is used, if it is not the evaluated one."""
    evals = llama(str(config.task.evals_dataset).removesuffix(END))
    return evals.name if evals and evals != llama(config.model.model_name) else ""


def _task_folder(config: RunConfig) -> str:
    """Returns the tasks' names, shortened if long; templates are without languages."""
    template = re.sub(r"{{.*?}}", "LANG", config.task.task_template or "")
    names = [*config.task_names, *(n.strip() for n in template.split(",") if n.strip()), *config.harness_names]
    joined = "+".join(re.sub(r"[^\w.()-]+", "-", name) for name in names)
    return joined if len(joined) <= 100 else f"{joined[:80]}-{_short_hash(joined)}"


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]
