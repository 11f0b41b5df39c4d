"""Validates the settings of an OpenAI-compatible server, before anything is loaded or sent."""

from importlib.util import find_spec

from afrieval.config.api import OPENAI
from afrieval.config.settings import ModelConfig
from afrieval.errors import UserError
from afrieval.models.backends.openai.key import key_of
from afrieval.models.credentials import bare_address, is_address, without_secrets

UNSUPPORTED = ("revision", "dtype", "device", "trust_remote_code", "parallelize", "add_bos_token")
PACKAGES = ("openai", "tenacity")
# What requests have already, and what would change the form of responses.
SENT: tuple[str, ...] = (
    "model",
    "messages",
    "prompt",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "seed",
    "stop",
)
SENT += ("reasoning_effort", "logprobs", "top_logprobs", "echo", "n", "stream")
ENDS = ("/chat/completions", "/completions", "/responses")


def check_api(config: ModelConfig) -> None:
    """Rejects settings that such a server does not have, invalid addresses, and missing prices or packages.

    Raises:
        UserError: for the first.
    """
    for package in PACKAGES:
        if find_spec(package) is None:
            hint = "run `pip install 'afrieval[api]'`"
            raise UserError(f"model.model_type {OPENAI} needs the package {package}", hint)
    for name in UNSUPPORTED:
        if (value := getattr(config, name)) != getattr(ModelConfig, name):
            raise UserError(f"model.{name} ({value!r}) is not supported by {OPENAI}", "remove it")
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
        raise UserError(
            "model.api.max_cost needs the prices per million tokens",
            "give model.api.prices.input and model.api.prices.output",
        )


def check_key(config: ModelConfig) -> None:
    """Rejects a missing key; a dry run needs none.

    Raises:
        UserError: that does not print it.
    """
    if config.is_api:
        key_of(config.api)


def _check_address(url: str | None) -> None:
    if url is None:
        return
    bare = bare_address(url)
    if not is_address(url):
        raise UserError(f"model.api.base_url must be a URL, not {bare!r}", "give one such as http://localhost:8000/v1")
    if bare != url:
        raise UserError(
            f"model.api.base_url ({bare}) must not have a user, password or query",
            "put the key into an environment variable, and give its name as model.api.key_env",
        )
    for end in ENDS:
        if (rest := url.rstrip("/")).endswith(end):
            raise UserError(f"model.api.base_url must not end in {end}", f"give {rest.removesuffix(end)}")
