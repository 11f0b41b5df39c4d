"""Our model config as the harness' vllm backend wants it."""

from pathlib import Path
from typing import Any

from afrieval.config import EvalConfig, ModelConfig
from afrieval.errors import UserError
from afrieval.models.chat import KeepsSystemText


def vllm_arguments(config: ModelConfig, evaluation: EvalConfig) -> dict[str, Any]:
    """Returns the backend's arguments; `backend_args` adds to them and wins.

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
        "pretrained": str(Path(str(config.model_name)).expanduser()),
        "revision": config.revision,
        "dtype": config.dtype,
        "trust_remote_code": config.trust_remote_code,
        "add_bos_token": config.add_bos_token,
        "batch_size": evaluation.batch_size,
        "max_batch_size": evaluation.max_batch_size,
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

    class KeepingVLLM(KeepsSystemText, VLLM):
        """The harness' class, with system texts kept."""

    return KeepingVLLM


def load_vllm(config: ModelConfig, evaluation: EvalConfig) -> Any:
    """Returns the model, on all GPUs that vLLM sees.

    Raises:
        UserError: if vLLM is not installed, or a setting does not go with it.
    """
    return backend()(**vllm_arguments(config, evaluation))
