"""The lm_eval command that is equivalent to a recipe of Meta's."""

import shlex
from pathlib import Path

from afrieval.config.recipe import Recipe
from afrieval.config.settings import RunConfig
from afrieval.errors import UserError
from afrieval.models.backends.vllm import vllm_arguments
from afrieval.models.load import hf_arguments


def lm_eval_command(config: RunConfig, recipe: Recipe, tasks: Path) -> str:
    """Returns the equivalent command of the harness, for a shell.

    Args:
        config: the recipe, with the user's options.
        recipe: all keys; verbosity and show_config are not in the config.
        tasks: folder with the exported task files.

    Raises:
        UserError: for a sample of documents, which lm_eval cannot draw.
    """
    model, evaluation = config.model, config.eval
    if evaluation.sample is not None:
        raise UserError("eval.sample has no equivalent in a command of lm_eval", "leave it out, or give --eval.limit")
    arguments = vllm_arguments(model, evaluation) if model.model_type == "vllm" else hf_arguments(model)
    words = ["lm_eval", "--model", model.model_type, "--model_args"]
    words += [",".join(f"{key}={value}" for key, value in arguments.items() if value is not None)]
    words += ["--tasks", ",".join(config.task_names), "--include_path", str(tasks.resolve())]
    # not into the run folder: lm_eval's sample files have names like those of a run
    words += ["--batch_size", str(evaluation.batch_size), "--output_path", f"{config.run_dir}-lm_eval"]
    seeds = (evaluation.random_seed, evaluation.numpy_random_seed, evaluation.torch_random_seed)  # in lm_eval's order
    words += ["--seed", ",".join(map(str, (*seeds, evaluation.fewshot_random_seed)))]
    words += ["--device", model.device] if model.device else []
    words += ["--limit", str(evaluation.limit)] if evaluation.limit else []
    words += ["--log_samples"] if evaluation.log_samples else []
    words += ["--show_config"] if recipe.show_config else []
    return f"LMEVAL_LOG_LEVEL={recipe.verbosity} {shlex.join(words)}"
