"""`afrieval llama`: Meta's evaluations of Llama 3, from a file with the keys of Meta's recipe."""

import logging
from dataclasses import asdict, replace
from pathlib import Path

import yaml

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped
from afrieval._util.terminal import note, say
from afrieval.cli.commands.run import run
from afrieval.cli.declarations.running import LlamaCommand
from afrieval.config.arguments import Settings, read_given, run_config
from afrieval.config.recipe import Recipe, read_recipe, settings, with_backend
from afrieval.config.settings import DEMO, RunConfig
from afrieval.exchange.lm_eval_export import definitions, lm_eval_command, write_definitions
from afrieval.models.backends.vllm import check_gpus
from afrieval.models.processes import joined
from afrieval.models.registry import backend_of
from afrieval.tasks.declaration.meta import GROUPS
from afrieval.tasks.declaration.selection import chosen_tasks

LOGGERS = ("afrieval", "lm_eval", "vllm")


def main(argv: list[str]) -> None:
    """Runs a recipe, or prints the lm_eval command for it."""
    with joined() as processes:
        with processes.barrier():  # an error of all processes is reported once
            options, flags = read_given(LlamaCommand, argv, "llama")
            recipe, config = _recipe_and_config(options.file, flags)
        if options.print_command:
            print_command(recipe, config)
            return
        for name in LOGGERS:
            logging.getLogger(name).setLevel(recipe.verbosity)
        if recipe.show_config:
            say(yaml.safe_dump(asdict(config), sort_keys=False))
        run(config, processes)


def _recipe_and_config(file: str, flags: Settings) -> tuple[Recipe, RunConfig]:
    """Returns a recipe, and the config made from it and the given settings."""
    recipe = read_recipe(here_or_shipped(user_path(file)))
    config = run_config(settings(recipe) | flags, needs_model=True)
    if config.model.model_type != recipe.model_type:  # backends have different arguments
        recipe = with_backend(recipe, config.model.model_type)
        config = run_config(settings(recipe) | flags, needs_model=True)
    return recipe, config


def print_command(recipe: Recipe, config: RunConfig) -> None:
    """Writes task files and prints a command, and nothing else, to standard output.

    Raises:
        UserError: for an invalid combination, or a work_dir with other files.
    """
    names = [spec.name for spec in chosen_tasks(config)]  # rejects invalid combinations
    backend = backend_of(config.model.model_type)
    if backend.needs_gpu:
        check_gpus(backend.arguments(config.model, config.eval))

    tasks, folder = definitions(config), user_path(recipe.work_dir)
    _clear(folder)
    write_definitions(tasks, folder)
    note(f"wrote {', '.join(names)} to {folder}")
    model = user_path(str(config.model.model_name))
    if config.model.model_name != DEMO and model.is_dir():  # lm_eval may be called elsewhere
        config = replace(config, model=replace(config.model, model_name=str(model.resolve())))
    say(lm_eval_command(config, recipe, folder))


def _clear(folder: Path) -> None:
    """Deletes task files of earlier calls, which lm_eval would load too; rejects other files."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"work_dir {folder} is not a folder", "name a new or empty folder")
    files = sorted(folder.iterdir()) if folder.exists() else []
    starts = (b"task: meta_", *(f"group: {group}".encode() for group in GROUPS))
    for path in files:
        if path.suffix != ".yaml" or not path.is_file() or not path.read_bytes().startswith(starts):
            raise UserError(
                f"work_dir {folder} contains {path.name}, which afrieval did not write", "name a new or empty folder"
            )
    for path in files:
        path.unlink()
