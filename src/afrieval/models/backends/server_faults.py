"""Converts errors of API requests to a message and a hint."""

import asyncio
import json
from http import HTTPStatus

from afrieval.errors import UserError
from afrieval.models.credentials import bare_address, redacted

LONGEST = 300  # characters of a server's message
GOES_ON = "then run the same command again to continue"
CURES: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "set the key in the environment, such as OPENAI_API_KEY",
    HTTPStatus.FORBIDDEN: "set the key in the environment, such as OPENAI_API_KEY",
    HTTPStatus.NOT_FOUND: "check model.backend_args.base_url and model.model_name",
    HTTPStatus.TOO_MANY_REQUESTS: "wait, or give a smaller --model.backend_args.num_concurrent",
}


def server_fault(error: Exception, backend: str, url: str) -> UserError | None:
    """Returns the error to show for a failed request; None for an error of this machine.

    Args:
        error: raised by the harness' class or the libraries that it uses.
        backend: name of the backend.
        url: the server's URL; user and password in it are not printed.
    """
    import aiohttp
    import requests

    if isinstance(error, UserError):
        return error
    at, said = bare_address(url) or backend, redacted(" ".join(str(error).split()), url)[:LONGEST]
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None) or getattr(error, "status", None)
    if isinstance(error, aiohttp.ContentTypeError | json.JSONDecodeError | requests.JSONDecodeError):
        hint = "check model.backend_args.base_url, which ends in /v1/completions or /v1/chat/completions"
        return UserError(f"the response of {at} is not JSON: {said}", f"{hint}; {GOES_ON}")
    if isinstance(status, int):
        text = redacted(" ".join(response.text.split()), url)[:LONGEST] if response is not None else said
        cure = CURES.get(status, "check the server's log")
        return UserError(f"{at} returned status {status}: {text}", f"{cure}; {GOES_ON}")
    if isinstance(error, requests.Timeout | asyncio.TimeoutError):
        return UserError(f"{at} does not respond in time", f"give a larger --model.backend_args.timeout; {GOES_ON}")
    if isinstance(error, requests.RequestException | aiohttp.ClientError):
        hint = f"start the server, or correct model.backend_args.base_url; {GOES_ON}"
        return UserError(f"{at} cannot be reached: {said}", hint)
    if isinstance(error, OSError | MemoryError):
        return None
    return UserError(
        f"the response of {at} cannot be parsed by {backend}: {type(error).__name__}: {said}",
        f"check that the server implements the API of {backend} (--debug shows where it fails); {GOES_ON}",
    )
