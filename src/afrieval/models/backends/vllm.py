"""Our model config as the harness' vllm backend wants it."""

import os
from importlib.util import find_spec
from typing import Any

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.models.base import Model
from afrieval.models.chat_template import KeepsSystemText


def vllm_arguments(config: ModelConfig, evaluation: EvalConfig) -> dict[str, Any]:
    """Returns the backend's arguments, but for the batch size; `backend_args` adds to them and wins.

    How many answers vLLM writes side by side is its own choice, unless `backend_args` has max_num_seqs: to the harness
    `max_batch_size` is that number, and not where a search begins.

    Raises:
        UserError: for a setting that vLLM has under another name.
    """
    if config.device not in (None, "cuda"):
        raise UserError(
            f"model.device is {config.device!r}, but vllm takes the GPUs that it sees",
            "leave it out, and set CUDA_VISIBLE_DEVICES",
        )
    if config.parallelize:
        raise UserError(
            "model.parallelize is for the hf backend",
            "for vllm give model.backend_args.tensor_parallel_size, the number of GPUs for one model",
        )
    return {
        "pretrained": str(user_path(str(config.model_name))),
        "revision": config.revision,
        "dtype": config.dtype,
        "trust_remote_code": config.trust_remote_code,
        "add_bos_token": config.add_bos_token,
        "seed": evaluation.torch_random_seed,
        **config.backend_args,
    }


def backend() -> Any:
    """Returns the harness' class.

    Raises:
        UserError: if vLLM is not installed.
    """
    try:
        from lm_eval.models.vllm_causallms import VLLM
    except ModuleNotFoundError as e:
        raise UserError(
            f"the vllm backend needs the package {e.name}",
            "run `pip install -e . 'vllm>=0.29,<0.31'` in an environment of its own; docs/models.md has more",
        ) from None

    class KeepingVLLM(Model, KeepsSystemText, VLLM):
        """The harness' class, with system texts kept."""

        @property
        def template_arguments(self) -> dict[str, Any]:
            """What this backend hands to its tokenizer's chat template, apart from the chat."""
            own = {"chat_template": self.hf_chat_template, "enable_thinking": self.enable_thinking}
            return {**own, **self.chat_template_args}

    return KeepingVLLM


def check_gpus(arguments: dict[str, Any]) -> None:
    """Refuses models that want more GPUs than there are: vLLM would say so minutes later, or wait for them forever.

    The harness runs several copies of a model with ray. GPUs of other machines count too in a ray cluster, which
    RAY_ADDRESS names. A machine without GPUs is left to vLLM, which may be built for processors.

    Raises:
        UserError: if there are too few GPUs, or ray is not installed.
    """
    copies = int(arguments.get("data_parallel_size", 1))
    needed = int(arguments.get("tensor_parallel_size", 1)) * copies
    if copies > 1 and find_spec("ray") is None:
        raise UserError(
            f"backend_args.data_parallel_size is {copies}, and the harness needs the package ray for more than 1",
            "run `pip install ray` where vllm is installed, or give 1",
        )
    import torch

    if "RAY_ADDRESS" not in os.environ and needed > max(1, present := torch.cuda.device_count()):
        raise UserError(
            f"backend_args.tensor_parallel_size x data_parallel_size asks for {needed} GPUs, and there are {present}",
            "lower --model.backend_args.tensor_parallel_size or data_parallel_size, or check CUDA_VISIBLE_DEVICES",
        )


def load_vllm(config: ModelConfig, evaluation: EvalConfig) -> Any:
    """Returns the model, on the GPUs that its `backend_args` ask for.

    Raises:
        UserError: if vLLM is not installed, there are too few GPUs, or a setting does not go with it.
    """
    arguments, model = vllm_arguments(config, evaluation), backend()
    check_gpus(arguments)
    return model(**{"batch_size": evaluation.batch_size, **arguments})
