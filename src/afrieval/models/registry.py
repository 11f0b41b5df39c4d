"""The registry of backends, which load models. Nothing else asks which backend a model has."""

from afrieval._util.errors import UserError
from afrieval._util.registry import Registry, blaming
from afrieval.config.api_settings import OPENAI, APIConfig
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backend import Backend
from afrieval.models.backends.harness import HarnessBackend
from afrieval.models.backends.recorded import RecordedBackend
from afrieval.models.backends.vllm import VLLMBackend
from afrieval.models.base import LanguageModel
from afrieval.models.loading import HFBackend
from afrieval.models.openai.openai_backend import OpenAIBackend
from afrieval.models.processes import ALONE, Processes

BACKENDS = Registry[type[Backend]](
    "backend",
    "afrieval.backends",
    {"hf": HFBackend, "vllm": VLLMBackend, OPENAI: OpenAIBackend, "recorded": RecordedBackend},
    needs=["load", "capabilities", "check", "check_key", "arguments", "identity"],
)


def backend_of(model_type: str) -> Backend:
    """Returns a backend; names that are not registered are those of the harness, or are rejected when it is used."""
    if model_type in BACKENDS:
        return BACKENDS[model_type](model_type)
    return HarnessBackend(model_type, [*BACKENDS])


def load_model(config: ModelConfig, evaluation: EvalConfig, processes: Processes = ALONE) -> LanguageModel:
    """Returns the loaded model; each process has its own."""
    check_backend_args(config)
    backend = backend_of(config.model_type)
    with blaming(f"the backend {backend.name}", backend):
        return backend.load(config, evaluation, processes)


def check_backend_args(config: ModelConfig) -> None:
    """Rejects settings of other backends, and arguments with unknown names or of other types than in the signature."""
    backend = backend_of(config.model_type)
    if config.api != APIConfig() and not backend.served:
        hint = f"give --model.model_type {_names('served')}, or leave model.api out"
        raise UserError(f"model.api is given, but model.model_type is {config.model_type}", hint)
    if config.engine == "tree" and not backend.has_engine:
        hint = f"leave model.engine out, or use model.model_type {_names('has_engine')}"
        raise UserError(f"model.engine tree is not supported with model.model_type {config.model_type}", hint)
    backend.check(config)


def _names(attribute: str) -> str:
    return " or ".join(name for name, backend in BACKENDS.items() if getattr(backend, attribute))
