"""The registry of backends: one entry each, with all that the suite knows of a backend before it loads a model.

A new backend is an entry here and a module that loads it. Nothing else asks which backend a model has.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from afrieval.config.sections import OPENAI
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.base import ONE_CELL, Capabilities, LanguageModel
from afrieval.models.processes import Processes


@dataclass(frozen=True)
class Backend:
    """What the suite knows of a backend. Functions are `module:name`, imported when they are called.

    Attributes:
        name: its `model.model_type`.
        loader: (ModelConfig, EvalConfig, Processes) -> LanguageModel.
        can: its capabilities, or the function (ModelConfig) -> Capabilities that finds them.
        checker: (ModelConfig) -> None; raises UserError for settings and arguments that it does not support.
        argument_maker: (ModelConfig, EvalConfig) -> arguments of the class that is loaded.
        identifier: (ModelConfig) -> backend_args that identify the model, if not all of them do.
        local: whether the weights are loaded into this process: random generators are seeded, files can be checked
            before, and trying a model costs nothing.
        has_engine: whether the engine answers, as `model.engine` says; otherwise the backend's own code does.
        served: whether the model is behind a server that `model.api` describes.
        per_run: whether a model counts the answers of one run, so that each run loads its own.
        needs_gpu: whether it runs on GPUs only.
        package: that it needs, and that the suite does not install.
        source: what computes its likelihoods, for people; "the backend NAME" if empty.
    """

    name: str
    loader: str
    can: Capabilities | str
    checker: str = ".backend_args:check_without_arguments"
    argument_maker: str = ""
    identifier: str = ""
    local: bool = False
    has_engine: bool = False
    served: bool = False
    per_run: bool = False
    needs_gpu: bool = False
    package: str = ""
    source: str = ""

    @property
    def recorded(self) -> bool:
        """Whether its answers were recorded."""
        return isinstance(self.can, Capabilities) and self.can.recorded

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> LanguageModel:
        """Returns the loaded model, or raises UserError."""
        loaded: LanguageModel = _function(self.loader)(config, evaluation, processes)
        return loaded

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns a model's capabilities before it is loaded; UserError if backend or package are missing."""
        if isinstance(self.can, Capabilities):
            return self.can
        found: Capabilities = _function(self.can)(config)
        return found

    def check(self, config: ModelConfig) -> None:
        """Raises UserError for the first setting or argument that the backend does not support."""
        _function(self.checker)(config)

    def arguments(self, config: ModelConfig, evaluation: EvalConfig) -> dict[str, Any]:
        """Returns the arguments of the class that is loaded; empty if there is none."""
        found: dict[str, Any] = _function(self.argument_maker)(config, evaluation) if self.argument_maker else {}
        return found

    def identity(self, config: ModelConfig) -> dict[str, Any]:
        """Returns the `backend_args` that identify a model."""
        found: dict[str, Any] = _function(self.identifier)(config) if self.identifier else dict(config.backend_args)
        return found


def _function(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module, __package__), name)


_ALL = (
    Backend(
        "hf", ".load:load_hf", ".capabilities:of_hf", ".backend_args:check_hf", ".load:hf_arguments",
        local=True, has_engine=True,
    ),
    Backend(
        "vllm", ".load:load_vllm_model", ".capabilities:of_vllm", ".backend_args:check_vllm",
        ".backends.vllm:vllm_arguments", local=True, needs_gpu=True, package="vllm", source="vLLM",
    ),
    Backend(
        OPENAI, ".openai.model:load_openai", ".capabilities:of_api", ".openai.settings:check_api",
        identifier=".model_identity:of_server", served=True, per_run=True,
    ),
    Backend(
        "recorded", ".backends.recorded:load_recorded", ONE_CELL, ".backends.recorded:check_recorded",
        identifier=".backends.recorded:recorded_identity", per_run=True, source="the answer file",
    ),
)  # fmt: skip
BACKENDS = {backend.name: backend for backend in _ALL}


def backend_of(model_type: str) -> Backend:
    """Returns the entry of a backend; all other backends of the harness, and unknown ones, share one kind of entry.

    An unknown name is rejected by `Backend.capabilities` and `Backend.check`.
    """
    return BACKENDS.get(model_type) or Backend(
        model_type, ".load:load_harness", ".capabilities:of_harness", ".backend_args:check_harness",
        ".backends.harness:other_arguments", ".model_identity:of_server",
    )  # fmt: skip
