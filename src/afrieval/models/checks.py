"""Checks a model's weights, and tries a loaded model, to find defects that would appear late or never."""

import copy
import logging
import re
from collections.abc import Iterable
from typing import Any

from afrieval._util.errors import UserError
from afrieval.models.base import PROBE
from afrieval.models.engine.requests import EngineModel, TokenRequest
from afrieval.models.folder import Shapes
from afrieval.models.load_errors import device_errors

log = logging.getLogger("afrieval")

HINT = "fetch the model again, or check that config.json belongs to these weights"
LAYER = re.compile(r"(.*?\.)(\d+)\.")  # `model.layers.7.` of `model.layers.7.mlp.up_proj.weight`
EXTRA_LAYERS = ("num_nextn_predict_layers", "num_mtp_layers")  # multi-token prediction, not used here


def check_sizes(name: str, auto: Any, config: Any, shapes: Shapes) -> None:
    """Rejects weights whose size differs from config.json, before memory is allocated.

    The model is built without memory and compared by weight. Names and order of dimensions may
    change between file and model, so only weights of the same name are compared, and only by their
    number of values.

    Raises:
        UserError: names a weight and both shapes.
    """
    import torch

    if not shapes or getattr(config, "quantization_config", None) or getattr(config, "auto_map", None):
        return  # packed numbers, or custom code
    with torch.device("meta"):
        skeleton = auto.from_config(copy.deepcopy(config), trust_remote_code=False)
    for key, weight in skeleton.state_dict().items():
        if key in shapes and weight.numel() != torch.Size(shapes[key]).numel():
            raise _other_size(name, key, shapes[key], tuple(weight.shape))


def check_found(name: str, model: Any, info: dict[str, Any]) -> None:
    """Rejects a model that lacks weights, or layers of its checkpoint, and logs which weights are not used."""
    for key, stored_shape, declared_shape in sorted(info["mismatched_keys"]):
        raise _other_size(name, key, tuple(stored_shape), tuple(declared_shape))
    if missing := sorted(info["missing_keys"]):
        raise UserError(f"the checkpoint of {name} lacks {len(missing)} weights: {_first(missing)}", HINT)
    if not (unused := sorted(info["unexpected_keys"])):
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
    modules, config = dict(model.named_modules()), model.config.get_text_config()
    extra = max((n for name in EXTRA_LAYERS if isinstance(n := getattr(config, name, 0), int)), default=0)
    dropped = []
    for key in unused:
        layer, (parent, _, last_part) = LAYER.match(key), key.rpartition(".")
        if layer and layer[1] in last and not 0 < int(layer[2]) - last[layer[1]] <= extra:
            is_bias = last_part in getattr(modules.get(parent), "_parameters", {})
            dropped += [key] if last_part == "weight" or is_bias else []
    return dropped


def _other_size(name: str, key: str, stored: tuple[int, ...], declared: tuple[int, ...]) -> UserError:
    return UserError(f"{key} of {name} has the shape {stored} in the checkpoint, but {declared} in config.json", HINT)


def _first(keys: Iterable[str]) -> str:
    keys = list(keys)
    return ", ".join(keys[:2]) + (" ..." if len(keys) > 2 else "")


SEES_AHEAD = {4: 1e-3, 2: 0.05}  # of the logits' standard deviation, by bytes per number; rounding is far below
REPAIR = "fetch the model again, or check that tokenizer, config.json and weights belong together"
NOT_NUMBERS = "give --model.dtype bfloat16 or float32; if that does not help, the checkpoint is damaged"


def try_model(name: str, lm: EngineModel) -> None:
    """Rejects a model whose tokenizer does not fit, whose values are not numbers, or that sees later tokens."""
    import torch

    tokens = _tokens(name, lm)
    if not isinstance(lm.max_length, int) or lm.max_length < 1:
        hint = "check max_position_embeddings in its config.json, or give model.backend_args.max_length"
        raise UserError(f"the context length of {name} must be at least 1, not {lm.max_length}", hint)
    if not isinstance(lm.model, torch.nn.Module):
        return
    _check_vocabulary(name, lm)
    _check_weights(name, lm.model)
    logits = _logits(lm, tokens)
    if not (logits < float("inf")).all():  # false of NaN too
        raise UserError(f"a logit of {name} is not a number (NaN or infinite)", NOT_NUMBERS)
    if lm.backend == "causal":
        _check_order(name, lm, tokens, logits)


def try_writing(name: str, lm: EngineModel) -> None:
    """Rejects a model that cannot generate; only called if answers are generated."""
    import torch

    check_end(name, lm)
    ids = torch.tensor([_tokens(name, lm)[:1]], device=lm.device)
    try:
        with device_errors():
            lm._model_generate(ids, max_length=2, stop=[], attention_mask=torch.ones_like(ids), do_sample=False)
    except UserError:
        raise
    except Exception as e:
        message = " ".join(f"{type(e).__name__}: {e}".split())[:300]
        hint = "check its generation_config.json; --debug shows where it fails"
        raise UserError(f"{name} cannot generate an answer: {message}", hint) from e


def check_end(name: str, lm: EngineModel) -> None:
    """Rejects a model without a token that ends an answer."""
    if lm.eot_token_id is None:
        hint = "set eos_token in its tokenizer_config.json, or eos_token_id in its config.json"
        raise UserError(f"{name} has no end-of-sequence token", hint)


def _tokens(name: str, lm: EngineModel) -> list[int]:
    tokens = [int(token) for token in lm.tok_encode(PROBE)]
    if not tokens or set(tokens) <= {lm.tokenizer.unk_token_id, lm.tokenizer.bos_token_id}:
        raise UserError(f"the tokenizer of {name} returns no tokens for {PROBE[:25]!r}", REPAIR)
    return tokens[-min(len(tokens), lm.max_length) :]


def _check_vocabulary(name: str, lm: EngineModel) -> None:
    """Rejects tokens without an embedding, except unused special tokens that libraries add."""
    rows, tokenizer = lm.model.get_input_embeddings().weight.shape[0], lm.tokenizer
    idle = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    idle -= {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id}
    highest = max(number for number in tokenizer.get_vocab().values() if number not in idle)
    if highest >= rows:
        raise UserError(
            f"the tokenizer of {name} has token ids up to {highest}, but the model has only {rows} tokens", REPAIR
        )
    if lm.prefix_token_id is not None and not 0 <= lm.prefix_token_id < rows:
        hint = "remove it, or give a valid token id"
        raise UserError(f"backend_args.prefix_token_id must be below {rows}, not {lm.prefix_token_id}", hint)


def _check_weights(name: str, model: Any) -> None:
    for key, weight in model.named_parameters():
        if weight.is_meta or not weight.is_floating_point() or weight.element_size() < 2 or not weight.numel():
            continue  # offloaded by accelerate, or packed numbers
        low, high = (float(value) for value in weight.detach().aminmax())
        if not (float("-inf") <= low and high < float("inf")) or (low == float("-inf") and weight.dim() > 1):
            # a bias of -inf deliberately excludes a token
            raise UserError(f"{key} of {name} has values that are not numbers (NaN or infinite)", NOT_NUMBERS)


def _logits(lm: EngineModel, tokens: list[int]) -> Any:
    import torch

    ids = torch.tensor([tokens], device=lm.device)
    if lm.backend == "seq2seq":
        return lm._model_call(ids, attn_mask=torch.ones_like(ids), labels=ids)[0].float()
    return lm._model_call(ids)[0].float()


def _check_order(name: str, lm: EngineModel, tokens: list[int], logits: Any) -> None:
    """Rejects encoders such as BERT, whose earlier logits depend on the last token."""
    if len(tokens) < 3:
        return
    other = next((token for token in tokens if token != tokens[-1]), tokens[-1])
    moved = (_logits(lm, [*tokens[:-1], other])[:-1] - logits[:-1]).abs().max()
    if moved > SEES_AHEAD[4 if lm.model.dtype.itemsize >= 4 else 2] * logits.std():
        raise UserError(
            f"{name} does not generate from left to right: the probability of a token depends on later ones",
            "give a model that generates text, such as Llama, Gemma or T5, not an encoder such as BERT",
        )


def check_lengths(requests: list[TokenRequest], longest: int) -> None:
    """Rejects contexts and answers without tokens, and answers that exceed the context length."""
    for texts, context, answer in requests:
        if not (context and answer):
            raise UserError(
                f"the tokenizer returns no token for the {'answer' if context else 'prompt'} in {str(texts)[-200:]}",
                "give --model.add_bos_token true for empty prompts; an empty answer has no likelihood",
            )
        if len(answer) > longest:
            raise UserError(f"an answer has {len(answer)} tokens, but the context only {longest}", "shorten the answer")
