"""The Hugging Face hub: whether it can be reached, who is logged in, and the models that a config names."""

from importlib.util import find_spec
from pathlib import Path

from afrieval.config.settings import DEMO, ModelConfig
from afrieval.doctor.finding import Finding, of_error
from afrieval.errors import UserError
from afrieval.models.backends.vllm import INSTALL
from afrieval.models.capabilities import OURS
from afrieval.models.faults import explain
from afrieval.models.folder import WEIGHTS, check_adapter, check_files, model_folder, read_object

PATIENCE = 5  # seconds
BAD = 400  # first status of an answer that is an error
LOG_IN = "run `hf auth login`, or set HF_TOKEN"


def hub_finding() -> Finding:
    """Returns whether the hub answers; only downloads need it."""
    from huggingface_hub import constants, get_session

    if constants.is_offline_mode():
        return Finding("hub", "note", "HF_HUB_OFFLINE is set: nothing is downloaded")
    try:
        status = get_session().head(constants.ENDPOINT, timeout=PATIENCE).status_code
    except Exception as e:  # the client's and the system's
        return unreachable(type(e).__name__)
    if status >= BAD:
        return unreachable(f"status {status}")
    return Finding("hub", "ok", f"{constants.ENDPOINT} answers")


def unreachable(why: str) -> Finding:
    """Returns that the hub does not answer, which matters only for what is not cached."""
    found = f"cannot be reached ({why}): only what is cached can be used"
    return Finding("hub", "note", found, "check the network; behind a proxy, set HTTPS_PROXY")


def token_finding() -> Finding:
    """Returns who is logged in; the token is not shown."""
    from huggingface_hub import HfApi, get_token

    try:
        token = get_token()
    except OSError as e:
        return Finding("hub token", "problem", f"{e.filename} cannot be read: {e.strerror}", "correct HF_HOME")
    if token is None:
        return Finding("hub token", "note", "none; gated models and data sets need one", LOG_IN)
    try:
        return Finding("hub token", "ok", f"of {HfApi().whoami()['name']}")
    except Exception as e:
        if getattr(getattr(e, "response", None), "status_code", 0) == 401:
            return Finding("hub token", "problem", "the hub rejects it", f"create another one, then {LOG_IN}")
    return Finding("hub token", "note", "set, but the hub cannot be asked about it")


def model_finding(config: ModelConfig) -> Finding:
    """Returns whether the weights and tokenizer of a model are here, or can be downloaded."""
    name, check = str(config.model_name), f"model {config.model_name}"
    if name == DEMO or config.model_type not in OURS:
        return Finding(check, "ok", "built on this machine" if name == DEMO else f"run by {config.model_type}")
    if config.model_type == "vllm" and find_spec("vllm") is None:
        return Finding(check, "problem", "the vllm backend needs the package vllm", INSTALL)
    try:
        if peft := config.backend_args.get("peft"):
            check_adapter(peft)
        if folder := model_folder(name):
            _check_local(config, folder)
            return Finding(check, "ok", "all files are there")
        if cached := _cached(config):
            _check_local(config, cached)
            return Finding(check, "ok", "in the hub's cache")
    except UserError as e:
        return of_error(check, e)
    return _downloadable(config, check)


def _check_local(config: ModelConfig, folder: Path) -> None:
    if "gguf_file" not in config.backend_args:
        check_files(folder / config.backend_args.get("subfolder", ""))


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


def _downloadable(config: ModelConfig, check: str) -> Finding:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    try:
        HfApi().auth_check(str(config.model_name))
    except Exception as e:
        if isinstance(e, HfHubHTTPError) and not isinstance(e, GatedRepoError | RepositoryNotFoundError):
            status = e.response.status_code
            found = f"{config.model_name} is not in the hub's cache, and the hub answers with status {status}"
            return Finding(check, "problem", found, "check the hub token and the network, and try again")
        return of_error(check, explain(config, e))
    return Finding(check, "ok", "can be downloaded from the hub")
