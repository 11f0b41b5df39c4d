"""`afrieval export`: task files and results for other programs."""

from pathlib import Path

from afrieval.commands.options import Export
from afrieval.config.arguments import read_given, run_config
from afrieval.config.memorisation import MEMORISATION
from afrieval.config.settings import RunConfig
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.terminal import note, say


def main(argv: list[str]) -> None:
    """Writes the files; prints a command that uses task files.

    Raises:
        UserError: for a missing or invalid option, or a folder that is not empty.
    """
    asked, given = read_given(Export, argv, "export")
    folder, config = user_path(asked.folder), run_config(given, needs_model=False, needs_task=False)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists and is not empty", "name a new folder, or delete that one")
    if asked.to == "harness":
        _tasks(config, folder, asked.run)
    else:
        _results(config, folder, asked.run, [name for name, _ in given])


def _results(config: RunConfig, folder: Path, run: str | None, given: list[str]) -> None:
    if run is None:
        raise UserError("--to open-unlearning needs a run", "give --run FOLDER")
    if others := [name for name in given if name.partition(".")[0] != "reference"]:
        raise UserError(f"--{others[0]} has no effect with --to open-unlearning", "leave it out")
    from afrieval.suites.unlearning_export import export_run

    for path in export_run(user_path(run), config.reference, folder):
        say(f"wrote {path}")


def _tasks(config: RunConfig, folder: Path, run: str | None) -> None:
    for name, value in (("run", run), ("reference", config.reference)):
        if value:
            raise UserError(f"--{name} has no effect with --to harness", "leave it out")
    if config.wants_harness:
        raise UserError("the harness' own tasks cannot be exported", "remove task.harness_tasks and task.task_template")
    if config.asks_memorisation:
        raise UserError(f"{MEMORISATION} cannot be exported: the harness has no such task", "run it with afrieval")
    from afrieval.harness.export import definitions, unfitted, write_definitions

    found = definitions(config)
    write_definitions(found, folder)
    example = next((name for name, definition in found.items() if "group" in definition), next(iter(found)))
    for name, what in unfitted(found, config).items():
        note(f"{name}: the harness does not {what}, and may cut the beginning of prompts that are too long")
    say(f"wrote {len(found)} tasks and groups, with data from {config.data.source}, for example:")
    say(f"  lm_eval --include_path {folder} --tasks {example} --model hf --model_args pretrained=MODEL")
