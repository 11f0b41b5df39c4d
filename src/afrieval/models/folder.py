"""Validates the files of a model folder before anything is loaded."""

import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.files import check_file, read_bytes, user_path
from afrieval._util.schema import parsed_json
from afrieval.models.gguf import SUFFIX

AGAIN = "fetch the model again, or restore that file from its source"
OBJECTS = (
    "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "chat_template.json", "vocab.json", "model.safetensors.index.json",
    "pytorch_model.bin.index.json", "adapter_config.json",
)  # fmt: skip
MIRROR = "AFRIEVAL_MODELS"  # names a folder of models, laid out ORG/NAME as on the hub
WEIGHTS = ("*.safetensors", "*.bin")
WHOLE = re.compile(r"[IU]\d|BOOL")  # safetensors' names of types
# The names by which config.json counts layers, also of a text model inside one for images or sound.
LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "num_decoder_layers")
Shapes = Mapping[str, tuple[int, ...]]


def local_path(name: str) -> Path | None:
    """Returns a model's folder or GGUF file on this machine, also one below AFRIEVAL_MODELS; None if there is none."""
    mirror = os.environ.get(MIRROR)
    paths = [user_path(name), *([user_path(mirror) / name] if mirror else [])]
    return next((path for path in paths if path.is_dir() or (path.suffix == SUFFIX and path.is_file())), None)


def model_folder(name: str) -> Path | None:
    """Returns a model's folder or GGUF file, or None if the name is a hub id.

    Raises:
        UserError: if there is no such folder or file, and the name is not a hub id.
    """
    if (mirror := os.environ.get(MIRROR)) and not user_path(mirror).is_dir():
        raise UserError(f"{MIRROR} is {mirror}, which is not a folder", f"correct or unset {MIRROR}")
    if path := local_path(name):
        return path
    path = user_path(name)
    if path.is_file():
        hint = "give a GGUF file, the folder that contains config.json, weights and tokenizer, or a hub id"
        raise UserError(f"{name} is a file, not a folder", hint)
    if path.suffix == SUFFIX:
        raise UserError(f"the file {name[:200]} does not exist", "give the path of a GGUF file")
    if not _is_hub_id(name):
        hint = "give a folder with config.json, weights and tokenizer, or a hub id such as google/gemma-2-9b-it"
        raise UserError(f"there is no model in {name[:200]}, and a hub id must have the form ORG/NAME", hint)
    return None


def _is_hub_id(name: str) -> bool:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils._validators import validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError:
        return False
    return True


def check_files(folder: Path) -> Shapes:
    """Rejects a folder with missing or damaged files.

    Returns:
        the shapes of the weights by name; empty if they are not in safetensors format.

    Raises:
        UserError: names the file.
    """
    config = _read_config(folder)
    for name in OBJECTS:
        if (folder / name).exists():
            read_object(folder / name)
    if not any(path for kind in WEIGHTS for path in folder.glob(kind)):
        raise UserError(f"{folder} has no weights: no file is named {' or '.join(WEIGHTS)}", AGAIN)
    for path in folder.iterdir():
        if path.exists() and not path.is_dir():
            check_file(path, AGAIN)
    shapes: dict[str, tuple[int, ...]] = {}
    for path in _weight_files(folder):
        shapes |= _shapes(path, quantised="quantization_config" in config)
    _check_layers(folder / "config.json", config, len(shapes))
    return shapes


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if path.is_file():
        return read_object(path)
    if (folder / "adapter_config.json").is_file():
        hint = "give its base model as model.model_name and this folder as model.backend_args.peft"
        raise UserError(f"there is no model in {folder}, only a PEFT adapter", hint)
    hint = "give a folder with config.json, weights and tokenizer, or a hub id"
    if file := next(folder.glob(f"*{SUFFIX}"), None):
        hint = f"give the GGUF file: {file}"
    raise UserError(f"there is no model in {folder}: it has no config.json", hint)


def read_object(path: Path) -> dict[str, Any]:
    """Returns the object in a JSON file.

    Raises:
        UserError: if the file cannot be opened or is not a JSON object.
    """
    content = parsed_json(read_bytes(path, AGAIN), str(path), AGAIN)
    if not isinstance(content, dict):
        raise UserError(f"{path} must be a JSON object, not {type(content).__name__}", AGAIN)
    return content


def _weight_files(folder: Path) -> list[Path]:
    """Returns the safetensors files that are loaded, if there are any."""
    whole, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if whole.is_file() or not index.is_file():
        return [whole] if whole.is_file() else []
    parts = read_object(index).get("weight_map")
    if not isinstance(parts, dict) or not all(isinstance(file, str) for file in parts.values()) or not parts:
        raise UserError(f"{index} must have a weight_map from names of weights to files", AGAIN)
    files = [folder / file for file in sorted(set(parts.values()))]
    for path in files:
        if not path.is_file():
            raise UserError(f"{path}, named in {index.name}, does not exist", AGAIN)
    return files


def _shapes(path: Path, quantised: bool) -> Shapes:
    """Returns the shapes of the weights in a file, from its header.

    Only quantised models may have integer weights; transformers would use others unchanged.
    """
    from safetensors import SafetensorError, safe_open

    check_file(path, AGAIN)
    try:
        with safe_open(path, framework="np") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
            for name, part in slices.items():
                if name.endswith("weight") and not quantised and WHOLE.match(dtype := part.get_dtype()):
                    message = f"{name} has integer weights ({dtype}), but config.json has no quantization_config"
                    raise UserError(f"{path}: {message}", AGAIN)
            return {name: tuple(part.get_shape()) for name, part in slices.items()}
    except (SafetensorError, OSError) as e:
        raise UserError(
            f"the weights in {path} are damaged: {e}", "fetch the model again; the download may have been interrupted"
        ) from None


def _check_layers(path: Path, config: dict[str, Any], weights: int) -> None:
    """Rejects an impossible number of layers; far too many would be built before any comparison."""
    text = config.get("text_config")
    for part in (config, text if isinstance(text, dict) else {}):
        for name in LAYERS:
            layers = part.get(name)
            if not isinstance(layers, int) or isinstance(layers, bool):
                continue  # transformers reports the type
            if layers < 1:
                raise UserError(f"{path}: {name} must be at least 1, not {layers}", AGAIN)
            if weights and layers > weights:
                raise UserError(f"{path}: {name} is {layers}, but the checkpoint has only {weights} weights", AGAIN)


def check_adapter(name: str) -> None:
    """Rejects an unusable PEFT adapter before its base model is loaded."""
    folder = user_path(name)
    path = folder / "adapter_config.json"
    if folder.exists() or not _is_hub_id(name):
        if not path.is_file():
            hint = "give the folder that PEFT's save_pretrained wrote, or a hub id"
            raise UserError(f"there is no PEFT adapter in {name}: no adapter_config.json", hint)
        read_object(path)
        if not any(file for kind in WEIGHTS for file in folder.glob(kind)):
            raise UserError(f"{folder} has no weights: no file is named {' or '.join(WEIGHTS)}", AGAIN)
    if find_spec("peft") is None:
        raise UserError("backend_args.peft needs the package peft", "run `pip install peft`, or remove the argument")
