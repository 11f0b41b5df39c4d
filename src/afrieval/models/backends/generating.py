"""Generates answers in batches with the engine if that is faster, else as the harness does."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from accelerate.utils.memory import should_reduce_batch_size
from lm_eval.models.utils_hf import stop_sequences_criteria

from afrieval.models.engine.generation import Ends, Generator, beginning, check_numbers, unusable
from afrieval.models.engine.memory import Packs
from afrieval.models.engine.support import generation_obstacle

log = logging.getLogger("afrieval")

FEWEST = 4  # prompts per batch: with fewer, the model's weights are read too often


class GeneratesTogether:
    """Mixin for HFLM that computes the shared parts of a batch of prompts once."""

    model: Any
    tokenizer: Any
    backend: str
    engine: str
    packs: Packs
    batch_size_per_gpu: int | str
    max_length: int
    max_gen_toks: int
    too_long: int
    encoded_at_once: Any
    tok_encode: Any
    work: Any
    _generator: Generator | None = None
    _generates: type[Generator] = Generator
    _said = ""

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns the text generated for each request, in order."""
        new = [r.args[1].get("max_gen_toks", self.max_gen_toks) for r in requests]
        room = [self.max_length - (n if self.backend == "causal" else 0) for n in new]
        with self.encoded_at_once([r.args[0] for r in requests]):
            lengths = [len(self.tok_encode(r.args[0])) for r in requests]
            self.too_long += sum(length > most for length, most in zip(lengths, room, strict=True))
            self.work.add(plain=sum(map(min, lengths, room)), most=sum(new))
            with self.batches(max(map(int.__add__, lengths, new), default=0)):
                answers: list[str] = super().generate_until(requests, disable_tqdm)  # type: ignore[misc]
        return answers

    @contextmanager
    def batches(self, longest: int = 1) -> Iterator[None]:
        """Avoids the harness' search for a batch size, which runs the model on padding."""
        size = self.batch_size_per_gpu
        if self.engine == "tree":
            if size == "auto":
                self.batch_size_per_gpu = self.packs.rows(self, longest)
            if self.backend == "causal":
                self._generator = self._generates(self, self.packs)
        try:
            yield
        finally:
            self.batch_size_per_gpu, self._generator = size, None

    def _model_generate(self, context: torch.Tensor, max_length: int, stop: list[str], **kwargs: Any) -> torch.Tensor:
        """Returns prompts and generated tokens, [prompts, tokens], padded on the right.

        For an encoder-decoder, the limit is that of the answer alone.
        """
        if self.backend == "seq2seq":
            max_length -= context.shape[1] - 1  # the decoder has its own first token
        mask, most = kwargs["attention_mask"].bool(), max_length - context.shape[1]
        prompts = [row[there].tolist() for row, there in zip(context, mask, strict=True)]
        together = 0 if self._generator is None or most < 1 else side_by_side(prompts)
        if together < min(FEWEST, len(prompts)) or self._must_generate_plainly(kwargs):
            return self._generate_plainly(context, max_length, stop, **kwargs)
        new: list[torch.Tensor] = []
        for begin in range(0, len(prompts), together):
            part = prompts[begin : begin + together]
            tokens = self._generator(part, most, self._ends(stop))  # type: ignore[misc]  # it is there
            new += [torch.tensor(row, device=context.device) for row in tokens]
        padded = torch.nn.utils.rnn.pad_sequence(new, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        return torch.cat([context, padded], dim=1)

    def _generate_plainly(
        self, context: torch.Tensor, max_length: int, stop: list[str], attention_mask: torch.Tensor, **kwargs: Any
    ) -> torch.Tensor:
        not_numbers: list[torch.Tensor] = []  # checked at the end, so that no step waits for the GPU

        def watch(tokens: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
            not_numbers.append(unusable(logits))
            return logits

        try:
            written: torch.Tensor = super()._model_generate(  # type: ignore[misc]
                context, max_length, stop, attention_mask=attention_mask, logits_processor=[watch], **kwargs
            )
            check_numbers(not_numbers)
            fed = len(not_numbers) - (self.backend == "causal")  # the prompt's pass gives the first token
            self.work.add(written=fed * len(context))
            return written
        except RuntimeError as e:
            if len(context) == 1 or not should_reduce_batch_size(e):
                check_numbers(not_numbers)  # sampling from NaN fails too
                raise
        log.warning("the device is out of memory; continuing with %d prompts at a time", len(context) // 2)
        halves = [
            self._generate_plainly(part, max_length, stop, there, **kwargs)
            for part, there in zip(context.chunk(2), attention_mask.chunk(2), strict=True)
        ]
        rows = [row for half in halves for row in half]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.tokenizer.pad_token_id)

    def _must_generate_plainly(self, options: dict[str, Any]) -> bool:
        reason = generation_obstacle(self.model, {k: v for k, v in options.items() if k != "attention_mask"})
        if reason and reason != self._said:
            self._said = reason
            log.warning("answers are generated by the harness, since the engine does not support %s", reason)
        return bool(reason)

    def _ends(self, stop: list[str]) -> Ends:
        """Returns a function that detects the end of an answer, as the harness does for one prompt."""
        own = self.model.generation_config.eos_token_id
        last = {own} if isinstance(own, int) else set(own or ())
        criteria = stop_sequences_criteria(self.tokenizer, stop, 0, 1)
        tail = max((criterion.sequence_id_len for criterion in criteria), default=0)

        def ends(tokens: list[int]) -> bool:
            if tokens[-1] in last:
                return True
            latest = torch.tensor([tokens[-tail:]])
            for criterion in criteria:
                criterion.done_tracker = [False]  # reset, or it would remember another answer's end
            return any(criterion(latest, None) for criterion in criteria)

        return ends


def side_by_side(prompts: list[list[int]]) -> int:
    """Returns how many prompts to batch; each new token attends to the tokens of all.

    Together they may be at most twice as long as the longest prompt.
    """
    if not all(prompts):
        return 0
    shared, longest = len(beginning(prompts)), max(map(len, prompts))
    own = sum(map(len, prompts)) / len(prompts) - shared
    return int((2 * longest - shared) // own)
