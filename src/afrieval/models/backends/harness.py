"""The harness' other backends, whose classes and settings say what they can do."""

import ast
import inspect
import math
import textwrap
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from afrieval._util.errors import UserError
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backend import Backend, check_unsupported
from afrieval.models.backend_args import (
    arguments_of_class,
    backend_class,
    check_arguments,
    is_server,
    missing,
    parameters,
)
from afrieval.models.backends.shared_prefixes import SGLangLikelihoods
from afrieval.models.base import Capabilities, LanguageModel, NamedModel
from afrieval.models.credentials import bare_address, is_address, is_secret
from afrieval.models.engine.text_ends import leave_texts_open
from afrieval.models.load_errors import loading
from afrieval.models.loading import begin, finished
from afrieval.models.processes import Processes

# Arguments of API backends that change how a server is reached, but not which model answers.
FREE_ARGS = ("batch_size", "ca_cert_path", "max_retries", "num_concurrent", "timeout", "verify_certificate")
NAMES = ("model", "pretrained", "engine", "model_id", "path")  # backends' arguments for the model's name
PACKAGES = ("aiohttp", "requests", "tenacity", "tqdm")  # needed by API backends
ADDRESSED = ("local-completions", "local-chat-completions", "sglang-generate")  # without default address
WITH_LIKELIHOODS = {"openai-completions": ("babbage-002", "davinci-002")}  # the only such models of a backend
DEFAULT_LENGTH = 2048  # the harness' default for API models, whatever their context
MIXINS = {"sglang": (SGLangLikelihoods,)}  # of backends that choose their batches themselves


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
        """Returns the model as the harness has it.

        Raises:
            UserError: if the backend does not support a setting, or a key is missing in the environment.
        """
        begin(evaluation)
        lm: LanguageModel = loading(config, lambda: self._loaded(config, evaluation))
        return finished(config, lm)

    def _loaded(self, config: ModelConfig, evaluation: EvalConfig) -> Any:
        kind = backend_class(config.model_type)
        arguments = self.arguments(config, evaluation)
        url = str(arguments.get("base_url") or "")
        names = (config.model_type, str(config.model_name), bare_address(url))
        members = {"can": self.capabilities(config), "names": names}
        if is_server(kind):
            from afrieval.models.backends.harness_api import load_api

            lm = load_api(kind, members, {**arguments, "tokenizer_backend": _tokenizer_backend(config, kind)})
        else:
            mixins = MIXINS.get(config.model_type, ())
            lm = type(kind.__name__, (NamedModel, *mixins, kind), members)(**arguments)
        leave_texts_open(lm)
        if not hasattr(lm, "max_length"):
            lm.max_length = math.inf
        return lm

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns the capabilities that a class implements; methods that only raise do not count.

        An API model's depend on its tokenizer. An API without likelihoods accepts chats, to which the server applies a
        template.

        Raises:
            UserError: if the backend is unknown, or a package that it needs is missing.
        """
        kind = backend_class(config.model_type, self._registered)
        scores = _does(kind, "loglikelihood")
        if not is_server(kind):
            return Capabilities(
                loglikelihood=scores,
                rolling=scores and _does(kind, "loglikelihood_rolling"),
                generate=_does(kind, "generate_until"),
                chat="text" if _does(kind, "apply_chat_template") else None,
                count_tokens=_does(kind, "tok_encode"),
            )
        tokenizer = _tokenizer_backend(config, kind)
        counts = scores and tokenizer not in (None, "None", "none")
        likely = counts and str(config.model_name) in WITH_LIKELIHOODS.get(config.model_type, (str(config.model_name),))
        template = "text" if counts and tokenizer in ("huggingface", "auto") else None
        stated = config.backend_args.get("max_length")
        length = stated or (DEFAULT_LENGTH if counts else None)
        return Capabilities(
            loglikelihood=likely,
            rolling=likely and _does(kind, "loglikelihood_rolling"),
            chat=template if scores else "messages",  # type: ignore[arg-type]
            count_tokens=counts,
            max_length=length - 1 if isinstance(length, int) else None,  # the server generates at least one token
            assumed=counts and not stated,
        )

    def check(self, config: ModelConfig) -> None:
        """Checks arguments of the backend, and addresses, keys and packages of API models."""
        kind = backend_class(config.model_type, self._registered)
        if is_server(kind):
            for package in PACKAGES:
                if find_spec(package) is None:
                    raise missing(config.model_type, package, "run `pip install 'afrieval[api]'`")
        for name in config.backend_args:
            if is_secret(str(name)):
                hint = "set the key in the environment, such as OPENAI_API_KEY"
                raise UserError(f"backend_args.{name} may be a secret key, but run.yaml stores backend_args", hint)
        url = config.backend_args.get("base_url")
        if url and not (isinstance(url, str) and is_address(url)):
            hint = "give a URL such as http://localhost:8000/v1/completions"
            raise UserError(f"backend_args.base_url must be a URL, not {bare_address(str(url))!r}", hint)
        if config.model_type in ADDRESSED and not url:
            example = "http://localhost:8000/v1/" + config.model_type.removeprefix("local-").replace("chat-", "chat/")
            hint = f"give --model.backend_args.base_url, such as {example}"
            message = f"model.backend_args.base_url, the server's address, is missing for {config.model_type}"
            raise UserError(message, hint)
        if config.backend_args:
            check_arguments(config, arguments_of_class(kind), {} if is_server(kind) else None)

    def arguments(self, config: ModelConfig, evaluation: EvalConfig) -> dict[str, Any]:
        """Returns the arguments of the harness' class; `backend_args` override settings."""
        names = {name for base in backend_class(config.model_type).__mro__ for name in parameters(base)}
        settings = check_unsupported(config, names)
        named = [name for name in NAMES if name in names][:1]
        auto = str(evaluation.batch_size).startswith("auto") and config.model_type not in MIXINS
        size = 1 if auto else evaluation.batch_size
        fixed = {"batch_size": size, "seed": evaluation.torch_random_seed}
        return {
            **dict.fromkeys(named, config.model_name),
            **{name: value for name, value in fixed.items() if name in names},
            **settings,
            **config.backend_args,
        }

    def identity(self, config: ModelConfig) -> dict[str, Any]:
        """Returns the arguments that identify a model: not how its server is reached."""
        return {name: value for name, value in config.backend_args.items() if name not in FREE_ARGS}


def _tokenizer_backend(config: ModelConfig, kind: Any) -> str | None:
    """Returns the source of an API model's tokenizer; one that is named comes from the hub."""
    defaults = (
        p["tokenizer_backend"].default for base in kind.__mro__ if "tokenizer_backend" in (p := parameters(base))
    )
    default = "huggingface" if config.backend_args.get("tokenizer") else next(defaults, None)
    return config.backend_args.get("tokenizer_backend", default)


def _does(kind: Any, name: str) -> bool:
    """Returns whether a class has a method that does more than raise an error."""
    method = getattr(kind, name, None)
    if method is None:
        return False
    try:
        function = ast.parse(textwrap.dedent(inspect.getsource(method))).body[0]
    except (OSError, TypeError, SyntaxError):  # compiled
        return True
    assert isinstance(function, ast.FunctionDef)
    steps = [step for step in function.body if not isinstance(step, ast.Expr)]  # without its docstring
    return bool(steps) and not isinstance(steps[0], ast.Raise)
