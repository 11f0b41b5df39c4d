"""Checks that weights match config.json; transformers initialises missing weights at random."""

import copy
import logging
import re
from collections.abc import Iterable
from typing import Any

from afrieval.errors import UserError
from afrieval.models.folder import Shapes

log = logging.getLogger("afrieval")

HINT = "fetch the model again, or check that config.json belongs to these weights"
LAYER = re.compile(r"(.*?\.)(\d+)\.")  # `model.layers.7.` of `model.layers.7.mlp.up_proj.weight`
EXTRA_LAYERS = ("num_nextn_predict_layers", "num_mtp_layers")  # multi-token prediction, not used here


def check_sizes(name: str, auto: Any, config: Any, shapes: Shapes) -> None:
    """Rejects weights whose size differs from config.json, before memory is allocated.

    The model is built without memory and compared by weight. Names and order of dimensions may
    change between file and model, so only weights of the same name are compared, and only by their
    number of values.

    Args:
        name: the model's name.
        auto: the transformers class that builds a model from a config.
        config: the model's config.
        shapes: shapes of the checkpoint's weights; empty if unknown.

    Raises:
        UserError: names a weight and both shapes.
    """
    import torch

    if not shapes or getattr(config, "quantization_config", None) or getattr(config, "auto_map", None):
        return  # packed numbers, or custom code
    with torch.device("meta"):
        skeleton = auto.from_config(copy.deepcopy(config))
    for key, weight in skeleton.state_dict().items():
        if key in shapes and weight.numel() != torch.Size(shapes[key]).numel():
            raise _other_size(name, key, shapes[key], tuple(weight.shape))


def check_found(name: str, model: Any, found: dict[str, Any]) -> None:
    """Rejects a model that differs from its checkpoint, and logs which weights are not used.

    Args:
        name: name of the model or adapter.
        model: the loaded model.
        found: transformers' loading info: missing_keys, unexpected_keys, mismatched_keys.

    Raises:
        UserError: if weights are missing or of other shapes, or layers of the checkpoint are unused.
    """
    for key, there, wanted in sorted(found["mismatched_keys"]):
        raise _other_size(name, key, tuple(there), tuple(wanted))
    if missing := sorted(found["missing_keys"]):
        raise UserError(f"the checkpoint of {name} lacks {len(missing)} weights: {_first(missing)}", HINT)
    if not (unused := sorted(found["unexpected_keys"])):
        return
    if dropped := _dropped(model, unused):
        message = f"config.json omits {len(dropped)} weights of the layers of {name}: {_first(dropped)}"
        raise UserError(message, HINT)
    log.warning("%d weights of %s are not used: %s", len(unused), name, _first(unused))


def _dropped(model: Any, unused: list[str]) -> list[str]:
    """Returns the unused weights that belong to the model's layers.

    A model that lacks a layer, or a part of each, generates plausible nonsense. Harmless are unused
    weights outside of the model's layers (image and sound towers of a model loaded for text, other
    heads, multi-token prediction), and tables that are now computed (rotary frequencies, masks named
    `attn.bias`), which are neither called `weight` nor the bias of a module that could have one.
    """
    last: dict[str, int] = {}
    for key in model.state_dict():
        if layer := LAYER.match(key):
            last[layer[1]] = max(last.get(layer[1], 0), int(layer[2]))
    modules, extra = dict(model.named_modules()), _extra_layers(model)
    dropped = []
    for key in unused:
        layer, (parent, _, last_part) = LAYER.match(key), key.rpartition(".")
        if layer and layer[1] in last and not 0 < int(layer[2]) - last[layer[1]] <= extra:
            place = last_part in getattr(modules.get(parent), "_parameters", {})
            dropped += [key] if last_part == "weight" or place else []
    return dropped


def _extra_layers(model: Any) -> int:
    config = model.config.get_text_config()
    return max((n for name in EXTRA_LAYERS if isinstance(n := getattr(config, name, 0), int)), default=0)


def _other_size(name: str, key: str, there: tuple[int, ...], wanted: tuple[int, ...]) -> UserError:
    return UserError(f"{key} of {name} has the shape {there} in the checkpoint, but {wanted} in config.json", HINT)


def _first(keys: Iterable[str]) -> str:
    keys = list(keys)
    return ", ".join(keys[:2]) + (" ..." if len(keys) > 2 else "")
