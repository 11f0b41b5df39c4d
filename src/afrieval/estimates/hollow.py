"""A model without weights: its tokenizer and settings are the real ones, and it counts what it would compute."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import GenerationConfig

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.errors import UserError
from afrieval.models.backends.hf import HF
from afrieval.models.backends.texts import Text
from afrieval.models.engine.encoder_decoder import in_order, next_batch
from afrieval.models.engine.generation import beginning, families
from afrieval.models.engine.likelihood import Answer, TokenRequest
from afrieval.models.engine.memory import Packs, free_memory, needed
from afrieval.models.engine.stops import Ends
from afrieval.models.engine.support import obstacle
from afrieval.models.engine.tree import common, plant
from afrieval.models.faults import loading
from afrieval.models.load import batch_size, check_device, device_of, finished, hf_arguments, seed_libraries
from afrieval.models.processes import ALONE
from afrieval.models.trial import check_end
from afrieval.scoring.detailed import Scored

NO_LIMIT = 2**60  # bytes
PACKED = ("load_in_8bit", "load_in_4bit", "quantization_config", "gguf_file", "autogptq", "gptqmodel")
# Arguments of vLLM that say what is computed, and their names in hf.
OF_VLLM = {
    **{name: name for name in ("pretrained", "revision", "trust_remote_code", "add_bos_token", "tokenizer")},
    **{name: name for name in ("prefix_token_id", "enable_thinking", "chat_template_args", "think_end_token")},
    "max_model_len": "max_length",
    "max_length": "max_length",
}


class Hollow(HF):
    """HF on a model that has no weights; answers mean nothing, and `work` has what they would take.

    Attributes:
        longest: the most tokens of a sequence so far, answers included.
        truncated: number of requests since `begin` that lose their beginning.
        shared: tokens since `begin` that are computed once for several blocks.
        blocks: prompt to the block of documents that it is counted with, where some stand for all; else empty.
        packs_weights: whether backend_args ask for weights of fewer bits.
        absent: the device that is asked for, if it is not on this machine.
    """

    longest = truncated = shared = 0
    packs_weights = False
    blocks: Mapping[str, int] = MappingProxyType({})
    absent = ""
    _has_written = True
    max_batch_size: int

    def begin(self, blocks: Mapping[str, int]) -> None:
        """Begins to count anew; `blocks` are those of the class."""
        self.blocks = blocks
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
        """Builds the model without memory for its weights."""
        self.packs_weights = any(kwargs.get(name) for name in PACKED)
        wanted = kwargs.get("dtype", "auto")
        own = getattr(self.config.get_text_config(), "dtype", None) or torch.float32
        with torch.device("meta"):
            self._model = self.AUTO_MODEL_CLASS.from_config(
                self.config,
                dtype=own if wanted == "auto" else getattr(torch, str(wanted)),
                trust_remote_code=kwargs.get("trust_remote_code"),
            )
        self._model.to = lambda *args, **kwargs: self._model  # it is nowhere, and stays there
        with suppress(OSError):  # many models have no such file
            self._model.generation_config = GenerationConfig.from_pretrained(
                pretrained, revision=kwargs.get("revision"), subfolder=kwargs.get("subfolder", "")
            )

    @property
    def weights(self) -> int:
        """Bytes of the weights; those that are tied count once."""
        return sum(weight.numel() * weight.element_size() for weight in self.model.parameters())

    def free(self, device: torch.device) -> int:
        """Returns how many bytes of a device the weights will leave; no limit if they only fit another one."""
        left = free_memory(device) - self.weights
        return left if left > 0 else NO_LIMIT

    def choose_engine(self, wanted: str) -> None:
        """Sets the engine as `HF` does; only answers could show that it errs."""
        self.packs = Packs(free=self.free)
        if own := getattr(self.model, "generation_config", None):
            own.max_new_tokens = None
        self.engine = "plain" if wanted == "plain" or self._obstacle() else "tree"
        if self.engine == "plain" and self.batch_size_per_gpu == "auto":
            self.batch_size_per_gpu = self.max_batch_size

    def _obstacle(self) -> str | None:
        try:
            needed(self.model, 1, 1)
        except (AttributeError, TypeError) as e:  # as `objection` finds
            return str(e)
        return obstacle(self.model, self.backend)

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns empty answers."""
        check_end(str(self.pretrained), self)
        return super().generate_until(requests, disable_tqdm)

    def _tree(self, requests: list[TokenRequest]) -> list[Answer]:
        if self.backend == "causal":
            self._count_tree(requests)
        else:
            self._count_encoder_decoder(requests)
        return [(0.0, False)] * len(requests)

    def _plain(self, requests: list[TokenRequest], **kwargs: Any) -> list[Answer]:
        if self.backend == "causal":  # the harness computes those once that differ in the last token only
            apart = {(*request[1], *request[2][:-1]): request for request in requests}
            self._count_padded([*apart.values()], int(self.batch_size))
        else:
            self._count_padded(requests, int(self.batch_size))
        return [(0.0, False)] * len(requests)

    def _scored(self, method: str, texts: list[Text], batch_size: int) -> list[Scored]:
        for vocabulary in (False, True):
            chosen = [text for text in texts if bool(text.options.get("vocabulary")) is vocabulary]
            windows = [window for text in chosen for window in text.windows]
            if self.engine == "tree" and self.backend == "causal" and windows:
                self._count_tree(windows)
            else:
                self._count_padded(windows, batch_size)
        for text in texts:
            if text.options.get("gradient"):
                self._count_padded(text.windows, 1)
        counted = [sum(len(answer) for _, _, answer in text.windows) for text in texts]
        return [Scored((0.0, False, n), {}) for n in counted]

    def _count_tree(self, requests: list[TokenRequest]) -> None:
        room = self.max_length + 1
        sequences = [np.array((context + answer)[-room:-1], dtype=np.int32) for _, context, answer in requests]
        tree = plant(sequences, [[]] * len(sequences))
        if self.blocks:
            blocks = [self.blocks.get(texts[0] if texts else "", -1) for texts, _, _ in requests]
            self.shared += _shared(sequences, blocks)
        self.longest = max(self.longest, tree.longest)
        self.work.add(computed=len(tree.tokens))

    def _count_padded(self, requests: list[TokenRequest], size: int) -> None:
        """Counts batches of requests, the longest first, as wide as their longest."""
        causal, room = self.backend == "causal", self.max_length
        pairs = [(len(c) + len(a) - 1, 0) if causal else (len(c), len(a)) for _, c, a in requests]
        order = sorted(range(len(pairs)), key=lambda i: -len(requests[i][1] + requests[i][2]))
        for begin in range(0, len(order), size):
            batch = [pairs[i] for i in order[begin : begin + size]]
            given, answered = min(max(given for given, _ in batch), room), max(answered for _, answered in batch)
            self.longest = max(self.longest, given + answered)
            self.work.add(computed=len(batch) * (given + answered))

    def _count_encoder_decoder(self, requests: list[TokenRequest]) -> None:
        ordered, _ = in_order(self, requests)
        done = 0
        while done < len(ordered):
            batch = next_batch(self, ordered, done, self.packs, len(ordered), len(ordered))
            contexts = [len(context) for context, _ in groupby(context for _, context, _ in batch)]
            answers = max(len(answer) for _, _, answer in batch)
            self.longest = max(self.longest, max(contexts) + answers)
            self.work.add(computed=len(contexts) * (max(contexts) + 1) + len(batch) * (answers - 1))
            done += len(batch)

    def _answers(self, prompts: list[list[int]], most: int, ends: Ends) -> Iterator[tuple[int, list[int]]]:
        for family in families(prompts):
            lengths = [len(prompts[i]) for i in family]
            alike = len(beginning([prompts[i] for i in family]))
            written = (most - 1) * len(family)  # the prompt's last pass gives the first token
            self.work.add(computed=alike + sum(lengths) - alike * len(family) + written, written=written)
            self.shared += alike if len(family) > 1 else 0
            self.longest = max(self.longest, max(lengths) + most)
            yield from ((i, [self.eot_token_id]) for i in family)

    def _model_generate(self, context: torch.Tensor, max_length: int, stop: list[str], **kwargs: Any) -> torch.Tensor:
        self.longest = max(self.longest, max_length)
        return super()._model_generate(context, max_length, stop, **kwargs)

    def _generate_plainly(
        self, context: torch.Tensor, max_length: int, stop: list[str], attention_mask: torch.Tensor, **kwargs: Any
    ) -> torch.Tensor:
        causal = self.backend == "causal"
        steps = max_length - context.shape[1] - 1 if causal else max_length - 1
        written = len(context) * steps
        self.work.add(computed=context.numel() + written, written=written)
        end = torch.full((len(context), 1), self.eot_token_id, device=context.device)
        return torch.cat([context, end], dim=1) if causal else end


def _shared(rows: Sequence[NDArray[np.int32]], blocks: Sequence[int]) -> int:
    """Returns how many tokens, of the tree of some rows, belong to rows of several blocks."""
    order = sorted(range(len(rows)), key=lambda i: rows[i].astype(">u4").tobytes())
    found = least = 0
    for a, b in pairwise(order):
        alike = common(rows[a], rows[b])
        least = min(least, alike)  # of all rows since the last that was of another block
        if blocks[a] != blocks[b]:
            found, least = found + alike - least, alike
    return found


class HollowVLLM(Hollow):
    """The same for vLLM, whose context has to have room for a token more."""

    @property
    def longest_scored(self) -> int:
        """One token less than the context."""
        return int(self.max_length) - 1


def _device(config: ModelConfig) -> tuple[str, str]:
    """Returns the device of a run, or the best one here and the name of one that is not here."""
    asked = device_of(config, ALONE)
    try:
        check_device(asked)
    except UserError:
        return device_of(replace(config, device=None), ALONE), asked
    return asked, ""


def hollow(config: ModelConfig, evaluation: EvalConfig) -> Hollow:
    """Returns a model without weights, with the tokenizer of the real one.

    Args:
        config: of a model of the backend hf or vllm.
        evaluation: its batch sizes are used.

    Raises:
        UserError: if config.json or the tokenizer cannot be loaded.
    """
    seed_libraries(evaluation)
    device, absent = _device(config)
    sizes = {"batch_size": batch_size(evaluation, device), "max_batch_size": evaluation.max_batch_size}
    arguments = hf_arguments(config)
    if config.model_type == "vllm":
        arguments = {OF_VLLM[name]: value for name, value in arguments.items() if name in OF_VLLM}
    kind = HollowVLLM if config.model_type == "vllm" else Hollow
    lm = loading(config, lambda: kind(**{**arguments, "device": "cpu", "parallelize": False, **sizes}))
    lm._device, lm.absent = torch.device(device), absent
    finished(config, lm)
    if config.model_type == "vllm":
        lm.choose_engine("plain")
    return lm
