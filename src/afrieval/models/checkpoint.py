"""Weights and config.json belong to each other: the library draws what is missing at random and drops what is left."""

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
EXTRA_LAYERS = ("num_nextn_predict_layers", "num_mtp_layers")  # they guess further tokens; no code here uses them


def check_sizes(name: str, auto: Any, config: Any, shapes: Shapes) -> None:
    """Refuses weights of another size than config.json says, before the library takes memory for the size it says.

    The model is built without memory and compared weight by weight. Names and order of dimensions may change on the
    way from a file to a model, so only what has one name in both is compared, and only its number of values.

    Args:
        name: the model's.
        auto: the library's class that makes a model of a config.
        config: the model's.
        shapes: of the checkpoint's weights; empty if they are not known.

    Raises:
        UserError: naming a weight and both shapes.
    """
    import torch

    if not shapes or getattr(config, "quantization_config", None) or getattr(config, "auto_map", None):
        return  # packed numbers, or code of its own
    with torch.device("meta"):
        skeleton = auto.from_config(copy.deepcopy(config))
    for key, weight in skeleton.state_dict().items():
        if key in shapes and weight.numel() != torch.Size(shapes[key]).numel():
            raise _other_size(name, key, shapes[key], tuple(weight.shape))


def check_found(name: str, model: Any, found: dict[str, Any]) -> None:
    """Refuses a model that is not its checkpoint's, and says which weights it leaves aside.

    Args:
        name: the model's, or that of what is added to it.
        model: as the library loaded it.
        found: what the library says of the loading: missing_keys, unexpected_keys, mismatched_keys.

    Raises:
        UserError: if weights are missing, have other shapes, or layers of the checkpoint are left out.
    """
    for key, there, wanted in sorted(found["mismatched_keys"]):
        raise _other_size(name, key, tuple(there), tuple(wanted))
    if missing := sorted(found["missing_keys"]):
        raise UserError(f"the checkpoint of {name} lacks {len(missing)} weights: {_first(missing)}", HINT)
    if not (unused := sorted(found["unexpected_keys"])):
        return
    if dropped := _dropped(model, unused):
        message = f"config.json leaves out {len(dropped)} weights of the layers of {name}: {_first(dropped)}"
        raise UserError(message, HINT)
    log.warning("%d weights of %s are not used: %s", len(unused), name, _first(unused))


def _dropped(model: Any, unused: list[str]) -> list[str]:
    """Returns the weights without a place in a model that were learned for its layers.

    Without a whole layer, or a part of each, a model gives plausible nonsense. Left over without harm are weights
    outside of the model's own layers: image and sound towers of a model that is loaded for text, heads for other
    purposes, layers that guess further tokens; and in them tables that the code now computes (rotary frequencies, masks
    named `attn.bias`), which are not called `weight`, nor are they the bias of a module that could have one.
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
    return UserError(f"{key} of {name} has the shape {there} in the checkpoint, and {wanted} by config.json", HINT)


def _first(keys: Iterable[str]) -> str:
    keys = list(keys)
    return ", ".join(keys[:2]) + (" ..." if len(keys) > 2 else "")
