"""Short names of daily options, and names that other programs have for options."""

import re
from collections.abc import Iterable
from dataclasses import fields

from afrieval._util.errors import UserError
from afrieval.config.options import Option
from afrieval.config.settings import ModelConfig

# Short names of settings, in the order of `--help`. Any other setting may be given by the last part of its name too.
DAILY = {
    "languages": "task.languages",
    "prompts": "task.prompts",
    "prompt_language": "task.prompt_language",
    "answer_form": "task.answer_form",
    "shots": "eval.num_fewshot",
    "sample": "eval.sample",
    "until": "eval.until",
    "limit": "eval.limit",
    "data": "data.source",
    "out": "run_dir",
    "device": "model.device",
    "dtype": "model.dtype",
    "batch_size": "eval.batch_size",
    "chat": "model.chat_template",
}
# What lm_eval, vLLM and people from habit call options; the first that a command has is meant.
ELSEWHERE = {
    "o": ("output", "run_dir"),
    "out": ("output", "run_dir"),
    "output_path": ("run_dir", "output"),
    "data_source": ("data.source",),
    "include_path": ("task.folder",),
    "apply_chat_template": ("model.chat_template",),
    "system_instruction": ("model.chat_system",),
    "model": ("model.model_name",),
    **dict.fromkeys(("task", "tasks"), ("tasks", "task", "task.task_name")),
    **dict.fromkeys(("lang", "language", "languages"), ("languages", "language", "task.languages")),
    "prompt": ("prompts", "task.prompts"),
}
ENGINE_ARGS = ("tensor_parallel_size", "data_parallel_size", "gpu_memory_utilization", "max_model_len")  # of vLLM
# Options of lm_eval that nothing here equals, with what comes near.
NOT_HERE = {
    "gen_kwargs": "each task declares how answers are generated; --eval.max_gen_toks limits their length",
    "seed": "give --eval.random_seed, --eval.fewshot_random_seed or --eval.torch_random_seed",
    "fewshot_as_multiturn": "with --chat, examples are turns of the chat wherever the template has turns",
    "use_cache": "answers are always kept in the run folder, and used again",
    "wandb_args": "give --log wandb, and --task.wandb_project for the project",
    "show_config": "run.yaml in the run folder has all settings of a run",
    "predict_only": "answers are always stored; afrieval score computes scores of stored answers again",
}
MODEL_ARGS = Option("model_args", str)  # of lm_eval; understood, and not shown in the help


def full_name(name: str, names: Iterable[str]) -> str:
    """Returns the option that a name is short for, or that other programs call so; the name itself if there is none.

    Args:
        name: with underscores and without the leading dashes, such as `shots`, `num_fewshot` or `language`.
        names: full names of a command's options, such as `eval.num_fewshot`.
    """
    names = list(names)
    if name in names:
        return name
    if name in ENGINE_ARGS and "model.backend_args" in names:
        return f"model.backend_args.{name}"
    meant = [*ELSEWHERE.get(name, ()), DAILY.get(name)]
    ends = [one for one in names if one.rpartition(".")[2] == name]
    return next((one for one in meant if one in names), ends[0] if len(ends) == 1 else name)


def model_args_flags(backend: str, model_args: str) -> list[tuple[str, str]]:
    """Returns names and texts of the options that `--model_args` of lm_eval stands for.

    Args:
        backend: what lm_eval calls `--model`.
        model_args: `pretrained=NAME,dtype=float16` and the like.
    """
    own_fields = {field.name for field in fields(ModelConfig)} - {"model_name"}
    flags = [("model.model_type", "hf" if backend in ("hf-auto", "huggingface") else backend)]
    for part in filter(None, model_args.split(",")):
        name, equals, text = part.partition("=")
        if not (equals and re.fullmatch(r"\w+", name)):
            raise UserError(f"--model_args has {part!r}", "write NAME=VALUE, separated by commas")
        is_name = name in ("pretrained", "model")
        flags.append(
            ("model.model_name" if is_name else f"model.{'' if name in own_fields else 'backend_args.'}{name}", text)
        )
    if "model.model_name" not in dict(flags):
        raise UserError("--model_args names no model", "add pretrained=NAME, a hub id or a folder")
    return flags
