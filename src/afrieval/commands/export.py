"""`afrieval export`: task files for other programs."""

from afrieval.commands.options import Export
from afrieval.config.arguments import read_given, run_config
from afrieval.config.memorisation import MEMORISATION
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.terminal import note, say


def main(argv: list[str]) -> None:
    """Writes the files, and prints a command that uses them.

    Raises:
        UserError: for a missing or invalid option, or a folder that is not empty.
    """
    asked, given = read_given(Export, argv, "export")
    folder, config = user_path(asked.folder), run_config(given, needs_model=False, needs_task=False)
    if config.wants_harness:
        raise UserError("the harness' own tasks cannot be exported", "remove task.harness_tasks and task.task_template")
    if config.asks_memorisation:
        raise UserError(f"{MEMORISATION} cannot be exported: the harness has no such task", "run it with afrieval")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists and is not empty", "name a new folder, or delete that one")
    from afrieval.harness.export import definitions, unfitted, write_definitions

    found = definitions(config)
    write_definitions(found, folder)
    example = next((name for name, definition in found.items() if "group" in definition), next(iter(found)))
    for name, what in unfitted(found, config).items():
        note(f"{name}: the harness does not {what}, and may cut the beginning of prompts that are too long")
    say(f"wrote {len(found)} tasks and groups, with data from {config.data.source}, for example:")
    say(f"  lm_eval --include_path {folder} --tasks {example} --model hf --model_args pretrained=MODEL")
