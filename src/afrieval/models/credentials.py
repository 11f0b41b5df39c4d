"""Removes secret keys and passwords from stored and printed text, and silences the harness."""

import base64
import contextlib
import io
import logging
import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

SECRET = re.compile(r"(?i)(^|_)(api_?key|secret|secret_key|access_key|password|auth_token|hf_token|headers?)$|^token$")
HIDDEN = "***"
ADDRESS = re.compile(r"https?://[^/\[\]\s\x00-\x1f\x7f-\x9f][^\s\x00-\x1f\x7f-\x9f]*")


def is_secret(name: str) -> bool:
    """Returns whether an argument holds a secret key, judging by its name."""
    return bool(SECRET.search(name))


def without_secrets(value: Any, name: str = "") -> Any:
    """Returns a value without secrets: keys are hidden, and URLs lose user, password and query."""
    if is_secret(name) and not isinstance(value, bool | None):
        return HIDDEN
    if isinstance(value, dict):
        return {key: without_secrets(each, str(key)) for key, each in value.items()}
    if isinstance(value, list):
        return [without_secrets(each) for each in value]
    return bare_address(value) if isinstance(value, str) and "://" in value else value


def bare_address(url: str) -> str:
    """Returns a URL without user, password, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:  # an invalid part in brackets
        return HIDDEN
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def is_address(url: str) -> bool:
    """Tells whether a text is the URL of a server: without blanks and control characters, with a valid port."""
    try:
        url.encode()  # bytes that are no text cannot be sent
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return usable and ADDRESS.fullmatch(url) is not None


def with_basic_header(url: str) -> tuple[str, dict[str, str]]:
    """Returns a URL without user and password, and a header with them, if there are any.

    Libraries differ in how they handle such URLs.
    """
    parts = urlsplit(url)
    user, separator, host = parts.netloc.rpartition("@")
    encoded = base64.b64encode(unquote(user).encode()).decode()
    return parts._replace(netloc=host).geturl(), {"Authorization": f"Basic {encoded}"} if separator else {}


def redacted(text: str, url: str = "") -> str:
    """Returns a message without secret keys of the environment, and without the URL's secrets."""
    keys = [value for name, value in os.environ.items() if is_secret(name) and len(value) >= 8]
    parts = urlsplit(url)
    keys += [part for part in (parts.netloc.rpartition("@")[0], parts.password, parts.query) if part]
    for key in sorted(keys, key=len, reverse=True):
        text = text.replace(key, HIDDEN)
    return text


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppresses the harness' progress bars, logs and output, but not errors."""
    import datasets
    from tqdm import tqdm

    loggers = [logging.getLogger(name) for name in ("lm_eval", "datasets")]
    levels = [logger.level for logger in loggers]
    begin, bars = tqdm.__init__, not datasets.are_progress_bars_disabled()

    def begin_unseen(self: Any, *args: Any, **options: Any) -> None:
        begin(self, *args, **{**options, "disable": True})

    tqdm.__init__ = begin_unseen
    datasets.disable_progress_bars()
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        tqdm.__init__ = begin
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        if bars:
            datasets.enable_progress_bars()
