"""Validates the settings of an OpenAI-compatible server, and finds its key in the environment."""

import ipaddress
import os
import re
from importlib.util import find_spec
from urllib.parse import urlsplit

from afrieval._util.errors import UserError
from afrieval.config.api_settings import ADDRESS, OPENAI, APIConfig
from afrieval.config.settings import ModelConfig
from afrieval.models.backend import check_unsupported
from afrieval.models.base import Capabilities
from afrieval.models.credentials import HIDDEN, bare_address, is_address, without_secrets

OPENAI_KEY = "OPENAI_API_KEY"
USUAL = re.compile("[A-Z]+(_[A-Z0-9]+)+")  # a name that is certainly no key, and may be printed
HERE = "http://127.0.0.1"  # of a server that is started on a free port, until that is known
SHORTEST = 8  # of what is removed from texts: shorter keys are placeholders such as "none"


def address(api: APIConfig) -> str:
    """Returns the address of the server."""
    return (api.base_url or (HERE if api.server else ADDRESS)).rstrip("/")


def is_openai(api: APIConfig) -> bool:
    """Returns whether the server is OpenAI's own."""
    return urlsplit(address(api)).hostname == urlsplit(ADDRESS).hostname


def api_capabilities(api: APIConfig) -> Capabilities:
    """Returns the capabilities of a model behind the server, as far as the settings say."""
    chats = api.endpoint == "chat"
    return Capabilities(
        loglikelihood=not chats or api.top_logprobs is not None,
        rolling=False,
        chat="messages" if chats else None,
        count_tokens=False,
        only_letters=chats,
        stops=not chats,
    )


def key_of(api: APIConfig) -> str:
    """Returns the key; empty if the server needs none.

    Raises:
        UserError: if it is missing, or given instead of the name of a variable; it is not printed.
    """
    name = api.key_env or (OPENAI_KEY if is_openai(api) else "")
    if not name:
        if is_local(address(api)):
            return ""
        hint = "give --model.api.key_env, the name of the environment variable that holds the key"
        raise UserError(f"the key of {address(api)} is missing", hint)
    if not name.isidentifier() or name.startswith(("sk_", "gsk_")):
        hint = f"set a variable to the key, such as {OPENAI_KEY}, and give its name; replace a key that was in a file"
        raise UserError("model.api.key_env must be the name of an environment variable, and may be a key itself", hint)
    shown = name if USUAL.fullmatch(name) else "that model.api.key_env names"
    key = os.environ.get(name, "").strip()
    if not key:
        raise UserError(f"the environment variable {shown} is not set", f"set it to the key of {address(api)}")
    if not re.fullmatch("[!-~]+", key):  # else the client fails, and shows it
        hint = "keys have letters, digits and signs of ASCII, without blanks: copy it again"
        raise UserError(f"the environment variable {shown} does not hold a key", hint)
    return key


def is_local(url: str) -> bool:
    """Returns whether an address is of this machine or its network."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost", ".internal"))


def is_here(url: str) -> bool:
    """Returns whether an address is of this machine, which no proxy can reach."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def without_key(text: str, key: str) -> str:
    """Returns a text without the key, which some servers repeat in messages."""
    return text.replace(key, HIDDEN) if len(key) >= SHORTEST else text


# What requests have already, and what would change the form of responses.
SENT = (
    "model", "messages", "prompt", "max_tokens", "max_completion_tokens", "temperature", "seed", "stop",
    "reasoning_effort", "logprobs", "top_logprobs", "echo", "n", "stream",
)  # fmt: skip
ENDS = ("/chat/completions", "/completions", "/responses")


def check_api(config: ModelConfig) -> None:
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
