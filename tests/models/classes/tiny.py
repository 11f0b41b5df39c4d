"""A tiny random model of every class that transformers loads as a decoder or an encoder-decoder."""

import dataclasses
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

VOCABULARY = 320  # of the byte tokenizer's 259 tokens and of those that mark pictures and sounds
SPECIAL = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2, "sep_token_id": 1, "decoder_start_token_id": 40}
OTHER_SPECIAL = 300
SIZES = Path(__file__).with_name("sizes.yaml")
DRAWN = 0.25  # how far numbers that a class begins with, such as ones and zeros, are moved


@cache
def _sizes() -> Any:
    return yaml.safe_load(SIZES.read_text(encoding="utf-8"))


def config(model_type: str) -> Any:
    """Returns the settings of a kind of model, its sizes small."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    made = _config(CONFIG_MAPPING[model_type], {})
    made.decoder_start_token_id = SPECIAL["decoder_start_token_id"]  # not a field of T5's and others
    return made


def _config(kind: Any, changed: dict[str, Any]) -> Any:
    changed = dict(_sizes()["models"].get(kind.model_type, {})) | changed
    fields = {field.name: _small(field.name, field.default) for field in dataclasses.fields(kind)}
    values = {name: value for name, value in fields.items() if value is not dataclasses.MISSING}
    if "kv_lora_rank" in values:
        values["num_key_value_heads"] = _sizes()["latent"]
    for name in kind.sub_configs:
        part = _part(kind, name, changed.get(name, {}))
        if part is not None:
            changed[name] = _config(part, changed.get(name, {})).to_dict()
    return kind(**values | changed)


def _part(kind: Any, name: str, changed: dict[str, Any]) -> Any:
    """Returns the class of a part's settings; where any will do, that of the default."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    if "model_type" in changed:
        return CONFIG_MAPPING[changed["model_type"]]
    part = kind.sub_configs[name]
    part = part if dataclasses.is_dataclass(part) else type(getattr(kind(), name, None))
    return part if dataclasses.is_dataclass(part) else None


def _small(name: str, default: Any) -> Any:
    """Returns a small value for a setting, MISSING if its default stays."""
    if name in SPECIAL:
        return SPECIAL[name]
    if default is None:
        return _sizes()["unset"].get(name, dataclasses.MISSING)
    if isinstance(default, bool):
        return _sizes()["flags"].get(name, dataclasses.MISSING)
    if not isinstance(default, int):
        return dataclasses.MISSING
    if re.search("_token_(id|index)$", name):
        return OTHER_SPECIAL
    fitting = (value for pattern, value in _sizes()["sizes"].items() if re.fullmatch(pattern, name))
    return next(fitting, dataclasses.MISSING)


def model(kind: str, settings: Any, most: int = 10**6, seed: int = 0) -> Any:
    """Returns a model of a class with weights drawn large enough to tell wrong masks.

    Raises:
        ValueError: if it has more parameters than `most`.
    """
    import torch
    import transformers

    class_ = getattr(transformers, kind)
    if class_.config_class is settings.sub_configs.get("text_config"):  # as transformers' own loading does
        settings = settings.get_text_config()
    with torch.device("meta"):
        size = sum(parameter.numel() for parameter in class_(settings).parameters())
    if size > most:
        raise ValueError(f"{size} parameters")
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        made = class_(settings).eval()
        for parameter in made.parameters():
            _draw(parameter)
    return made


def _draw(parameter: Any) -> None:
    if parameter.dim() < 2:
        parameter.add_(parameter.new_empty(parameter.shape).normal_(0, DRAWN))
    else:
        parameter.normal_(0, 1.5 / math.sqrt(parameter.shape[-1]))
