"""Generates answers with the engine if it supports the request, else as the harness does."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from accelerate.utils.memory import should_reduce_batch_size
from lm_eval.models.utils import handle_stop_sequences, normalize_gen_kwargs, postprocess_generated_text

from afrieval._util.grouping import grouped
from afrieval.models.backends.tokenizing import EncodesAtOnce
from afrieval.models.engine.generation import answers, check_numbers, fitting, unusable
from afrieval.models.engine.logits import Ends, ends_of
from afrieval.models.engine.packs import Packs
from afrieval.models.engine.support import generation_obstacle
from afrieval.models.work import Work

log = logging.getLogger("afrieval")

FEWEST = 4  # answers side by side: with fewer, the model's weights are read too often


class GeneratesTogether(EncodesAtOnce):
    """HFLM that generates answers side by side, and computes once what their prompts share.

    Attributes:
        engine: `tree` computes shared prefixes once, `plain` is the harness' way.
        attention: how the tree's is computed, in `tiles` or, if the model cannot be given them, with whole `masks`.
        packs: how much is computed at a time.
        slots: how many answers the engine generates side by side; None for as many as pay.
        work: what the model's answers have taken.
    """

    engine = "plain"
    attention = "tiles"
    packs: Packs
    slots: int | None = None
    work: Work
    cache_hook: Any
    batch_size_per_gpu: int | str
    _said = ""

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns the text generated for each request, in order."""
        groups = grouped(range(len(requests)), lambda i: repr(requests[i].args[1])).values()
        limits = [normalize_gen_kwargs(requests[same[0]].args[1], self.max_gen_toks) for same in groups]
        most = {i: int(limit["max_gen_toks"]) for same, limit in zip(groups, limits, strict=True) for i in same}
        new = [most[i] for i in range(len(requests))]
        room = [self.max_length - (n if self.backend == "causal" else 0) for n in new]
        found: dict[int, str] = {}
        with self.encoded_at_once([r.args[0] for r in requests]):
            lengths = [len(self.tok_encode(r.args[0])) for r in requests]
            self.too_long += sum(length > most for length, most in zip(lengths, room, strict=True))
            self.work.add(plain=sum(map(min, lengths, room)), most=sum(new))
            for same in groups:
                found |= dict(self._generated({i: requests[i] for i in same}))
            plain = [i for i in range(len(requests)) if i not in found]
            with self.batches(max((lengths[i] + new[i] for i in plain), default=0)):
                asked = [requests[i] for i in plain]
                texts = super().generate_until(asked, disable_tqdm) if plain else []
        found |= zip(plain, texts, strict=True)
        return [found[i] for i in range(len(requests))]

    def _generated(self, requests: dict[int, Any]) -> Iterator[tuple[int, str]]:
        """Yields the number and the answer of requests with the same options, none if the harness must answer them."""
        given = next(iter(requests.values())).args[1]
        options = dict(normalize_gen_kwargs(given, self.max_gen_toks))
        most = options.pop("max_gen_toks")
        eos = self.tok_decode(self.eot_token_id, skip_special_tokens=False)
        stop = handle_stop_sequences(options.pop("until", None), eos)
        if self.engine != "tree" or self.backend != "causal" or self.truncation or not 0 < most < self.max_length:
            return
        numbers = [*requests]
        prompts = [self.tok_encode(requests[i].args[0])[most - self.max_length :] for i in numbers]
        if not all(prompts) or "max_length" in options or self._must_generate_plainly(options):
            return
        few = min(FEWEST, len(prompts))
        if self.attention == "masks" and fitting(self, self.packs, prompts, most, few) < few:
            return
        ends = ends_of(self.model, self.tokenizer, stop)
        for i, tokens in self._answers(prompts, most, ends):
            text = self._written(tokens, stop)
            self.cache_hook.add_partial("generate_until", requests[numbers[i]].args, text)
            yield numbers[i], text

    def _answers(self, prompts: list[list[int]], most: int, ends: Ends) -> Iterator[tuple[int, list[int]]]:
        """Yields the number and the tokens of answers; `TokenCounter` of `afrieval plan` only counts them."""
        return answers(self, prompts, most, ends, self.packs, self.slots)

    def _written(self, tokens: list[int], stop: list[str]) -> str:
        """Returns the text of an answer, as the harness writes it."""
        end = self.think_end_token
        if not isinstance(end, int):
            return str(postprocess_generated_text(self.tok_decode(tokens), stop, end))
        thought = max((i + 1 for i, token in enumerate(tokens) if token == end), default=0)
        return str(postprocess_generated_text(self.tok_decode(tokens[thought:]).lstrip(), stop, None))

    @contextmanager
    def batches(self, longest: int = 1) -> Iterator[None]:
        """Avoids the harness' search for a batch size, which runs the model on padding."""
        size = self.batch_size_per_gpu
        if self.engine == "tree" and size == "auto":
            self.batch_size_per_gpu = self.packs.rows(self, longest)
        try:
            yield
        finally:
            self.batch_size_per_gpu = size

    def _model_generate(self, context: torch.Tensor, max_length: int, stop: list[str], **kwargs: Any) -> torch.Tensor:
        """Returns prompts and generated tokens, [prompts, tokens], padded on the right.

        For an encoder-decoder, the limit counts the answer alone.
        """
        if self.backend == "seq2seq":  # whose decoder has its own first token
            max_length -= context.shape[1] - 1
        return self._generate_plainly(context, max_length, stop, **kwargs)

    def _generate_plainly(
        self, context: torch.Tensor, max_length: int, stop: list[str], attention_mask: torch.Tensor, **kwargs: Any
    ) -> torch.Tensor:
        not_numbers: list[torch.Tensor] = []  # checked at the end, so that no step waits for the GPU

        def watch(tokens: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
            not_numbers.append(unusable(logits))
            return logits

        try:
            written: torch.Tensor = super()._model_generate(
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
        reason = generation_obstacle(self.model, options)
        if reason and reason != self._said:
            self._said = reason
            log.warning("answers are generated by the harness, since the engine does not support %s", reason)
        return bool(reason)
