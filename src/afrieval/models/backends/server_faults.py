"""What goes wrong while a server is asked: one line that says what, and one what to do."""

import asyncio
import json
from http import HTTPStatus

from afrieval.errors import UserError
from afrieval.models.credentials import bare_address, redacted

LONGEST = 300  # characters of a server's message
GOES_ON = "the same command goes on with what is missing"
CURES: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "set the key in the environment, such as OPENAI_API_KEY",
    HTTPStatus.FORBIDDEN: "set the key in the environment, such as OPENAI_API_KEY",
    HTTPStatus.NOT_FOUND: "check model.backend_args.base_url and model.model_name",
    HTTPStatus.TOO_MANY_REQUESTS: "wait, or give a smaller --model.backend_args.num_concurrent",
}


def server_fault(error: Exception, backend: str, url: str) -> UserError | None:
    """Returns what a user can do about an error while a server was asked; None for one of this machine.

    Args:
        error: of the harness' class, or of the libraries that it uses.
        backend: its name.
        url: of the server; user and password in it are not printed.
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
        return UserError(f"what {at} answers is not JSON: {said}", f"{hint}; {GOES_ON}")
    if isinstance(status, int):
        text = redacted(" ".join(response.text.split()), url)[:LONGEST] if response is not None else said
        cure = CURES.get(status, "see what the server's log says")
        return UserError(f"{at} answers with status {status}: {text}", f"{cure}; {GOES_ON}")
    if isinstance(error, requests.Timeout | asyncio.TimeoutError):
        return UserError(f"{at} does not answer in time", f"give a larger --model.backend_args.timeout; {GOES_ON}")
    if isinstance(error, requests.RequestException | aiohttp.ClientError):
        hint = f"start the server, or correct model.backend_args.base_url; {GOES_ON}"
        return UserError(f"{at} cannot be reached: {said}", hint)
    if isinstance(error, OSError | MemoryError):
        return None
    return UserError(
        f"{at} answers in a form that {backend} cannot parse: {type(error).__name__}: {said}",
        f"check that the server speaks the API of {backend}, and give --debug to see where it fails; {GOES_ON}",
    )
