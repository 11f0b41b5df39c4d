"""The address of an OpenAI-compatible server, and its key in the environment."""

import ipaddress
import os
import re
from urllib.parse import urlsplit

from afrieval._util.errors import UserError
from afrieval.config.api_settings import ADDRESS, APIConfig
from afrieval.models.credentials import HIDDEN

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
