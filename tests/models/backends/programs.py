"""vLLM and SGLang in small: what they answer, cache and refuse follows their sources (0.33 and 0.5.23).

Their model is a table: a token's scores follow from all tokens before it, and are whole numbers, so that ties are
frequent.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray
from transformers import AutoTokenizer

VOCABULARY = 259
LONGEST = 256
BLOCK = 16
MOST = 128  # vllm.sampling_params.MAX_LOGPROB_TOKEN_IDS


def log_probabilities(tokens: Sequence[int]) -> NDArray[np.float64]:
    """Returns those of the token after some tokens."""
    scores = np.random.default_rng(crc32(repr(list(tokens)).encode())).integers(0, 9, VOCABULARY).astype(float)
    scores[: VOCABULARY - 8] -= 4  # few are likely, so that answers can be the likeliest ones
    likely: NDArray[np.float64] = scores - np.log(np.exp(scores).sum())
    return likely


def written(tokens: Sequence[int], steps: int) -> list[int]:
    """Returns the tokens that a model writes, each the most likely one."""
    new: list[int] = []
    for _ in range(steps):
        new.append(int(log_probabilities([*tokens, *new]).argmax()))
    return new


@dataclass
class Program:
    """Counts.

    Attributes:
        computed: tokens that were computed, not taken from the cache.
        calls: the number of prompts of each call.
    """

    computed: int = 0
    calls: list[int] = field(default_factory=list)


@dataclass
class SamplingParams:
    """As in vLLM: log-probabilities of prompts leave the cache aside if nothing else is said."""

    temperature: float = 1.0
    max_tokens: int = 16
    detokenize: bool = True
    prompt_logprobs: int | None = None
    logprob_token_ids: list[int] | None = None
    skip_reading_prefix_cache: bool | None = None

    def __post_init__(self) -> None:
        if self.skip_reading_prefix_cache is None:
            self.skip_reading_prefix_cache = self.prompt_logprobs is not None


class LLM(Program):
    """vLLM's, with its cache of whole blocks."""

    def __init__(self, max_model_len: int, **arguments: Any):
        super().__init__()
        self.longest, self.blocks = max_model_len, set[tuple[int, ...]]()
        cache = SimpleNamespace(enable_prefix_caching=True, num_gpu_blocks=1000, block_size=BLOCK)
        config = SimpleNamespace(use_v2_model_runner=True, cache_config=cache)
        self.llm_engine = SimpleNamespace(vllm_config=config, model_config=SimpleNamespace(max_model_len=max_model_len))

    def generate(self, prompts: list[Any], sampling_params: list[SamplingParams], **options: Any) -> list[Any]:
        self.calls.append(len(prompts))
        return [self._one(p["prompt_token_ids"], s) for p, s in zip(prompts, sampling_params, strict=True)]

    def reset_prefix_cache(self) -> None:
        self.blocks.clear()

    def _one(self, tokens: list[int], params: SamplingParams) -> Any:
        ids = params.logprob_token_ids
        if len(tokens) + params.max_tokens > self.longest or (ids is not None and not 0 < len(ids) <= MOST):
            raise ValueError("refused by vLLM")
        hit = 0
        if not params.skip_reading_prefix_cache:
            while hit + BLOCK < len(tokens) and tuple(tokens[: hit + BLOCK]) in self.blocks:
                hit += BLOCK
        self.blocks |= {tuple(tokens[:n]) for n in range(BLOCK, len(tokens) + 1, BLOCK)}
        self.computed += len(tokens) - hit
        rows = None
        if params.prompt_logprobs is not None:
            rows = [None, *(self._row(tokens[:n], tokens[n], []) for n in range(hit + 1, len(tokens)))]
        (new,) = written(tokens, 1)
        row = self._row(tokens, new, ids) if ids else None
        output = SimpleNamespace(token_ids=[new], logprobs=row and [row])
        return SimpleNamespace(prompt_token_ids=tokens, prompt_logprobs=rows, num_cached_tokens=hit, outputs=[output])

    def _row(self, tokens: Sequence[int], token: int, ids: list[int]) -> dict[int, Any]:
        scores = log_probabilities(tokens)
        return {n: SimpleNamespace(logprob=float(scores[n])) for n in (token, *(ids or [int(scores.argmax())]))}


class Engine(Program):
    """SGLang's, with its cache of single tokens."""

    def __init__(self, model_path: str, **arguments: Any):
        super().__init__()
        self.cached: list[list[int]] = []
        tokenizer = AutoTokenizer.from_pretrained(model_path)
        self.tokenizer_manager = SimpleNamespace(tokenizer=tokenizer, context_len=LONGEST)

    def generate(
        self,
        input_ids: list[list[int]],
        sampling_params: list[dict[str, Any]],
        return_logprob: bool,
        top_logprobs_num: int,
        logprob_start_len: int | list[int],
    ) -> list[Any]:
        starts = logprob_start_len if isinstance(logprob_start_len, list) else [logprob_start_len] * len(input_ids)
        self.calls.append(len(input_ids))
        return [self._one(tokens, start, top_logprobs_num) for tokens, start in zip(input_ids, starts, strict=True)]

    def flush_cache(self) -> None:
        self.cached.clear()

    def _one(self, tokens: list[int], start: int, tops: int) -> Any:
        if len(tokens) >= self.tokenizer_manager.context_len:
            raise ValueError("longer than the model's context length")
        most = min(start, len(tokens) - 1)
        hit = max((_common(tokens, other, most) for other in self.cached), default=0)
        self.cached.append(tokens)
        self.computed += len(tokens) - hit
        scored: list[Any] = [(None, tokens[start], None)]
        likeliest: list[Any] = [None]
        for n in range(start + 1, len(tokens)):
            scores = log_probabilities(tokens[:n])
            scored.append((float(scores[tokens[n]]), tokens[n], None))
            order = np.argsort(-scores, kind="stable")[:tops]
            likeliest.append([(float(scores[top]), int(top), None) for top in order])
        about = {"input_token_logprobs": scored, "input_top_logprobs": likeliest, "cached_tokens": hit}
        return {"text": "", "meta_info": {**about, "prompt_tokens": len(tokens), "completion_tokens": 1}}


def _common(a: list[int], b: list[int], most: int) -> int:
    return next((i for i, (x, y) in enumerate(zip(a[:most], b, strict=False)) if x != y), min(most, len(b)))


@cache
def _harness() -> Any:
    """Returns the harness' module for vLLM, which can be imported once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("importlib.metadata.version", lambda name: "0.33.0")
        return import_module("lm_eval.models.vllm_causallms")


def with_vllm(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Installs this vLLM; returns the harness' class for it."""
    parts: dict[str, dict[str, Any]] = {
        "vllm": {"LLM": LLM, "SamplingParams": SamplingParams, "TokensPrompt": dict},
        "vllm.lora": {},
        "vllm.lora.request": {"LoRARequest": object},
        "vllm.tokenizers": {"get_tokenizer": lambda name, **options: AutoTokenizer.from_pretrained(name)},
        "vllm.renderers": {},
        "vllm.renderers.hf": {"resolve_chat_template": lambda **options: None},
    }
    _install(monkeypatch, parts)
    monkeypatch.setitem(sys.modules, "lm_eval.models.vllm_causallms", None)  # which other tests cannot import
    monkeypatch.delitem(sys.modules, "lm_eval.models.vllm_causallms")
    monkeypatch.setitem(sys.modules, "lm_eval.models.vllm_causallms", _harness())
    return _harness().VLLM


def with_sglang(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Installs this SGLang; returns the harness' class for it."""
    import lm_eval.models.sglang_causallms as harness

    _install(monkeypatch, {"sglang": {"Engine": Engine}})
    monkeypatch.setattr(harness, "sgl", sys.modules["sglang"], raising=False)
    return harness.SGLangLM


def _install(monkeypatch: pytest.MonkeyPatch, parts: dict[str, dict[str, Any]]) -> None:
    for name, members in parts.items():
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
