"""`afrieval llama-command`: the command of lm_eval that does what `afrieval llama` does, and the task files for it."""

from dataclasses import replace
from pathlib import Path

from afrieval.commands.llama import recipe_and_config
from afrieval.config.settings import DEMO, RunConfig
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.harness.command import lm_eval_command
from afrieval.tasks.meta import GROUPS
from afrieval.tasks.select import chosen_tasks
from afrieval.terminal import note, say

USAGE = """usage: afrieval llama-command FILE [options of afrieval run]

Writes task files into the work_dir that FILE names, and prints the command of lm_eval that evaluates them as `afrieval
llama FILE` does. The package afrieval must be installed where that command runs.
"""


def main(argv: list[str]) -> None:
    """Writes task files and prints a command; nothing else goes to standard output.

    Raises:
        UserError: for a key, value or combination that cannot be right, or a work_dir that holds something else.
    """
    recipe, config = recipe_and_config(argv, USAGE)
    names = [spec.name for spec in chosen_tasks(config)]  # refuses what cannot be right
    if config.model.model_type == "vllm":
        from afrieval.models.backends.vllm import check_gpus, vllm_arguments

        check_gpus(vllm_arguments(config.model, config.eval))
    from afrieval.harness.export import definitions, write_definitions

    found, folder = definitions(config), user_path(recipe.work_dir)
    _clear(folder)
    write_definitions(found, folder)
    note(f"wrote {', '.join(names)} to {folder}")
    say(lm_eval_command(_with_whole_path(config), recipe, folder))


def _with_whole_path(config: RunConfig) -> RunConfig:
    """Returns the config with a model's folder that is found from wherever lm_eval is started."""
    model = user_path(str(config.model.model_name))
    if config.model.model_name == DEMO or not model.is_dir():
        return config
    return replace(config, model=replace(config.model, model_name=str(model.resolve())))


def _clear(folder: Path) -> None:
    """Takes task files of earlier calls out of a folder, which lm_eval would read too; refuses to touch other files."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"work_dir {folder} is no folder", "name another")
    there = sorted(folder.iterdir()) if folder.exists() else []
    starts = (b"task: meta_", *(f"group: {group}".encode() for group in GROUPS))
    for path in there:
        if path.suffix != ".yaml" or not path.is_file() or not path.read_bytes().startswith(starts):
            raise UserError(f"work_dir {folder} holds {path.name}, which is no task file of ours", "name a new folder")
    for path in there:
        path.unlink()
