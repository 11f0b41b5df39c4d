"""A model config to a model of the harness, or to an error that says what to do."""

import hashlib
import json
import random
import sys
from collections.abc import Callable
from typing import Any

from afrieval.config import DEMO, EvalConfig, ModelConfig
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.models.demo import demo_folder
from afrieval.models.processes import ALONE, Processes
from afrieval.models.vllm import load_vllm

CPU_BATCH = 8
NOT_THE_MODEL = ("_name_or_path", "transformers_version", "_commit_hash")
PROBE = "Kínni iyì p nínú 24 = 2p? ጥያቄ Ŋuɖoɖo ƙarya 0123456789\n\n"


def load_model(config: ModelConfig, evaluation: EvalConfig, processes: Processes = ALONE) -> Any:
    """Returns the model, ready to score; where there are several processes, each has its own.

    Raises:
        UserError: if it cannot be loaded for a reason that the user can mend.
    """
    import transformers

    _check_folder(config)
    _check_whole(config, processes)
    if not sys.stderr.isatty():
        transformers.logging.disable_progress_bar()
    seed_libraries(evaluation)
    if config.model_type == "vllm":
        lm = _load(config, lambda: load_vllm(config, evaluation))
    else:
        lm = _load_hf(config, evaluation, processes)
    if config.chat_template and not lm.tokenizer.chat_template:
        raise UserError(f"{config.model_name} has no chat template", "set model.chat_template to false")
    return lm


def _load(config: ModelConfig, load: Callable[[], Any]) -> Any:
    """Returns what loads, or an error that says what to do."""
    try:
        return load()
    except UserError:
        raise
    except Exception as e:
        raise explain(config, e) from e


def _load_hf(config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> Any:
    import torch

    device = _device(config, processes)
    usable = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if not usable.get(device.split(":")[0], False):
        raise UserError(
            f"model.device is {device!r}, but there is no GPU of that kind that torch can use", "leave it out"
        )
    from afrieval.models.hf import HF

    sizes = {"batch_size": _batch_size(evaluation, device), "max_batch_size": evaluation.max_batch_size}
    lm = _load(config, lambda: HF(**{"device": device, **sizes, **hf_arguments(config)}))
    lm.choose_engine(config.engine)
    return lm


def hf_arguments(config: ModelConfig) -> dict[str, Any]:
    """Returns the arguments of the hf backend, but for device and batch size; `backend_args` adds to them and wins."""
    name = demo_folder() if config.model_name == DEMO else user_path(str(config.model_name))
    return {
        "pretrained": str(name),
        "revision": config.revision,
        "dtype": config.dtype,
        "trust_remote_code": config.trust_remote_code,
        "parallelize": config.parallelize,
        "add_bos_token": config.add_bos_token,
        "softmax_dtype": "float32",  # in 16 bits, sums of log-probabilities are rounded until choices tie
        **config.backend_args,
    }


def fingerprint(lm: Any) -> str:
    """Returns a short name of the very weights and tokenizer that were loaded.

    256 values of each parameter, its name and shape, the model's settings, the tokens of a text in several scripts and
    the chat template go into it: another checkpoint under the same name is another model. vLLM keeps the parameters in
    processes of its own; there it is the hub's commit that tells checkpoints apart.
    """
    digest = hashlib.sha256()
    settings = model_settings(lm)
    for name, parameter in lm.model.named_parameters() if hasattr(lm.model, "named_parameters") else ():
        digest.update(f"{name}{tuple(parameter.shape)}{parameter.dtype}".encode())
        if parameter.is_meta:
            continue  # offloaded to a disk by accelerate: not in memory
        values = parameter.detach().flatten()
        sample = values[:: max(1, values.numel() // 256)][:256].float().cpu()
        digest.update(sample.numpy().tobytes())
    kept = {k: v for k, v in settings.to_dict().items() if k not in NOT_THE_MODEL}
    commit = None if hasattr(lm.model, "named_parameters") else getattr(settings, "_commit_hash", None)
    digest.update(
        json.dumps(
            [kept, *([commit] if commit else []), lm.tok_encode(PROBE), lm.tokenizer.chat_template], default=str
        ).encode()
    )
    return digest.hexdigest()[:16]


def model_settings(lm: Any) -> Any:
    """Returns the model's own configuration object, wherever the backend keeps it."""
    return lm.config if hasattr(lm, "config") else lm._config


def _check_folder(config: ModelConfig) -> None:
    name = str(config.model_name)
    if name.startswith(("/", "./", "../", "~")) and not (user_path(name) / "config.json").is_file():
        raise UserError(
            f"there is no model in {name}",
            "give a folder with config.json, weights and tokenizer, or a hub id",
        )


def seed_libraries(evaluation: EvalConfig) -> None:
    """Seeds the generators that model libraries draw from; nothing of ours uses them."""
    import numpy as np
    import torch

    random.seed(evaluation.random_seed)
    np.random.seed(evaluation.numpy_random_seed)
    torch.manual_seed(evaluation.torch_random_seed)


def _check_whole(config: ModelConfig, processes: Processes) -> None:
    """Refuses to spread one model over GPUs where each process has a model of its own."""
    spreads = {"parallelize": config.parallelize, "backend_args.tp_plan": "tp_plan" in config.backend_args}
    for name, asked in spreads.items():
        if asked and processes.count > 1:
            raise UserError(
                f"model.{name} spreads one model over the GPUs, and {processes.count} processes want one each",
                f"start one process, or leave model.{name} out",
            )


def _device(config: ModelConfig, processes: Processes) -> str:
    """Returns the device of this process: the one named, or its share of the GPUs of its machine."""
    import torch

    device = config.device or _best_device()
    if device == "cuda" and processes.count > 1 and torch.cuda.is_available():
        device = f"cuda:{processes.local_rank % torch.cuda.device_count()}"
        torch.cuda.set_device(device)  # some kernels run on the current device, wherever the tensors are
    return device


def _best_device() -> str:
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _batch_size(evaluation: EvalConfig, device: str) -> int | str:
    if str(evaluation.batch_size).startswith("auto") and not device.startswith("cuda"):
        return CPU_BATCH  # the harness' search runs for minutes to hours on a CPU
    return evaluation.batch_size


def explain(config: ModelConfig, error: Exception) -> Exception:
    """Returns a UserError for what a user can mend, and any other error as it is."""
    text, name = _chain(error), config.model_name
    cases = {
        ("trust_remote_code",): (
            f"{name} brings its own Python code",
            "read that code, then add --model.trust_remote_code true if you trust it",
        ),
        ("out of memory", "OutOfMemory"): (
            f"{name} does not fit into the device's memory",
            "give a smaller --eval.batch_size, --model.dtype bfloat16 or --model.parallelize true",
        ),
        (
            "couldn't connect",
            "Couldn't reach",
            "offline mode",
            "ConnectError",
            "ConnectionError",
            "LocalEntryNotFound",
            "OfflineModeIsEnabled",
        ): (
            f"{name} is not in the hub's cache and the hub cannot be reached",
            "fetch it where there is a network with `hf download`, or give a folder that holds the model",
        ),
        (
            "not a valid model identifier",
            "RepositoryNotFound",
            "does not appear to have",
            "Unrecognized model in",
            "RevisionNotFound",
            "is not a valid git identifier",
        ): (
            f"the hub has no model {name} (revision {config.revision}), or keeps it from you",
            "give a hub id such as google/gemma-2-9b-it (`hf auth login` if it is private), or a folder",
        ),
        ("GatedRepoError", "401 Client Error", "403 Client Error"): (
            f"no access to {name}",
            "accept its terms on the hub, then run `hf auth login`",
        ),
        ("SafetensorError", "UnpicklingError", "PytorchStreamReader failed"): (
            f"the weights of {name} are damaged",
            "fetch the model again; a download that was cut short leaves such a file",
        ),
        ("unexpected keyword argument",): (
            f"the backend refuses an argument: {error}",
            "check model.backend_args",
        ),
    }
    for signs, (message, hint) in cases.items():
        if any(sign.lower() in text.lower() for sign in signs):
            return UserError(message, hint)
    if isinstance(error, OSError | ValueError):
        return UserError(f"{name} cannot be loaded: {' '.join(str(error).split())[:300]}", "check model.model_name")
    return error


def _chain(error: BaseException | None) -> str:
    """Returns what an error and those that led to it say; libraries hide the cause behind their own."""
    said = []
    while error is not None:
        said.append(f"{type(error).__name__}: {error}")
        error = error.__cause__ or error.__context__
    return " | ".join(said)
