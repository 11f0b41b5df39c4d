"""`afrieval llama`: Meta's evaluations of Llama 3, from a file with the keys of Meta's recipe."""

import logging
import sys
from dataclasses import asdict

import yaml

from afrieval.commands.run import run
from afrieval.config.arguments import read_config
from afrieval.config.recipe import Recipe, flags, read_recipe, with_backend
from afrieval.config.settings import RunConfig
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.resources import here_or_shipped
from afrieval.terminal import say

USAGE = """usage: afrieval llama FILE [options of afrieval run]

Runs Meta's published Llama 3.1 and 3.2 evaluations. FILE has the keys of Meta's recipe; configs/llama/eval_config.yaml
is one, with a comment for each key. Options beat the file: --eval.limit 10, --model.model_name FOLDER.
"""
LOGGERS = ("afrieval", "lm_eval", "vllm")


def main(argv: list[str]) -> None:
    """Runs what a recipe asks for.

    Raises:
        UserError: for a key, value or combination that cannot be right.
    """
    run(lambda: _read(argv))


def _read(argv: list[str]) -> RunConfig:
    """Returns the config, with the log as loud as the recipe says, and the config printed if it says so."""
    recipe, config = recipe_and_config(argv, USAGE)
    for name in LOGGERS:
        logging.getLogger(name).setLevel(recipe.verbosity)
    if recipe.show_config:
        say(yaml.safe_dump(asdict(config), sort_keys=False))
    return config


def recipe_and_config(argv: list[str], usage: str) -> tuple[Recipe, RunConfig]:
    """Returns a recipe's keys, and the config that they and the flags after the file add up to.

    Args:
        argv: the file, then flags.
        usage: printed where the user asks for help.

    Raises:
        UserError: if no file is given, or what it says cannot be used.
        SystemExit: after printing help.
    """
    if not argv or "--help" in argv or "-h" in argv:
        say(usage)
        sys.exit(0)
    if argv[0].startswith("-"):
        raise UserError("the recipe's file is missing", "name it first: afrieval llama configs/llama/eval_config.yaml")
    recipe = read_recipe(here_or_shipped(user_path(argv[0])))
    config = read_config([*flags(recipe), *argv[1:]], command="llama", needs_model=True)
    if config.model.model_type != recipe.model_type:  # the backends take different arguments
        recipe = with_backend(recipe, config.model.model_type)
        config = read_config([*flags(recipe), *argv[1:]], command="llama", needs_model=True)
    return recipe, config
