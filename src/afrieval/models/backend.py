"""A backend: how models of one `model.model_type` are checked and loaded, and what is known of them before that."""

from collections.abc import Collection
from typing import Any, ClassVar

from afrieval._util.errors import UserError
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.base import Capabilities, LanguageModel
from afrieval.models.processes import Processes

LOADED_HERE = ("revision", "dtype", "device", "trust_remote_code", "parallelize", "add_bos_token")


class Backend:
    """The base class of backends, which imports no library that takes long; docs/adding-a-backend.md has an example.

    A backend defines `load` and `capabilities`, and what differs of the rest.

    Attributes:
        name: its `model.model_type`.
        local: whether the weights are loaded into this process: random generators are seeded, files can be checked
            before, and trying a model costs nothing.
        has_engine: whether the engine answers, as `model.engine` says; otherwise the backend's own code does.
        served: whether the model is behind a server that `model.api` describes.
        per_run: whether a model counts the answers of one run, so that each run loads its own.
        needs_gpu: whether it runs on GPUs only.
        recorded: whether its answers were recorded.
        package: that it needs, and that the suite does not install.
        library: the package that runs its models on the user's own machine; empty if none is known.
        source: what computes its likelihoods, in words; "the backend NAME" if empty.
    """

    local: ClassVar[bool] = False
    has_engine: ClassVar[bool] = False
    served: ClassVar[bool] = False
    per_run: ClassVar[bool] = False
    needs_gpu: ClassVar[bool] = False
    recorded: ClassVar[bool] = False
    package: ClassVar[str] = ""
    library: ClassVar[str] = ""
    source: ClassVar[str] = ""

    def __init__(self, name: str):
        self.name = name

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> LanguageModel:
        """Returns the loaded model, or raises UserError."""
        raise NotImplementedError

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns a model's capabilities before it is loaded; UserError if backend or package are missing."""
        raise NotImplementedError

    def check(self, config: ModelConfig) -> None:
        """Raises UserError for the first setting or argument that the backend does not support: here for any."""
        check_unsupported(config)
        for name in config.backend_args:
            raise UserError(f"model.backend_args.{name} is not supported by {config.model_type}", "remove it")

    def check_key(self, config: ModelConfig) -> None:
        """Raises UserError if a key is missing without which the model cannot be asked."""

    def arguments(self, config: ModelConfig, evaluation: EvalConfig) -> dict[str, Any]:
        """Returns the arguments of the class that is loaded; empty if there is none."""
        return {}

    def identity(self, config: ModelConfig) -> dict[str, Any]:
        """Returns the `backend_args` that identify a model: by default, all."""
        return dict(config.backend_args)


def check_unsupported(config: ModelConfig, supported: Collection[str] = ()) -> dict[str, Any]:
    """Rejects settings of models that are loaded here, except `supported` ones; returns those of them that differ."""
    changed = {name: value for name in LOADED_HERE if (value := getattr(config, name)) != getattr(ModelConfig, name)}
    for name, value in changed.items():
        if name not in supported:
            raise UserError(f"model.{name} ({value!r}) is not supported by {config.model_type}", "remove it")
    return changed
