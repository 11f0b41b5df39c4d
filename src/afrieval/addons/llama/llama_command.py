"""`afrieval llama`: Meta's evaluations of Llama 3, from a file with the keys of Meta's recipe, eval_config.yaml.

Recipe: llama-cookbook, end-to-end-use-cases/benchmarks/llm_eval_harness/meta_eval.
"""

import logging
import shlex
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import yaml
from annotated_types import Gt, Le, MinLen

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped
from afrieval._util.schema import CLOSED, Positive
from afrieval._util.terminal import note, say
from afrieval._util.yaml_files import read_as
from afrieval.addons.llama.evaluations import GROUPS
from afrieval.addons.llama.llama_options import LlamaCommand
from afrieval.config.arguments import read_given
from afrieval.config.files import Settings, run_config
from afrieval.config.settings import DEMO, RunConfig
from afrieval.exchange.lm_eval_export import definitions, write_definitions
from afrieval.models.backends.vllm import check_gpus
from afrieval.models.processes import joined
from afrieval.models.registry import backend_of
from afrieval.tasks.declaration.selection import chosen_tasks
from afrieval.tools.run_and_show import run

LOGGERS = ("afrieval", "lm_eval", "vllm")
Text = Annotated[str, MinLen(1)]


# The arguments of each backend, and the keys of a recipe that give them.
OF_VLLM = ("tensor_parallel_size", "data_parallel_size", "gpu_memory_utilization", "max_model_len")
ARGUMENTS = {"vllm": {name: name for name in OF_VLLM}, "hf": {"max_length": "max_model_len"}}


@dataclass(frozen=True)
class Recipe:
    """The keys of the recipe's file, with the recipe's defaults; comments in that file say what each is for."""

    __pydantic_config__ = CLOSED

    model_name: Text = "meta-llama/Llama-3.2-3B-Instruct"
    evals_dataset: Text | None = None
    tasks: Text = "meta_instruct"
    model_type: Literal["vllm", "hf"] = "vllm"
    tensor_parallel_size: Positive = 1
    data_parallel_size: Positive = 1
    gpu_memory_utilization: Annotated[float, Gt(0), Le(1)] = 0.9
    max_model_len: Positive = 8192
    batch_size: Positive | str = "auto"
    output_path: Text = "eval_results"
    limit: Positive | None = None
    verbosity: Literal["CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG"] = "INFO"
    log_samples: bool = True
    work_dir: Text = "./work_dir"
    template_dir: Text | None = None
    show_config: bool = False


def read_recipe(path: Path) -> Recipe:
    """Returns the recipe in a file."""
    recipe = read_as(Recipe, path)
    _check_backend(recipe, str(path))
    return recipe


def _check_backend(recipe: Recipe, where: str) -> None:
    """Refuses values that the backend does not support."""
    for name in ("tensor_parallel_size", "data_parallel_size"):
        if name not in ARGUMENTS[recipe.model_type].values() and getattr(recipe, name) != 1:
            raise UserError(
                f"{where}: {name} is {getattr(recipe, name)}, which only vllm supports",
                "give 1, or model_type vllm; to use several GPUs with hf, start one process per GPU with torchrun",
            )


def with_backend(recipe: Recipe, name: str) -> Recipe:
    """Returns a recipe for another backend."""
    if name not in ("vllm", "hf"):
        hint = "use hf or vllm; afrieval run supports other backends, with the same tasks"
        raise UserError(f"model.model_type {name!r} is not supported for recipes", hint)
    changed = replace(recipe, model_type="vllm" if name == "vllm" else "hf")
    _check_backend(changed, "the recipe")
    return changed


def settings(recipe: Recipe) -> Settings:
    """Returns the settings of a run that a recipe gives, by name."""
    model = recipe.model_name
    folder = user_path(model)
    name = folder.name if folder.is_dir() else model.replace("/", "__")
    tasks = [task.strip() for task in recipe.tasks.split(",")]
    return {
        "model.model_name": model,
        "model.model_type": recipe.model_type,
        "model.add_bos_token": True,
        "model.backend_args": {name: getattr(recipe, key) for name, key in ARGUMENTS[recipe.model_type].items()},
        "task.task_name": tasks[0] if len(tasks) == 1 else tasks,
        "task.evals_dataset": recipe.evals_dataset,
        "task.folder": recipe.template_dir,
        "eval.batch_size": recipe.batch_size,
        "eval.limit": recipe.limit,
        "eval.log_samples": recipe.log_samples,
        "run_dir": str(user_path(recipe.output_path) / name),
    }


def main(argv: list[str]) -> None:
    """Runs a recipe, or prints the lm_eval command for it."""
    with joined() as processes:
        with processes.barrier():  # an error of all processes is reported once
            options, flags = read_given(LlamaCommand, argv, "llama")
            recipe = read_recipe(here_or_shipped(user_path(options.file)))
            config = run_config(settings(recipe) | flags, needs_model=True)
            if config.model.model_type != recipe.model_type:  # backends have different arguments
                recipe = with_backend(recipe, config.model.model_type)
                config = run_config(settings(recipe) | flags, needs_model=True)
        if options.print_command:
            print_command(recipe, config)
            return
        for name in LOGGERS:
            logging.getLogger(name).setLevel(recipe.verbosity)
        if recipe.show_config:
            say(yaml.safe_dump(asdict(config), sort_keys=False))
        run(config, processes)


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


def lm_eval_command(config: RunConfig, recipe: Recipe, tasks: Path) -> str:
    """Returns the equivalent command of the harness, for a shell.

    Raises:
        UserError: for a sample of documents, which lm_eval cannot draw.
    """
    model, evaluation = config.model, config.eval
    if evaluation.sample is not None:
        raise UserError("eval.sample has no equivalent in a command of lm_eval", "leave it out, or give --eval.limit")
    arguments = backend_of(model.model_type).arguments(model, evaluation)
    words = ["lm_eval", "--model", model.model_type, "--model_args"]
    words += [",".join(f"{key}={value}" for key, value in arguments.items() if value is not None)]
    words += ["--tasks", ",".join(config.task.names), "--include_path", str(tasks.resolve())]
    # not into the run folder: lm_eval's sample files are named as a run's
    words += ["--batch_size", str(evaluation.batch_size), "--output_path", f"{config.run_dir}-lm_eval"]
    seeds = (evaluation.random_seed, evaluation.numpy_random_seed, evaluation.torch_random_seed)  # in lm_eval's order
    words += ["--seed", ",".join(map(str, (*seeds, evaluation.fewshot_random_seed)))]
    words += ["--device", model.device] if model.device else []
    words += ["--limit", str(evaluation.limit)] if evaluation.limit else []
    words += ["--log_samples"] if evaluation.log_samples else []
    words += ["--show_config"] if recipe.show_config else []
    return f"LMEVAL_LOG_LEVEL={recipe.verbosity} {shlex.join(words)}"
