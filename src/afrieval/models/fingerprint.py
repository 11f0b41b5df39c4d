"""Hash of the loaded weights and tokenizer, and what a device is called."""

import hashlib
import json
import platform
from pathlib import Path
from typing import Any

from afrieval.models.checks import PROBE

NOT_THE_MODEL = ("_name_or_path", "transformers_version", "_commit_hash")


def fingerprint(lm: Any) -> str:
    """Returns a hash that identifies the loaded weights and tokenizer.

    It covers 256 values of each parameter, its name and shape, the model's settings, the tokens of a
    text in several scripts, the chat template, its system text and date, so checkpoints of the same
    name differ. vLLM keeps the parameters in separate processes; there the hub's commit distinguishes
    checkpoints.
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
    chats = [text for name in ("chat_system", "chat_date") if (text := getattr(lm, name, None))]
    digest.update(
        json.dumps(
            [kept, *([commit] if commit else []), lm.tok_encode(PROBE), lm.tokenizer.chat_template, *chats], default=str
        ).encode()
    )
    return digest.hexdigest()[:16]


def model_settings(lm: Any) -> Any:
    """Returns the model's configuration object."""
    return lm.config if hasattr(lm, "config") else lm._config


def device_name(device: Any) -> str | None:
    """Returns the name of a GPU, or of the processor with the number of cores that torch uses."""
    kind = getattr(device, "type", None)
    if kind is None:
        return None
    import torch

    if kind == "cuda":
        return str(torch.cuda.get_device_name(device))
    n = torch.get_num_threads()
    return f"{_processor()}, {n} thread{'s' * (n > 1)}" if kind == "cpu" else kind


def _processor() -> str:
    """Returns the name of the processor, or of its architecture if nothing else is known."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
