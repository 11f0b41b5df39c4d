"""The server of a model behind an OpenAI-compatible API: its key, and the list of its models, which costs nothing."""

import time
from typing import Any

from afrieval.config.settings import ModelConfig
from afrieval.doctor.finding import Finding, of_error
from afrieval.errors import UserError
from afrieval.files.schema import parsed_json
from afrieval.models.backends.openai.check import check_api, check_key
from afrieval.models.backends.openai.failure import CHECK, valid
from afrieval.models.backends.openai.key import address, is_here, key_of, without_key
from afrieval.terminal import shortened

PATIENCE = 5  # seconds
LARGEST = 2**23  # bytes of a list of models
SHOWN = 60  # characters of what else a server says
KEY = "check the key in the environment (model.api.key_env names its variable)"


def server_finding(config: ModelConfig) -> Finding:
    """Returns whether a server has the model of a config; the key is not shown, and no token is spent."""
    check = f"model {config.model_name}"
    try:
        check_api(config)
        check_key(config)
    except UserError as e:
        return of_error(check, e)
    if config.api.server and not config.api.base_url:
        return Finding(check, "note", "its server is started by afrieval sweep, and was not asked")
    return _asked(config, check)


def _asked(config: ModelConfig, check: str) -> Finding:
    import httpx2

    url, key = address(config.api), key_of(config.api)
    try:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        options: dict[str, Any] = {"headers": headers, "timeout": PATIENCE, "trust_env": not is_here(url)}
        with httpx2.stream("GET", f"{url}/models", **options) as response:
            content = _beginning(response)
    except (httpx2.HTTPError, httpx2.InvalidURL) as e:
        said = without_key(" ".join(str(e).split()), key) or type(e).__name__
        hint = "start the server, or correct model.api.base_url"
        return Finding(check, "problem", f"{url} cannot be reached: {said}", hint)
    if response.status_code in (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN):
        return Finding(check, "problem", f"{url} rejects the key (status {response.status_code})", KEY)
    if not response.is_success:
        return Finding(check, "note", f"{url} answers, but does not list its models (status {response.status_code})")
    names = _names(content)
    if names is None:
        said = shortened(without_key(" ".join(valid(content.decode(errors="replace")).split()), key)[:SHOWN])
        return Finding(check, "problem", f"{url} answers, but not with a list of models: {said}", CHECK)
    if config.model_name not in names:
        near = ", ".join(names[:3]) + (" ..." if names[3:] else "")
        hint = f"check model.model_name; it lists {shortened(near) or 'none'}"
        return Finding(check, "note", f"{url} does not list {config.model_name}", hint)
    return Finding(check, "ok", f"{url} answers, and has {config.model_name}")


def _beginning(response: Any) -> bytes:
    """Returns the body of a response, or as much of it as a list of models may have and comes in time."""
    content, begun = b"", time.monotonic()
    for part in response.iter_bytes():
        content += part
        if len(content) > LARGEST or time.monotonic() - begun > PATIENCE:
            break
    return content[: LARGEST + 1]


def _names(content: bytes) -> list[str] | None:
    """Returns the models that a server lists, some without a map around them; None if that is not what it answers.

    Gemini puts models/ before their names.
    """
    try:
        listed = parsed_json(content, "", "")
    except UserError:
        return None
    listed = listed.get("data") if isinstance(listed, dict) else listed
    if not isinstance(listed, list) or not all(isinstance(of, dict) and isinstance(of.get("id"), str) for of in listed):
        return None
    return [valid(of["id"]).removeprefix("models/") for of in listed]
