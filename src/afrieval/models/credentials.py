"""Keys and passwords stay out of what is stored and printed."""

import os
import re
from typing import Any
from urllib.parse import urlsplit

SECRET = re.compile(r"(?i)(^|_)(api_?key|secret|secret_key|access_key|password|auth_token|hf_token|headers?)$|^token$")
HIDDEN = "***"


def is_secret(name: str) -> bool:
    """Tells by its name whether an argument holds a key."""
    return bool(SECRET.search(name))


def without_secrets(value: Any, name: str = "") -> Any:
    """Returns a value as it may be stored: keys are hidden, and addresses lose user, password and query.

    Args:
        value: text, number, list or map.
        name: the argument's; empty for members of lists.
    """
    if is_secret(name) and not isinstance(value, bool | None):
        return HIDDEN
    if isinstance(value, dict):
        return {key: without_secrets(each, str(key)) for key, each in value.items()}
    if isinstance(value, list):
        return [without_secrets(each) for each in value]
    return bare_address(value) if isinstance(value, str) and "://" in value else value


def bare_address(url: str) -> str:
    """Returns an address without user, password, query and fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def redacted(text: str, url: str = "") -> str:
    """Returns a message without the keys of the environment and what an address holds besides its place.

    Args:
        text: what a library or a server says.
        url: the address that was asked.
    """
    keys = [value for name, value in os.environ.items() if is_secret(name) and len(value) >= 8]
    parts = urlsplit(url)
    keys += [part for part in (parts.netloc.rpartition("@")[0], parts.password, parts.query) if part]
    for key in sorted(keys, key=len, reverse=True):
        text = text.replace(key, HIDDEN)
    return text
