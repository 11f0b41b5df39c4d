"""`afrieval export`: our tasks as files for other programs."""

from pathlib import Path

from afrieval.config.arguments import read_config
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.terminal import say

USAGE = """usage: afrieval export --to harness FOLDER [options]

Writes task files for lm_eval --include_path FOLDER. The package afrieval must be installed where lm_eval runs.
Options are those of `afrieval run`; without --task.task_name, all tasks are written but Meta's, which depend on a
model. English and native prompts and translated test sets are written under names of their own, whatever
--task.prompt_language and --task.variant say.
"""
TARGETS = ("harness",)


def main(argv: list[str]) -> None:
    """Writes the files, and says how to use them.

    Raises:
        UserError: if the target or folder is missing, or the folder cannot be used.
    """
    if "--help" in argv or "-h" in argv:
        say(USAGE)
    folder, options = _target(argv)
    config = read_config(options, command="export", needs_model=False, needs_task=False)
    if config.wants_harness:
        raise UserError("harness tasks are known to the harness already", "leave them out of what is exported")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is there and not empty", "name a new folder, or delete that one")
    from afrieval.harness.export import definitions, write_definitions

    found = definitions(config)
    write_definitions(found, folder)
    example = next((name for name, definition in found.items() if "group" in definition), next(iter(found)))
    say(f"wrote {len(found)} tasks and groups, with data from {config.data.source}, for example:")
    say(f"  lm_eval --include_path {folder} --tasks {example} --model hf --model_args pretrained=MODEL")


def _target(argv: list[str]) -> tuple[Path, list[str]]:
    """Returns the folder, and the other arguments."""
    words = [part for word in argv for part in (word.split("=", 1) if word.startswith("--to=") else [word])]
    if "-h" in words or "--help" in words:
        return Path(), ["--help"]
    at = words.index("--to") if "--to" in words else len(words)
    target, folder = [*words[at + 1 : at + 3], "", ""][:2]
    if target not in TARGETS:
        raise UserError(f"--to is {target!r}" if target else "--to is missing", "write --to harness FOLDER")
    if not folder or folder.startswith("--"):
        raise UserError("the folder to write to is missing", "write --to harness FOLDER")
    return user_path(folder), words[:at] + words[at + 3 :]
