"""The keys of Meta's recipe for the harness, eval_config.yaml, as settings of a run.

Recipe: llama-cookbook, end-to-end-use-cases/benchmarks/llm_eval_harness/meta_eval.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Gt, Le, MinLen

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.schema import CLOSED, Positive
from afrieval._util.yaml_files import read_as
from afrieval.config.files import Settings

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
