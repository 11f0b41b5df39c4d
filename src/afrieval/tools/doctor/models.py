"""The models of configs: on the Hugging Face hub, and behind OpenAI-compatible servers."""

from importlib.util import find_spec
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.schema import parsed_json
from afrieval._util.terminal import shortened
from afrieval.config.settings import DEMO, ModelConfig
from afrieval.models.backends.vllm import INSTALL
from afrieval.models.folder import WEIGHTS, check_adapter, check_files, model_folder, read_object
from afrieval.models.gguf import check_gguf
from afrieval.models.load_errors import explain
from afrieval.models.openai.failure import CHECK, valid
from afrieval.models.openai.settings import address, is_here, key_of, without_key
from afrieval.models.registry import backend_of, check_backend_args
from afrieval.tools.doctor.machine import CheckResult, of_error

PATIENCE = 5  # seconds
BAD = 400  # first status of an answer that is an error
SHOWN = 60  # characters of what else a server says
KEY = "check the key in the environment (model.api.key_env names its variable)"
LOG_IN = "run `hf auth login`, or set HF_TOKEN"


def hub_finding() -> CheckResult:
    """Returns whether the hub answers; only downloads need it."""
    from huggingface_hub import constants, get_session

    if constants.is_offline_mode():
        return CheckResult("hub", "note", "HF_HUB_OFFLINE is set: nothing is downloaded")
    try:
        status = get_session().head(constants.ENDPOINT, timeout=PATIENCE).status_code
        why = f"status {status}" if status >= BAD else ""
    except Exception as e:  # the client's and the system's
        why = type(e).__name__
    if why:
        finding = f"cannot be reached ({why}): only what is cached can be used"
        return CheckResult("hub", "note", finding, "check the network; behind a proxy, set HTTPS_PROXY")
    return CheckResult("hub", "ok", f"{constants.ENDPOINT} answers")


def token_finding(hub: bool = True) -> CheckResult:
    """Returns who is logged in, if the hub can be asked; the token is not shown."""
    from huggingface_hub import HfApi, get_token

    try:
        token = get_token()
    except OSError as e:
        return CheckResult("hub token", "problem", f"{e.filename} cannot be read: {e.strerror}", "correct HF_HOME")
    if token is None:
        return CheckResult("hub token", "note", "none; gated models and data sets need one", LOG_IN)
    try:
        if hub:
            return CheckResult("hub token", "ok", f"of {HfApi().whoami()['name']}")
    except Exception as e:
        if getattr(getattr(e, "response", None), "status_code", 0) == 401:
            return CheckResult("hub token", "problem", "the hub rejects it", f"create another one, then {LOG_IN}")
    return CheckResult("hub token", "note", "set, but the hub cannot be asked about it")


def model_finding(config: ModelConfig, hub: bool = True) -> CheckResult:
    """Returns whether a model can be asked, or its weights and tokenizer are here or can be downloaded."""
    name, check = str(config.model_name), f"model {config.model_name}"
    try:
        backend = backend_of(config.model_type)
        if backend.served:
            backend.check(config)
            backend.check_key(config)
            return _served(config, check)
        check_backend_args(config)
        if name == DEMO or not backend.local:
            return CheckResult(check, "ok", "built on this machine" if name == DEMO else f"run by {config.model_type}")
        if backend.package and find_spec(backend.package) is None:
            problem = f"the {backend.name} backend needs the package {backend.package}"
            return CheckResult(check, "problem", problem, INSTALL)
        if peft := config.backend_args.get("peft"):
            check_adapter(peft)
        local = model_folder(name)
        if folder := local or _cached(config):
            if folder.is_file():
                check_gguf(folder)
            elif "gguf_file" not in config.backend_args:
                check_files(folder / config.backend_args.get("subfolder", ""))
            return CheckResult(check, "ok", "all files are there" if local else "in the hub's cache")
    except UserError as e:
        return of_error(check, e)
    return _downloadable(config, check, hub)


def _cached(config: ModelConfig) -> Path | None:
    """Returns the folder of a model in the hub's cache; None if it has no weights, or only some of them."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(str(config.model_name), revision=config.revision, local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    index = folder / "model.safetensors.index.json"
    parts = read_object(index).get("weight_map") if index.is_file() else {}
    named = set(map(str, parts.values())) if isinstance(parts, dict) else set[str]()
    whole = any(path for kind in WEIGHTS for path in folder.glob(f"**/{kind}"))
    return folder if whole and all((folder / part).is_file() for part in named) else None


def _downloadable(config: ModelConfig, check: str, hub: bool) -> CheckResult:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    try:
        if not hub:
            raise ConnectionError
        HfApi().auth_check(str(config.model_name))
    except Exception as e:
        if isinstance(e, HfHubHTTPError) and not isinstance(e, GatedRepoError | RepositoryNotFoundError):
            status = e.response.status_code
            finding = f"{config.model_name} is not in the hub's cache, and the hub answers with status {status}"
            return CheckResult(check, "problem", finding, "check the hub token and the network, and try again")
        return of_error(check, explain(config, e))
    return CheckResult(check, "ok", "can be downloaded from the hub")


def _served(config: ModelConfig, check: str) -> CheckResult:
    """Returns whether a server has a model; the key is not shown, and no token is spent."""
    import httpx2

    if config.api.server and not config.api.base_url:
        return CheckResult(check, "note", "its server is started by afrieval sweep, and was not asked")
    url, key = address(config.api), key_of(config.api)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        response = httpx2.get(f"{url}/models", headers=headers, timeout=PATIENCE, trust_env=not is_here(url))
    except (httpx2.HTTPError, httpx2.InvalidURL) as e:
        message = without_key(" ".join(str(e).split()), key) or type(e).__name__
        hint = "start the server, or correct model.api.base_url"
        return CheckResult(check, "problem", f"{url} cannot be reached: {message}", hint)
    if response.status_code in (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN):
        return CheckResult(check, "problem", f"{url} rejects the key (status {response.status_code})", KEY)
    if not response.is_success:
        finding = f"{url} answers, but does not list its models (status {response.status_code})"
        return CheckResult(check, "note", finding)
    names = _names(response.content)
    if names is None:
        message = shortened(without_key(" ".join(valid(response.text).split()), key)[:SHOWN])
        return CheckResult(check, "problem", f"{url} answers, but not with a list of models: {message}", CHECK)
    if config.model_name not in names:
        near = ", ".join(names[:3]) + (" ..." if names[3:] else "")
        hint = f"check model.model_name; it lists {shortened(near) or 'none'}"
        return CheckResult(check, "note", f"{url} does not list {config.model_name}", hint)
    return CheckResult(check, "ok", f"{url} answers, and has {config.model_name}")


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
