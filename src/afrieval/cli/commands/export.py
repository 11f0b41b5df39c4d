"""`afrieval export`: task files and results for other programs."""

from functools import partial
from pathlib import Path

from afrieval._util.errors import LINE, UserError
from afrieval._util.files import user_path
from afrieval._util.terminal import note, one_line, say, shortened
from afrieval._util.whole_files import filled
from afrieval.cli.declarations.exchange import ExportCommand
from afrieval.cli.registry import EXPORTERS
from afrieval.config.arguments import read_given
from afrieval.config.files import run_config
from afrieval.config.settings import RunConfig
from afrieval.exchange.every_eval_ever_export import write_records
from afrieval.exchange.hub_results import write_eval_results
from afrieval.exchange.lm_eval_results import write_harness_results
from afrieval.exchange.stored_runs import stored_runs
from afrieval.exchange.tidy import write_tidy
from afrieval.tasks.declaration.selection import named_folders

TASKS = "harness"
WRITERS = {
    "every-eval-ever": write_records,
    "harness-results": write_harness_results,
    "huggingface-eval-yaml": write_eval_results,
}


def main(argv: list[str]) -> None:
    """Writes the files; prints a command that uses task files."""
    options, settings = read_given(ExportCommand, argv, "export")
    folder, config = user_path(options.folder), run_config(settings, needs_model=False, needs_task=False)
    if options.to == TASKS:
        _tasks(config, folder, options.run)
        return

    allowed = "reference" if options.to in EXPORTERS else None
    if others := [name for name in settings if name.partition(".")[0] != allowed]:
        raise UserError(f"--{others[0]} has no effect with --to {options.to}", "leave it out")
    if not options.run:
        raise UserError(f"--to {options.to} needs a run", "give --run FOLDER")
    with filled(folder):
        runs = [user_path(run) for run in options.run]
        if options.to in EXPORTERS:
            paths = EXPORTERS[options.to](runs, folder, config.reference)
        else:
            paths = WRITERS.get(options.to, partial(write_tidy, form=options.to))(stored_runs(runs), folder)
    for path in paths:
        say(f"wrote {shortened(one_line(path), LINE)}")


def _tasks(config: RunConfig, folder: Path, runs: list[str]) -> None:
    for name, value in (("run", runs), ("reference", config.reference)):
        if value:
            raise UserError(f"--{name} has no effect with --to harness", "leave it out")
    if config.task.wants_harness:
        raise UserError("the harness' own tasks cannot be exported", "remove task.harness_tasks and task.task_template")
    if coded := config.task.coded:
        raise UserError(f"{coded} cannot be exported: the harness has no such task", "run it with afrieval")

    from afrieval.exchange.lm_eval_export import definitions, unfitted, write_definitions  # needs lm_eval itself

    with filled(folder):
        tasks = definitions(config)
        write_definitions(tasks, folder)
    example = next((name for name, definition in tasks.items() if "group" in definition), next(iter(tasks)))
    for name, what in unfitted(tasks, named_folders(config.task)).items():
        note(f"{name}: the harness does not {what}, and may cut the beginning of prompts that are too long")
    say(f"wrote {len(tasks)} tasks and groups, with data from {config.data.source}, for example:")
    say(f"  lm_eval --include_path {folder} --tasks {example} --model hf --model_args pretrained=MODEL")
