"""Models behind an OpenAI-compatible server: what their settings say, and whether they are valid."""

from importlib.util import find_spec

from afrieval._util.errors import UserError
from afrieval.config.api_settings import OPENAI
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backend import Backend, check_unsupported
from afrieval.models.base import Capabilities, LanguageModel
from afrieval.models.credentials import bare_address, is_address, without_secrets
from afrieval.models.openai.settings import key_of
from afrieval.models.processes import Processes

# What requests have already, and what would change the form of responses.
SENT = (
    "model", "messages", "prompt", "max_tokens", "max_completion_tokens", "temperature", "seed", "stop",
    "reasoning_effort", "logprobs", "top_logprobs", "echo", "n", "stream",
)  # fmt: skip
ENDS = ("/chat/completions", "/completions", "/responses")


class OpenAIBackend(Backend):
    """Models behind an OpenAI-compatible server."""

    served = per_run = True

    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> LanguageModel:
        """Returns the model, without sending a request.

        Raises:
            UserError: for several processes, a server that only a sweep starts, or limits without stored answers.
        """
        if processes.count > 1:
            hint = "start one process; --model.api.max_concurrency sets the number of requests at a time"
            message = f"model.model_type {config.model_type} cannot be shared by {processes.count} processes"
            raise UserError(message, hint)
        if config.api.server and not config.api.base_url:
            hint = "put the model into a sweep, or start the server, and give its address as --model.api.base_url"
            raise UserError("model.api.server is started by afrieval sweep only", hint)
        for name in ("max_cost", "max_requests"):
            if getattr(config.api, name) is not None and not evaluation.use_cache:
                hint = f"leave eval.use_cache out, or leave model.api.{name} out"
                raise UserError(f"model.api.{name} needs the stored answers, but eval.use_cache is false", hint)
        from afrieval.models.openai.model import OpenAI

        return OpenAI(config, evaluation, self.capabilities(config))

    def capabilities(self, config: ModelConfig) -> Capabilities:
        """Returns the capabilities of a model behind the server, as far as the settings say."""
        chats = config.api.endpoint == "chat"
        return Capabilities(
            loglikelihood=not chats or config.api.top_logprobs is not None,
            rolling=False,
            chat="messages" if chats else None,
            count_tokens=False,
            only_letters=chats,
            stops=not chats,
        )

    def check(self, config: ModelConfig) -> None:
        """Rejects settings that such a server does not have, invalid addresses, and missing prices or packages."""
        if find_spec("openai") is None:
            raise UserError(f"model.model_type {OPENAI} needs the package openai", "run `pip install 'afrieval[api]'`")
        check_unsupported(config)
        if config.backend_args:
            name = next(iter(config.backend_args))
            raise UserError(f"model.backend_args.{name} is not supported by {OPENAI}", "give the options of model.api")
        _check_address(config.api.base_url)
        for name, value in config.api.extra_body.items():
            if name in SENT:
                hint = "remove it; max_tokens is --eval.max_gen_toks, and other settings are in model.api"
                raise UserError(f"model.api.extra_body.{name} is not supported: requests have it already", hint)
            if without_secrets(value, str(name)) != value:
                hint = "name the environment variable with the key as model.api.key_env"
                raise UserError(f"model.api.extra_body.{name} may hold a secret, but run.yaml stores it", hint)
        prices = config.api.prices
        if config.api.max_cost is not None and None in (prices.input, prices.output):
            hint = "give model.api.prices.input and model.api.prices.output"
            raise UserError("model.api.max_cost needs the prices per million tokens", hint)

    def check_key(self, config: ModelConfig) -> None:
        """Raises UserError if the server needs a key that the environment does not have."""
        key_of(config.api)


def _check_address(url: str | None) -> None:
    if url is None:
        return
    bare = bare_address(url)
    if not is_address(url):
        raise UserError(f"model.api.base_url must be a URL, not {bare!r}", "give one such as http://localhost:8000/v1")
    if bare != url:
        hint = "put the key into an environment variable, and give its name as model.api.key_env"
        raise UserError(f"model.api.base_url ({bare}) must not have a user, password or query", hint)
    for end in ENDS:
        if (rest := url.rstrip("/")).endswith(end):
            raise UserError(f"model.api.base_url must not end in {end}", f"give {rest.removesuffix(end)}")
