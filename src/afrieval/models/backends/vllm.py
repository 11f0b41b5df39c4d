"""The harness' vllm backend."""

import os
from importlib.util import find_spec
from typing import Any

from afrieval._util.errors import UserError
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backend import Backend
from afrieval.models.backend_args import arguments_of_vllm, check_arguments, signature
from afrieval.models.backends.shared_prefixes import VLLMLikelihoods
from afrieval.models.base import Capabilities, LanguageModel
from afrieval.models.chat_template import KeepsSystemText
from afrieval.models.engine.text_ends import leave_texts_open
from afrieval.models.load_errors import loading
from afrieval.models.loading import begin, check_parts, loadable, stated_length, tried
from afrieval.models.processes import Processes

INSTALL = "install 'vllm>=0.33,<0.34' in a separate environment; see 'Models' in the documentation"


class VLLMBackend(Backend):
    """Models that vLLM runs on GPUs."""

    local = needs_gpu = True
    package = library = "vllm"
    source = "vLLM"

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> LanguageModel:
        """Returns the model, on the GPUs given by its `backend_args`; its files are validated first, and it is tried.

        Raises:
            UserError: if vLLM is not installed, GPUs are missing, or a setting is not supported.
        """

        def loaded() -> Any:
            arguments, model = self.arguments(config, evaluation), backend()
            check_gpus(arguments)
            lm = model(**{"batch_size": evaluation.batch_size, **arguments})
            leave_texts_open(lm)
            return lm

        begin(evaluation)
        check_parts(config, processes)
        return tried(config, loading(config, loaded))

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns the capabilities of a model: all but details of single tokens."""
        return Capabilities(max_length=stated_length(config))

    def check(self, config: ModelConfig) -> None:
        """Checks arguments of the backend, and those that it forwards if vLLM is installed."""
        if config.backend_args:
            check_arguments(config, signature("models/vllm_causallms.py", "VLLM"), arguments_of_vllm())

    def arguments(self, config: ModelConfig, evaluation: EvalConfig) -> dict[str, Any]:
        """Returns the arguments of the harness' class, except the batch size; `backend_args` override them.

        vLLM chooses how many answers to generate at once, unless `backend_args` has max_num_seqs:
        the harness would use `max_batch_size` as that number, not as the start of a search.

        Raises:
            UserError: for a setting that has another name in vLLM.
        """
        if config.device not in (None, "cuda"):
            message = f"model.device {config.device!r} is not supported by vllm, which uses all visible GPUs"
            raise UserError(message, "remove it, and set CUDA_VISIBLE_DEVICES")
        if config.parallelize:
            hint = "give model.backend_args.tensor_parallel_size, the number of GPUs for one model"
            raise UserError("model.parallelize is not supported by vllm", hint)
        return {
            "pretrained": loadable(config),
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
        raise UserError(f"the vllm backend needs the package {e.name}", INSTALL) from None

    class KeepingVLLM(LanguageModel, KeepsSystemText, VLLMLikelihoods, VLLM):
        """The harness' class, except that system texts are kept, and contexts computed once."""

        @property
        def longest_scored(self) -> int:
            """One token less than the context: vLLM writes at least one."""
            return int(self.max_length) - 1

        @property
        def template_arguments(self) -> dict[str, Any]:
            """Arguments of the chat template, apart from the chat."""
            settings = {"chat_template": self.hf_chat_template, "enable_thinking": self.enable_thinking}
            return {**settings, **self.chat_template_args}

        def modify_gen_kwargs(self, *args: Any, **kwargs: Any) -> Any:
            """Returns options of vLLM with the tokens that end a turn of the chat template."""
            options, *rest = super().modify_gen_kwargs(*args, **kwargs)
            return {**({"stop_token_ids": list(self.turn_ends)} if self.turn_ends else {}), **options}, *rest

    return KeepingVLLM


def check_gpus(arguments: dict[str, Any]) -> None:
    """Rejects requests for more GPUs than available, for which vLLM could wait forever.

    The harness runs several copies of a model with ray. In a ray cluster, set by RAY_ADDRESS, GPUs
    of other machines count too. Machines without GPUs are not checked: vLLM may be built for CPUs.

    Raises:
        UserError: if there are too few GPUs, or ray is not installed.
    """
    copies = int(arguments.get("data_parallel_size", 1))
    needed = int(arguments.get("tensor_parallel_size", 1)) * copies
    if copies > 1 and find_spec("ray") is None:
        hint = "run `pip install ray` where vllm is installed, or give 1"
        raise UserError(f"backend_args.data_parallel_size is {copies}, but more than 1 needs the package ray", hint)
    import torch

    if "RAY_ADDRESS" not in os.environ and needed > max(1, present := torch.cuda.device_count()):
        raise UserError(
            f"backend_args.tensor_parallel_size x data_parallel_size is {needed} GPUs, but there are only {present}",
            "lower --model.backend_args.tensor_parallel_size or data_parallel_size, or check CUDA_VISIBLE_DEVICES",
        )
