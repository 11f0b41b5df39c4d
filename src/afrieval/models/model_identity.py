"""The parts of run.yaml that describe a model and how it was run."""

import hashlib
import json
import math
import re
from dataclasses import asdict
from pathlib import Path, PureWindowsPath
from typing import Any

from afrieval._util.files import user_path
from afrieval.config.settings import DEMO, ModelConfig
from afrieval.models.base import LanguageModel, model_settings
from afrieval.models.credentials import without_secrets
from afrieval.models.engine.processor import processor_name
from afrieval.models.folder import local_path
from afrieval.models.gguf import SUFFIX
from afrieval.models.registry import backend_of

CACHED = "models--"  # what folders of models begin with in the hub's cache; below are snapshots/COMMIT
NUMBERED = re.compile(r"((checkpoint|global_step|step|epoch|iter)[-_]?)?\d+|final|hf")  # of a training's many

# Settings that change how a model is run, but not which model it is.
FREE = ("device", "parallelize", "engine", "languages_supported", "trust_remote_code")
# The same for the settings of an OpenAI-compatible server.
FREE_API = ("key_env", "max_cost", "max_requests", "prices", "max_concurrency", "timeout", "max_retries")


def is_path(model: str) -> bool:
    """Returns whether a model's name says by itself that it is a path."""
    return model.startswith(("/", ".", "~")) or bool(PureWindowsPath(model).drive)


def called(path: str) -> str:
    """Returns what people call the model in a folder: its last part, with the one above if that says nothing alone.

    A folder of the hub's cache is called as on the hub.
    """
    *above, last = Path(path).parts[-3:] or [path]
    if above[:1] and above[0].startswith(CACHED) and above[-1] == "snapshots":
        return above[0].removeprefix(CACHED).replace("--", "/")
    return f"{above[-1]}/{last}" if above and NUMBERED.fullmatch(last) else last


def stored(config: ModelConfig) -> dict[str, Any]:
    """Returns a model's settings without secret keys and passwords."""
    settings = asdict(config) | {"backend_args": without_secrets(config.backend_args)}
    unused = {"api": not backend_of(config.model_type).served, "chat_tags": not config.has_chat_tags}
    return {name: value for name, value in settings.items() if not unused.get(name)}


def telling_api(config: ModelConfig) -> dict[str, Any]:
    """Returns the settings of a server that change what it answers; empty for models that are behind none."""
    if not backend_of(config.model_type).served:
        return {}
    telling = {k: v for k, v in asdict(config.api).items() if k not in FREE_API}
    return {k: v for k, v in telling.items() if k != "server" or v}  # runs of former versions are without it


def telling_args(config: ModelConfig) -> str:
    """Returns the backend's arguments that identify a model, as JSON without keys and passwords."""
    return json.dumps(without_secrets(backend_of(config.model_type).identity(config)), sort_keys=True)


def identity_of_model(config: ModelConfig) -> dict[str, Any]:
    """Returns everything that identifies a model and is known before it is loaded."""
    model = {name: value for name, value in asdict(config).items() if name not in (*FREE, "api")}
    model["chat_tags"] = model["chat_tags"] if config.has_chat_tags else None  # none at all differ from some
    of_api = {"api": api} if (api := telling_api(config)) else {}
    return {**model, **of_api, "backend_args": telling_args(config), **_local(str(config.model_name))}


def facts(config: ModelConfig, lm: LanguageModel) -> dict[str, Any]:
    """Returns how a loaded model is run, as far as its backend reports it."""
    local = backend_of(config.model_type).local
    return {
        "device": str(getattr(lm, "device", None) or ""),
        "device_name": device_name(getattr(lm, "device", None)) if local else None,
        "dtype": str(getattr(getattr(lm, "model", None), "dtype", config.dtype)),
        "engine": getattr(lm, "engine", None),
        "batch_size": getattr(lm, "batch_size", None),
        "max_length": None if lm.max_length == math.inf else lm.max_length,
        "model_commit": getattr(model_settings(lm), "_commit_hash", None) if local else None,
    }


def device_name(device: Any) -> str | None:
    """Returns the name of a GPU, or of the processor with the number of cores that torch uses."""
    kind = getattr(device, "type", None)
    if kind is None:
        return None
    import torch

    if kind == "cuda":
        return str(torch.cuda.get_device_name(device))
    if kind != "cpu":
        return str(kind)
    n = torch.get_num_threads()
    return f"{processor_name()}, {n} thread{'s' * (n > 1)}"


def _local(name: str) -> dict[str, str]:
    """Returns a local model's path, and a hash of the sizes and times of its files; one of a mirror keeps its name."""
    path = local_path(name)
    if name == DEMO or path is None:
        return {}
    inside = [path] if path.is_file() else path.iterdir()
    files = sorted(p for p in inside if p.suffix in (".json", ".safetensors", ".bin", ".model", SUFFIX))
    stamp = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in files]
    digest = hashlib.sha256(json.dumps(stamp).encode()).hexdigest()[:16]
    named = {"model_name": str(path.resolve())} if path == user_path(name) else {}
    return {**named, "size_and_time_of_files": digest}
