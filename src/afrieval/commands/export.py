"""`afrieval export`: our tasks as files for other programs."""

from dataclasses import dataclass
from typing import Annotated, Literal

from afrieval.config.arguments import read_given, run_config
from afrieval.config.options import Options, Word
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.terminal import say


@dataclass(frozen=True)
class Export(Options):
    """Writes task files for lm_eval --include_path FOLDER.

    Without --task.task_name, all tasks are written except Meta's, which depend on a model. Prompts in English,
    prompts in the language itself and translated test sets get different names; --task.prompt_language and
    --task.variant have no effect. The package afrieval must be installed where lm_eval runs.

    Examples:
        afrieval export --to harness my-tasks --task.task_name afrimmlu --task.languages yor,hau
    """

    to: Literal["harness"]
    """Program that the files are for."""
    folder: Annotated[str, Word("FOLDER")]
    """Folder to write to. It must be new or empty."""


def main(argv: list[str]) -> None:
    """Writes the files, and says how to use them.

    Raises:
        UserError: for an option that is missing or not allowed, or a folder that is not empty.
    """
    asked, given = read_given(Export, argv, "export")
    folder, config = user_path(asked.folder), run_config(given, needs_model=False, needs_task=False)
    if config.wants_harness:
        raise UserError(
            "tasks of the harness cannot be exported to it", "leave task.harness_tasks and task.task_template out"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists and is not empty", "name a new folder, or delete that one")
    from afrieval.harness.export import definitions, write_definitions

    found = definitions(config)
    write_definitions(found, folder)
    example = next((name for name, definition in found.items() if "group" in definition), next(iter(found)))
    say(f"wrote {len(found)} tasks and groups, with data from {config.data.source}, for example:")
    say(f"  lm_eval --include_path {folder} --tasks {example} --model hf --model_args pretrained=MODEL")
