"""The server of a model behind an OpenAI-compatible API: its key, and the list of its models, which costs nothing."""

from typing import Any

from afrieval.config.settings import ModelConfig
from afrieval.doctor.finding import Finding, of_error
from afrieval.errors import UserError
from afrieval.models.backends.openai.check import check_api, check_key
from afrieval.models.backends.openai.key import address, is_here, key_of, without_key

PATIENCE = 5  # seconds
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
        response = httpx2.get(f"{url}/models", headers=headers, timeout=PATIENCE, trust_env=not is_here(url))
    except httpx2.HTTPError as e:
        said = without_key(" ".join(str(e).split()), key) or type(e).__name__
        hint = "start the server, or correct model.api.base_url"
        return Finding(check, "problem", f"{url} cannot be reached: {said}", hint)
    if response.status_code in (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN):
        return Finding(check, "problem", f"{url} rejects the key (status {response.status_code})", KEY)
    if not response.is_success:
        return Finding(check, "note", f"{url} answers, but does not list its models (status {response.status_code})")
    names = _names(response)
    if names and config.model_name not in names:
        near = ", ".join(names[:3]) + (" ..." if names[3:] else "")
        hint = f"check model.model_name; it lists {near}"
        return Finding(check, "note", f"{url} does not list {config.model_name}", hint)
    return Finding(check, "ok", f"{url} answers" + (f", and has {config.model_name}" if names else ""))


def _names(response: Any) -> list[str]:
    """Returns the models that a server lists; Gemini puts models/ before their names."""
    try:
        listed = response.json().get("data")
        return [str(model["id"]).removeprefix("models/") for model in listed or []]
    except (ValueError, AttributeError, KeyError, TypeError):
        return []
