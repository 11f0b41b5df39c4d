"""The suite's backends, as the registry has them; modules that take long to import are imported when they are used."""

from collections.abc import Sequence
from typing import Any

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backend import Backend
from afrieval.models.base import ONE_CELL, Capabilities, LanguageModel
from afrieval.models.processes import Processes

# Arguments of API backends that change how a server is reached, but not which model answers.
FREE_ARGS = ("batch_size", "ca_cert_path", "max_retries", "num_concurrent", "timeout", "verify_certificate")


class HFBackend(Backend):
    """Models of transformers, which the engine runs."""

    local = has_engine = True
    library = "transformers"

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> LanguageModel:
        """Returns the model; its files are validated first, and it is tried once loaded."""
        from afrieval.models.loading import load_hf

        return load_hf(config, evaluation, processes)

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns the capabilities of a model: all there are."""
        return Capabilities(max_length=_length(config), tokens=True)

    def check(self, config: ModelConfig) -> None:
        """Checks arguments of the backend, and by name those that it forwards to transformers."""
        from afrieval.models.backend_args import check_hf

        check_hf(config)

    def arguments(self, config: ModelConfig, evaluation: EvalConfig) -> dict[str, Any]:
        """Returns the arguments of the harness' class, except device and batch size."""
        from afrieval.models.loading import hf_arguments

        return hf_arguments(config)


class VLLMBackend(Backend):
    """Models that vLLM runs on GPUs."""

    local = needs_gpu = True
    package = library = "vllm"
    source = "vLLM"

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> LanguageModel:
        """Returns the model; its files are validated first, and it is tried once loaded."""
        from afrieval.models.loading import load_vllm_model

        return load_vllm_model(config, evaluation, processes)

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns the capabilities of a model: all but details of single tokens."""
        return Capabilities(max_length=_length(config))

    def check(self, config: ModelConfig) -> None:
        """Checks arguments of the backend, and those that it forwards if vLLM is installed."""
        from afrieval.models.backend_args import check_vllm

        check_vllm(config)

    def arguments(self, config: ModelConfig, evaluation: EvalConfig) -> dict[str, Any]:
        """Returns the arguments of the harness' class, except the batch size."""
        from afrieval.models.backends.vllm import vllm_arguments

        return vllm_arguments(config, evaluation)


def _length(config: ModelConfig) -> int | None:
    return config.backend_args.get("max_length") or config.backend_args.get("max_model_len")


class OpenAIBackend(Backend):
    """Models behind an OpenAI-compatible server."""

    served = per_run = True

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> LanguageModel:
        """Returns the model, without sending a request."""
        from afrieval.models.openai.model import load_openai

        return load_openai(config, evaluation, processes)

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns the capabilities of a server, which its settings state."""
        from afrieval.models.openai.settings import api_capabilities

        return api_capabilities(config.api)

    def check(self, config: ModelConfig) -> None:
        """Rejects settings that such a server does not have, invalid addresses, and missing prices or packages."""
        from afrieval.models.openai.settings import check_api

        check_api(config)

    def check_key(self, config: ModelConfig) -> None:
        """Raises UserError if the server needs a key that the environment does not have."""
        from afrieval.models.openai.settings import key_of

        key_of(config.api)


class RecordedBackend(Backend):
    """Recorded answers: row n of a file has the answer to document n."""

    per_run = recorded = True
    source = "the answer file"

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> LanguageModel:
        """Returns the recorded answers as a model."""
        from afrieval.models.backends.recorded import load_recorded

        return load_recorded(config)

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns the capabilities of recorded answers, which are those of one cell."""
        return ONE_CELL

    def check(self, config: ModelConfig) -> None:
        """Rejects settings that recorded answers do not have, and missing ones."""
        from afrieval.models.backends.recorded import check_recorded

        check_recorded(config)

    def identity(self, config: ModelConfig) -> dict[str, Any]:
        """Returns the arguments that identify recorded answers: the content of the file, wherever it is."""
        from afrieval.models.backends.recorded import recorded_identity

        return recorded_identity(config)


class HarnessBackend(Backend):
    """Models of the harness' other backends, whose classes say what they can do; it refuses unknown names.

    Args:
        name: as for other backends.
        registered: the backends that are no such ones, for a hint.
    """

    def __init__(self, name: str, registered: Sequence[str] = ()):
        super().__init__(name)
        self._registered = registered

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> LanguageModel:
        """Returns the model as the harness has it."""
        from afrieval.models.loading import load_harness

        return load_harness(config, evaluation)

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns the capabilities of the backend, as its class and its settings tell."""
        from afrieval.models.capabilities import harness_capabilities

        return harness_capabilities(config, self._registered)

    def check(self, config: ModelConfig) -> None:
        """Checks arguments of the backend, and addresses, keys and packages of API models."""
        from afrieval.models.backend_args import check_harness

        check_harness(config, self._registered)

    def arguments(self, config: ModelConfig, evaluation: EvalConfig) -> dict[str, Any]:
        """Returns the arguments of the harness' class."""
        from afrieval.models.backends.harness import other_arguments

        return other_arguments(config, evaluation)

    def identity(self, config: ModelConfig) -> dict[str, Any]:
        """Returns the arguments that identify a model: not how its server is reached."""
        return {name: value for name, value in config.backend_args.items() if name not in FREE_ARGS}
