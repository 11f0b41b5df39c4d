"""Counts the tokens of requests from their token ids, with the model's tokenizer and settings but not its weights."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import torch
from transformers import GenerationConfig

from afrieval._util.errors import UserError
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backends.hf import HF
from afrieval.models.backends.text_requests import Text
from afrieval.models.checks import check_end
from afrieval.models.engine.generation import beginning, families, fitting
from afrieval.models.engine.likelihood import in_order, next_batch
from afrieval.models.engine.logits import Ends
from afrieval.models.engine.memory_estimate import (
    Bytes,
    batch_bytes,
    generated_bytes,
    pack_bytes,
    plain_bytes,
    slots_bytes,
)
from afrieval.models.engine.packs import Packs, free_memory
from afrieval.models.engine.requests import TokenRequest
from afrieval.models.engine.support import obstacle
from afrieval.models.engine.tree import TokenTree, build_tree, common
from afrieval.models.load_errors import loading
from afrieval.models.loading import HFBackend, batch_size, check_device, device_of, finished, seed_libraries, slots
from afrieval.models.processes import ALONE
from afrieval.models.registry import backend_of
from afrieval.scoring.responses import Scored

log = logging.getLogger("afrieval")

NO_LIMIT = 2**60  # bytes
PACKED = ("load_in_8bit", "load_in_4bit", "quantization_config", "gguf_file", "autogptq", "gptqmodel")
# Arguments of vLLM that say what is computed, and their names in hf.
OF_VLLM = {
    **{name: name for name in ("pretrained", "revision", "trust_remote_code", "add_bos_token", "tokenizer")},
    **{name: name for name in ("prefix_token_id", "enable_thinking", "chat_template_args", "think_end_token")},
    "max_model_len": "max_length",
    "max_length": "max_length",
}


class TokenCounter(HF):
    """HF that answers nothing: `work` has the tokens that the answers would take.

    Attributes:
        longest: the most tokens of a sequence so far, answers included.
        truncated: number of requests since `begin` that lose their beginning.
        shared: tokens since `begin` that are computed once, however many requests there are.
        largest: for each way of answering, the function that predicts its memory with the largest arguments so far.
        absent: the device that is asked for, if it is not on this machine.
    """

    longest = truncated = shared = 0
    packs_weights = is_vllm = False
    absent = ""
    _has_written = True
    max_batch_size: int

    def __init__(self, *args: Any, **kwargs: Any):
        self.largest: dict[Callable[..., Bytes], tuple[int, tuple[Any, ...]]] = {}
        super().__init__(*args, **kwargs)

    def begin(self) -> None:
        """Begins to count anew."""
        for amount in self.work.kinds.values():
            amount.clear()
        self.truncated = self.shared = 0

    @property
    def too_long(self) -> int:
        """Always 0, so that nothing is logged: `truncated` has the sum."""
        return 0

    @too_long.setter
    def too_long(self, value: int) -> None:
        self.truncated += value

    def _create_model(self, pretrained: str, **kwargs: Any) -> None:
        """Builds the model without memory for its weights: their bytes and the engine depend on its shape."""
        self.packs_weights = any(kwargs.get(name) for name in PACKED)
        dtype = kwargs.get("dtype", "auto")
        config_dtype = getattr(self.config.get_text_config(), "dtype", None) or torch.float32
        with torch.device("meta"):
            self._model = self.AUTO_MODEL_CLASS.from_config(
                self.config,
                dtype=config_dtype if dtype == "auto" else getattr(torch, str(dtype)),
                trust_remote_code=kwargs.get("trust_remote_code", False),
            )
        self._model.to = lambda *args, **kwargs: self._model  # it is nowhere, and stays there
        with suppress(OSError):  # many models have no such file
            self._model.generation_config = GenerationConfig.from_pretrained(
                pretrained, revision=kwargs.get("revision"), subfolder=kwargs.get("subfolder", "")
            )

    @property
    def longest_scored(self) -> int:
        """As in `HF`; in the context of vLLM, there has to be room for a token more."""
        return int(self.max_length) - 1 if self.is_vllm else super().longest_scored

    @property
    def weights(self) -> int:
        """Bytes of the weights; those that are tied count once."""
        return sum(weight.numel() * weight.element_size() for weight in self.model.parameters())

    @property
    def passes(self) -> int | None:
        """Bytes of forward passes, for what takes most of what was counted; None if the model's code does not tell."""
        try:
            return max((sum(predict(self, *sizes).values()) for predict, (_, sizes) in self.largest.items()), default=0)
        except Exception as e:  # a model's code may ask for numbers, which are not there
            log.debug("the memory of a forward pass is not known: %s", e)
            return None

    def _keep_largest(self, predict: Callable[..., Bytes], size: int, *sizes: Any) -> None:
        self.largest[predict] = max(self.largest.get(predict, (0, ())), (size, sizes), key=lambda entry: entry[0])

    def choose_engine(self, engine: str) -> None:
        """Sets the engine as `HF` does; only answers could show that it errs."""

        def left(device: torch.device) -> int:
            room = free_memory(device) - self.weights
            return room if room > 0 else NO_LIMIT  # the weights only fit another device

        self.packs = Packs(free=left)
        if generation_config := getattr(self.model, "generation_config", None):
            generation_config.max_new_tokens = None
        self.engine = "plain" if engine == "plain" or self._foreseen_obstacle() else "tree"
        if self.engine == "plain" and self.batch_size_per_gpu == "auto":
            self.batch_size_per_gpu = self.max_batch_size

    def _foreseen_obstacle(self) -> str | None:
        if (reason := obstacle(self.model, self.backend)) or self.backend != "causal":
            return reason
        try:
            pack_bytes(self, 2, 2, 1, 1)
        except Exception as e:  # its code does not take attention from the engine; `HF` tries it
            log.debug("the model does not run in tiles: %s", e)
            self.attention = "masks"
        return obstacle(self.model, self.backend, self.attention)

    def together(self, writes: bool) -> int | str:
        """Returns the batch size: only answers could show what padding does."""
        return self.batch_size_per_gpu

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns empty answers."""
        check_end(str(self.pretrained), self)
        return super().generate_until(requests, disable_tqdm)

    def _loglikelihood_tokens(
        self, requests: list[TokenRequest], disable_tqdm: bool = False, override_bs: int | None = None
    ) -> list[tuple[float, bool, int]]:
        self._check(requests)
        self.forget_texts()
        if self.engine == "tree":
            (self._count_tree if self.backend == "causal" else self._count_encoder_decoder)(requests)
        elif self.backend == "causal":  # the harness computes those once that differ in the last token only
            apart = {(*context, *answer[:-1]): (texts, context, answer) for texts, context, answer in requests}
            self._count_padded([*apart.values()], int(self.batch_size))
        else:
            self._count_padded(requests, int(self.batch_size))
        return [(0.0, False, len(answer)) for _, _, answer in requests]

    def _scored(self, method: str, texts: list[Text], batch_size: int) -> list[Scored]:
        for vocabulary in (False, True):
            chosen = [text for text in texts if bool(text.options.get("vocabulary")) is vocabulary]
            windows = [window for text in chosen for window in text.windows]
            if self.engine == "tree" and self.backend == "causal" and windows:
                self._count_tree(windows, vocabulary)
            else:
                self._count_padded(windows, batch_size)
        for text in texts:
            if text.options.get("gradient"):
                self._count_padded(text.windows, 1)
        return [Scored((0.0, False, sum(len(answer) for _, _, answer in text.windows)), {}) for text in texts]

    def _count_tree(self, requests: list[TokenRequest], vocabulary: bool = False) -> None:
        room = self.max_length + 1
        rows = [np.array((context + answer)[-room:-1], dtype=np.int32) for _, context, answer in requests]
        tree = build_tree(rows, [answer for _, _, answer in requests])
        self.longest = max(self.longest, tree.longest)
        self.shared += min(common(rows[0], row) for row in rows) if len(rows) > 1 else 0
        self.work.add(computed=len(tree.tokens))
        sizes = widest(tree, self.packs.size(self, tree.longest), self.packs.scored(self))
        self._keep_largest(pack_bytes, sum(sizes) + vocabulary, *sizes, vocabulary)

    def _count_padded(self, requests: Sequence[TokenRequest], size: int) -> None:
        """Counts batches of requests, the longest first, as wide as their longest."""
        causal = self.backend == "causal"
        ordered = sorted(requests, key=lambda request: -len(request[1] + request[2]))
        for begin in range(0, len(ordered), size):
            batch = [(len(context), len(answer)) for _, context, answer in ordered[begin : begin + size]]
            n_tokens = max(context + answer - 1 if causal else context for context, answer in batch)
            width = min(n_tokens, self.max_length) + (0 if causal else max(answer for _, answer in batch))
            self.longest = max(self.longest, width)
            self.work.add(computed=len(batch) * width)
            self._keep_largest(plain_bytes, len(batch) * width, len(batch), width)

    def _count_encoder_decoder(self, requests: list[TokenRequest]) -> None:
        ordered, _ = in_order(self, requests)
        done = 0
        while done < len(ordered):
            batch = next_batch(self, ordered, done, self.packs, len(ordered), len(ordered))
            contexts = [len(context) for context, _ in groupby(context for _, context, _ in batch)]
            answers = max(len(answer) for _, _, answer in batch)
            self.longest = max(self.longest, max(contexts) + answers)
            self.work.add(computed=len(contexts) * (max(contexts) + 1) + len(batch) * (answers - 1))
            self._keep_largest(batch_bytes, len(contexts) * max(contexts), [*batch])
            done += len(batch)

    def _answers(self, prompts: list[list[int]], most: int, ends: Ends) -> Iterator[tuple[int, list[int]]]:
        for family in families(prompts, most):
            lengths = [len(prompts[i]) for i in family]
            alike = len(beginning([prompts[i] for i in family]))
            written = (most - 1) * len(family)  # the prompt's last pass gives the first token
            self.work.add(computed=alike + sum(lengths) - alike * len(family) + written, written=written)
            self.shared += alike if len(family) > 1 else 0
            self.longest = max(self.longest, max(lengths) + most)
            side_by_side = fitting(self, self.packs, [prompts[i] for i in family], most, self.slots)
            room = max(lengths) - alike + most
            pack = self.packs.size(self, self.longest)
            self._keep_largest(slots_bytes, alike + side_by_side * room, alike, side_by_side, room, pack)
            yield from ((i, [self.eot_token_id or 0]) for i in family)

    def _generate_plainly(
        self, context: torch.Tensor, max_length: int, stop: list[str], attention_mask: torch.Tensor, **kwargs: Any
    ) -> torch.Tensor:
        rows, prompt = context.shape
        causal = self.backend == "causal"
        steps = max_length - 1 - (prompt if causal else 0)
        self.longest = max(self.longest, max_length if causal else prompt + max_length - 1)
        self.work.add(computed=rows * (prompt + steps), written=rows * steps)
        self._keep_largest(generated_bytes, rows * (prompt + steps), rows, prompt, steps)
        end = torch.full((rows, 1), self.eot_token_id, device=context.device)
        return torch.cat([context, end], dim=1) if causal else end


def widest(tree: TokenTree, size: int, most: int) -> tuple[int, int, int, int]:
    """Returns what a pack of a tree asks for at most: room in the cache, tokens, scored positions, tokens in a row.

    `size` is the tokens of a pack, `most` its scored positions.
    """
    n, nodes = len(tree.tokens), np.unique(tree.scored)
    scored = int((np.searchsorted(nodes, nodes + size) - np.arange(len(nodes))).max())
    branches = 1 + int((np.diff(tree.depth) <= 0).sum())
    return min(tree.longest + size, n), min(size, n), min(scored, most), n // branches


def token_counter(config: ModelConfig, evaluation: EvalConfig) -> TokenCounter:
    """Returns what counts the tokens of requests to a model.

    Raises:
        UserError: if config.json or the tokenizer cannot be loaded.
    """
    seed_libraries(evaluation)
    device, absent = device_of(config, ALONE), ""
    try:
        check_device(device)
    except UserError:
        device, absent = device_of(replace(config, device=None), ALONE), device
    sizes = {"batch_size": batch_size(evaluation, device), "max_batch_size": evaluation.max_batch_size}
    arguments = HFBackend(config.model_type).arguments(config, evaluation)
    is_vllm = not backend_of(config.model_type).has_engine
    if is_vllm:
        arguments = {OF_VLLM[name]: value for name, value in arguments.items() if name in OF_VLLM}
    lm = loading(config, lambda: TokenCounter(**{**arguments, "device": "cpu", "parallelize": False, **sizes}))
    lm.is_vllm = is_vllm
    lm._device, lm.absent, lm.slots = torch.device(device), absent, slots(evaluation, config.backend_args)
    finished(config, lm)
    lm.choose_engine("plain" if is_vllm else config.engine)
    return lm
