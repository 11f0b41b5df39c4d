"""Loads models of the harness' other backends."""

import hashlib
import json
import math
from typing import Any

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.errors import UserError
from afrieval.models.base import Model
from afrieval.models.capabilities import backend_class, capabilities, is_server, parameters, tokenizer_backend
from afrieval.models.credentials import bare_address

NAMES = ("model", "pretrained", "engine", "model_id", "path")  # backends' arguments for the model's name
SETTINGS = ("revision", "dtype", "device", "trust_remote_code", "parallelize", "add_bos_token")


class Named(Model):
    """Mixin for models whose weights are not accessible, identified by backend, name and URL.

    Attributes:
        names: backend, model, and URL without user and password, if any.
    """

    names: tuple[str, ...] = ()

    def fingerprint(self) -> str:
        """Returns a hash of `names`."""
        return hashlib.sha256(json.dumps(self.names).encode()).hexdigest()[:16]


def load_other(config: ModelConfig, evaluation: EvalConfig) -> Any:
    """Returns a model of any backend of the harness except hf and vllm.

    Raises:
        UserError: if the backend does not support a setting, or a key is missing in the environment.
    """
    kind = backend_class(config.model_type)
    arguments = other_arguments(config, evaluation)
    url = str(arguments.get("base_url") or "")
    known = {"can": capabilities(config), "names": (config.model_type, str(config.model_name), bare_address(url))}
    if is_server(kind):
        from afrieval.models.backends.api import load_api

        return load_api(kind, known, {**arguments, "tokenizer_backend": tokenizer_backend(config, kind)})
    lm = type(kind.__name__, (Named, kind), known)(**arguments)
    if not hasattr(lm, "max_length"):
        lm.max_length = math.inf
    return lm


def other_arguments(config: ModelConfig, evaluation: EvalConfig) -> dict[str, Any]:
    """Returns the arguments of a backend; `backend_args` override settings.

    Raises:
        UserError: for a setting that the backend does not support.
    """
    known = {name for base in backend_class(config.model_type).__mro__ for name in parameters(base)}
    settings = {name: getattr(config, name) for name in SETTINGS if getattr(config, name) != getattr(ModelConfig, name)}
    for name, value in settings.items():
        if name not in known:
            raise UserError(f"model.{name} ({value!r}) is not supported by {config.model_type}", "remove it")
    named = [name for name in NAMES if name in known][:1]
    size = 1 if str(evaluation.batch_size).startswith("auto") else evaluation.batch_size
    fixed = {"batch_size": size, "seed": evaluation.torch_random_seed}
    return {
        **dict.fromkeys(named, config.model_name),
        **{name: value for name, value in fixed.items() if name in known},
        **settings,
        **config.backend_args,
    }
