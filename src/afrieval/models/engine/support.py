"""Decides whether the engine can run a model: by its code and settings, then by comparing answers."""

import inspect
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers.cache_utils import DynamicCache
from transformers.generation import GenerationConfig

from afrieval.models.engine.caches import cache_name, has_states
from afrieval.models.engine.forward import FULL, SLIDING, inference, windows
from afrieval.models.engine.generation import answers
from afrieval.models.engine.likelihood import encoder_decoder_loglikelihoods, loglikelihoods
from afrieval.models.engine.packs import Packs
from afrieval.models.engine.requests import Answer, EngineModel, TokenRequest

NEEDED = {
    "position_ids": "takes no positions (ALiBi, for one, counts tokens itself)",
    "past_key_values": "has no cache of keys and values",
    "logits_to_keep": "gives logits for all positions only",
}
DROPS = "drops tokens where many are computed at once (expert_capacity)"
HARMLESS = {
    "bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "max_length",
    "do_sample", "temperature", "top_k", "top_p", "min_p", "typical_p", "use_cache", "cache_implementation",
    "transformers_version", "return_dict_in_generate", "output_attentions", "output_hidden_states",
}  # fmt: skip
NEUTRAL = {
    "num_beams": 1, "num_beam_groups": 1, "num_return_sequences": 1, "repetition_penalty": 1.0, "length_penalty": 1.0,
    "diversity_penalty": 0.0, "encoder_repetition_penalty": 1.0, "no_repeat_ngram_size": 0, "min_length": 0,
    "encoder_no_repeat_ngram_size": 0, "early_stopping": False, "remove_invalid_values": False, "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0, "output_scores": False, "output_logits": False, "renormalize_logits": False,
}  # fmt: skip


def obstacle(model: Any, backend: str = "causal", attention: str = "tiles") -> str | None:
    """Returns what in a model's code or settings forbids the engine, None if nothing does."""
    inner = model.get_base_model() if hasattr(model, "peft_config") else model
    if not type(inner).__module__.startswith("transformers."):
        return "brings its own code"
    if getattr(getattr(model, "active_peft_config", None), "is_prompt_learning", False):
        return "puts tokens of its own before each text (a tuned prompt)"
    if hasattr(inner.config, "expert_capacity"):
        return DROPS
    if getattr(inner.config, "attention_type", None) == "block_sparse":
        return "changes its attention for good when it meets a short text (block_sparse)"
    return _decoder_obstacle(inner, attention) if backend == "causal" else None


def _decoder_obstacle(inner: Any, attention: str) -> str | None:
    """Returns why a decoder-only model cannot run packs in which each token sees other tokens; None if it may."""
    config = inner.config.get_text_config(decoder=True)
    parameters = inspect.signature(inner.forward).parameters
    for name, reason in NEEDED.items():
        if name not in parameters and (name != "past_key_values" or cache_name(inner) not in parameters):
            return reason
    if getattr(config, "alibi", False):
        return NEEDED["position_ids"]
    if "sliding_window" in (getattr(config, "per_layer_attributes", None) or ()):
        return "has layers with windows of several sizes"
    if strange := windows(inner).keys() - {FULL, SLIDING}:
        return f"has layers of another kind: {', '.join(sorted(strange))}"
    if attention == "masks" and has_states(inner):
        return "has layers with states, which take no masks of ours"
    if "local" in (getattr(config, "attention_layers", None) or ()):
        return "has layers that look back by their own rule"
    if attention == "masks" and config._attn_implementation not in ("sdpa", "eager"):
        return f"uses {config._attn_implementation}, which takes no masks of ours"
    ropes = getattr(config, "rope_parameters", None) or {}
    nested = [rope for rope in ropes.values() if isinstance(rope, dict)]  # some models have one for each kind of layer
    if moving := {str(rope.get("rope_type", "default")) for rope in nested or [ropes]} & {"dynamic", "longrope"}:
        return f"has positions that depend on the length of the whole prompt ({moving.pop()})"
    return None


def generation_obstacle(model: Any, options: dict[str, Any]) -> str | None:
    """Returns what makes generation more than taking the most probable token each time, None if nothing does."""
    drawn = options.get("do_sample") or options.get("temperature")
    names = {name for name in options if name not in HARMLESS - {"eos_token_id"}} | ({"do_sample"} if drawn else set())
    settings, usual = model.generation_config.to_diff_dict(), GenerationConfig()
    telling = {name: value for name, value in settings.items() if not name.startswith("_") and name not in HARMLESS}
    idle = {name: (None, NEUTRAL.get(name), getattr(usual, name, None)) for name in telling}
    changed = {name for name, value in telling.items() if value not in idle[name]}
    return ", ".join(sorted(names | changed)) or None


SEED, PACK, WINDOW = 1, 16, 8
SLOTS, NEW = 2, 4  # answers side by side, and the tokens of each
EXACT = 1e-3
# In 16 bits, in addition to what padding does: how much of a likelihood a single answer, and the mean, may differ.
COARSE, COARSE_MEAN = 0.01, 0.002
COARSE_LOGIT = 0.05  # and the logit of a token that is written, of the highest
WINDOWS = re.compile(r"(window(_size|_len)?|^index_topk)$")
TEXT = "Kínni iyì p nínú 24 = 2p? ጥያቄ፦ መልስ Ŋuɖoɖo ƙarya. The answer is 0123456789, not “seven”.\n\nJibu: la ventana"


def objection(lm: EngineModel) -> str | None:
    """Returns why a loaded model cannot use the engine, as the rest of a sentence; None if its answers are equal."""
    requests, exact = probes(lm), _is_exact(lm)
    score = loglikelihoods if lm.backend == "causal" else encoder_decoder_loglikelihoods
    try:
        with small_windows(lm.model):
            alone = lm.plain(requests, batch_size=1)
            padded = alone if exact else lm.plain(requests, batch_size=len(requests))
            tree = score(lm, requests, Packs(PACK), lambda i, answer: None)
            different = _difference(alone, padded, tree, exact)
            if different and lm.backend == "causal" and has_states(lm.model) and not _continues(lm, requests):
                return f"cannot continue its states by several tokens in transformers {transformers.__version__}"
            if different or lm.backend != "causal":
                return different
            return _difference_in_writing(lm, [context + answer for _, context, answer in requests[2::4]], exact)
    except Exception as e:  # any reason is a reason for lm_eval's own way
        return f"raises {type(e).__name__} ({' '.join(str(e).split())[:120]})"


def _continues(lm: EngineModel, requests: list[TokenRequest]) -> bool:
    """Returns whether a model has the same logits after a text that it reads in two parts, by its own cache."""
    ids = torch.tensor([max((context for _, context, _ in requests), key=len)], device=lm.device)
    positions, half = torch.arange(ids.shape[1], device=lm.device)[None], ids.shape[1] // 2
    cache = {cache_name(lm.model): DynamicCache(config=lm.model.config), "use_cache": True}
    with inference(lm):
        whole = lm.model(input_ids=ids, position_ids=positions).logits[0, -1]
        lm.model(input_ids=ids[:, :half], position_ids=positions[:, :half], **cache)
        parts = lm.model(input_ids=ids[:, half:], position_ids=positions[:, half:], **cache).logits[0, -1]
    return bool((whole - parts).abs().max() <= (EXACT if _is_exact(lm) else COARSE_LOGIT) * (1 + whole.abs().max()))


def _difference_in_writing(lm: EngineModel, prompts: list[list[int]], exact: bool) -> str | None:
    """Returns by how much tokens that the engine writes are not the most probable ones, None if it is rounding.

    Slots are fewer than prompts, so that some are used again.
    """
    for i, new in answers(lm, prompts, NEW, lambda tokens: False, Packs(PACK), SLOTS):
        ((plain, logits),) = _written(lm, [prompts[i]])
        steps = _alike(plain, new)
        highest, written = logits[:steps].amax(dim=-1), logits[range(steps), new[:steps]]
        allowed = EXACT * (highest.abs() / 100).clamp(min=1.0) if exact else COARSE_LOGIT * (1 + highest.abs())
        if not (highest - written <= allowed).all():
            return f"writes tokens whose logits are {float((highest - written).max()):.4f} below the highest"
    return None


def _written(lm: EngineModel, prompts: list[list[int]]) -> list[tuple[list[int], Tensor]]:
    """Returns the tokens that transformers itself writes after prompts, which it pads, and their logits."""
    width, pad = max(map(len, prompts)), lm.tokenizer.pad_token_id
    ids = torch.tensor([[pad] * (width - len(prompt)) + prompt for prompt in prompts], device=lm.device)
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts], device=lm.device)
    inputs = {"input_ids": ids, "attention_mask": mask, "pad_token_id": pad, "max_new_tokens": NEW, "use_cache": True}
    simply = {"do_sample": False, "num_beams": 1, "disable_compile": True}
    outputs = {"output_logits": True, "return_dict_in_generate": True}
    with inference(lm):
        output = lm.model.generate(**inputs, **simply, **outputs)
    logits = torch.stack(output.logits, dim=1).float()
    return list(zip(output.sequences[:, -logits.shape[1] :].tolist(), logits, strict=True))


def _alike(one: list[int], other: list[int]) -> int:
    """Returns how many steps of two answers can be compared: up to the first token that differs."""
    pairs = list(zip(one, other, strict=False))
    return next((i for i, (a, b) in enumerate(pairs, 1) if a != b), len(pairs))


def padding_obstacle(lm: EngineModel, writes: bool) -> str | None:
    """Returns how far padding moves what a model generates by itself, or its likelihoods; None if it is rounding."""
    if hasattr(lm.model.config, "expert_capacity"):
        return DROPS
    requests = probes(lm)
    with small_windows(lm.model):
        if writes:
            prompts = [context + answer for _, context, answer in requests[1::4]]  # of three lengths
            both = [(*_written(lm, [prompt]), row) for prompt, row in zip(prompts, _written(lm, prompts), strict=True)]
            steps = [(a.amax(dim=-1), b.amax(dim=-1), _alike(one, other)) for (one, a), (other, b) in both]
            pairs = [pair for a, b, n in steps for pair in zip(a.tolist()[:n], b.tolist()[:n], strict=True)]
        else:
            alone, padded = (lm.plain(requests, batch_size=size) for size in (1, len(requests)))
            pairs = [(a, b) for (a, _), (b, _) in zip(alone, padded, strict=True)]
    far = [(abs(a - b), abs(a)) for a, b in pairs]
    most, mean = max(far)[0], fmean(distance for distance, _ in far)
    fits = all(distance <= EXACT * max(1.0, size / 100) for distance, size in far)
    if not _is_exact(lm):
        fits = mean <= COARSE * (1 + fmean(size for _, size in far))
    return None if fits else f"moves its numbers by up to {most:.4f}"


def _is_exact(lm: EngineModel) -> bool:
    return bool(lm.model.dtype.itemsize >= 4 and lm.mixed_precision_dtype is None)


def _difference(alone: list[Answer], padded: list[Answer], tree: list[Answer], exact: bool) -> str | None:
    """Returns how the engine's answers differ from the harness' own by more than rounding, None if they do not."""
    values, noise = [a for a, _ in alone], [abs(a - b) for (a, _), (b, _) in zip(alone, padded, strict=True)]
    far = [abs(a - b) for (a, _), (b, _) in zip(alone, tree, strict=True)]
    for a, (b, _), distance in zip(values, tree, far, strict=True):
        allowed = EXACT * max(1.0, abs(a) / 100) if exact else 4 * max(noise) + COARSE * (1 + abs(a))
        if not distance <= allowed:
            return f"gives {b:.4f} where lm_eval's own way gives {a:.4f}"
    allowed = EXACT if exact else 2 * fmean(noise) + COARSE_MEAN * (1 + fmean(map(abs, values)))
    return None if fmean(far) <= allowed else f"differs by {fmean(far):.4f} on average from lm_eval's own way"


@contextmanager
def small_windows(model: Any) -> Iterator[None]:
    """Makes a model look back less far than the probes reach, if its settings or its layers name windows.

    Some models' code does not do what their settings say, and no short text would tell.
    """
    config = model.config.get_text_config(decoder=True)
    holders = [config] if model.config.is_encoder_decoder else [config, *model.modules()]
    settings = [
        (holder, name, value)
        for holder in holders
        for name, value in vars(holder).items()
        if WINDOWS.search(name) and type(value) is int
    ]
    for holder, name, value in settings:
        setattr(holder, name, min(value, WINDOW))
    try:
        yield
    finally:
        for holder, name, value in settings:
            setattr(holder, name, value)


def probes(lm: EngineModel) -> list[TokenRequest]:
    """Returns requests with shared beginnings, branches at several depths and answers of several lengths."""
    draw, ordinary = random.Random(SEED), lm.tok_encode(TEXT)

    def tokens(n: int) -> list[int]:
        return [draw.choice(ordinary) for _ in range(n)]

    head, requests = tokens(20), list[TokenRequest]()
    for length in (3, 9, 14):
        question, begun = head + tokens(length), tokens(2)
        answers = (tokens(1), begun + tokens(1), begun + tokens(3), tokens(5))
        requests += [(None, question, answer) for answer in answers]
    return requests
