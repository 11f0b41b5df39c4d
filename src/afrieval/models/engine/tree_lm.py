"""The engine as a model of lm_eval: `hf-tree` answers as `hf` does, and computes once what prompts share."""

import logging
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from types import MappingProxyType
from typing import Any

import torch
from lm_eval.models.utils import handle_stop_sequences, normalize_gen_kwargs, postprocess_generated_text
from tqdm import tqdm

from afrieval.models.engine.generation import answers, fitting
from afrieval.models.engine.likelihood import encoder_decoder_loglikelihoods, loglikelihoods
from afrieval.models.engine.logits import Ends, ends_of
from afrieval.models.engine.memory_estimate import state_bytes
from afrieval.models.engine.packs import Packs
from afrieval.models.engine.requests import Answer, CountsTokens, EngineError, TokenRequest
from afrieval.models.engine.support import generation_obstacle, objection, obstacle, padding_obstacle
from afrieval.models.engine.text_ends import leave_texts_open, unended
from afrieval.models.engine.tokenizing import TokenizesAtOnce

log = logging.getLogger("afrieval")

ENGINES = ("auto", "tree", "plain")
SHARDED = ("FSDP", "DEEPSPEED", "MEGATRON_LM")  # kinds of accelerate whose processes compute each pass together
FEWEST = 4  # answers side by side: with fewer, the model's weights are read too often
PORTION = 4_000_000  # characters of requests that are tokenized at a time
PORTION_OF_TEXTS = 250_000  # of whole texts, whose answers lm_eval returns, and thus stores, only together
WINDOWS = 1024  # of whole texts that are scored at a time


class TreeLM(TokenizesAtOnce):
    """lm_eval's `hf`, with the engine instead of its forward passes where that gives the same answers.

    Args:
        engine: `tree` computes what prompts share once, `plain` is lm_eval's own way, and `auto` is `tree` if a check
            with a few requests finds no difference.
        *args, **kwargs: as of lm_eval's `HFLM`.

    Attributes:
        engine: `tree` or `plain`.
        attention: how the tree's is computed, in `tiles` or, if the model cannot be given them, with whole `masks`.
        packs: how much is computed at a time.
        slots: how many answers the engine generates side by side; None for as many as pay.
        work: counts tokens.

    Raises:
        EngineError: if `tree` is wanted and does not support the model.
    """

    engine = "plain"
    attention = "tiles"
    packs: Packs
    slots: int | None = None
    work = CountsTokens()
    cache_hook: Any
    batch_size_per_gpu: int | str
    max_batch_size: int
    _model: Any
    _is_split = False
    _said = ""
    _padding: Mapping[bool, str | None] = MappingProxyType({})  # what it does to generated answers, and to likelihoods

    def __init__(self, *args: Any, engine: str = "auto", **kwargs: Any):
        if engine not in ENGINES:
            raise EngineError(f"engine={engine!r} is not known", f"give one of {', '.join(ENGINES)}")
        self._is_split = bool(kwargs.get("tp_plan"))
        super().__init__(*args, **kwargs)
        leave_texts_open(self)
        if isinstance(self.batch_size_per_gpu, int):  # of answers side by side, no more than these fit or pay
            self.max_batch_size = max(self.max_batch_size, self.batch_size_per_gpu)
        self.packs = Packs()
        if engine != "plain":
            self.choose_engine(engine)

    def _create_model(self, pretrained: str, **kwargs: Any) -> None:
        """Loads the model; lm_eval cuts its tokens to the tokenizer's for an adapter, and adds tied weights twice."""
        peft, delta = kwargs.pop("peft", None), kwargs.pop("delta", None)
        both = {"peft": peft, "delta": delta} if peft and delta else {}  # which lm_eval refuses
        super()._create_model(pretrained, **kwargs, **both)
        if peft:
            self._model = _adapted(self._model, peft, kwargs.get("revision"))
        elif delta:
            whole = self._model
            super()._create_model(delta, **kwargs | {"gguf_file": None, "subfolder": ""})
            for name, weight in whole.named_parameters():
                weight.data += self._model.get_parameter(name).data
            self._model = whole

    def choose_engine(self, engine: str) -> None:
        """Sets the engine: `tree`, `plain`, or `auto` for tree if it returns lm_eval's answers.

        Raises:
            EngineError: if `tree` does not support the model.
        """
        if engine == "plain":
            return
        reason = self._obstacle() or objection(self)
        if reason and self.backend == "causal" and self._obstacle("masks") is None:
            self.attention = "masks"
            reason = objection(self)
        if self.world_size > 1:  # in lm_eval's own way processes wait for each other: none or all use the engine
            fit = self.all_gather(torch.tensor([int(reason is None)], device=self.device))
            reason = reason or (None if fit.all() else "is refused by the check of another process")
        if reason is None:
            self.engine = "tree"
        elif engine == "tree":
            raise EngineError(f"the tree engine does not support this model: it {reason}", "use the engine auto")
        else:
            log.warning("shared parts of prompts are computed repeatedly: the model %s", reason)

    def _obstacle(self, attention: str = "tiles") -> str | None:
        kind = getattr(getattr(self, "accelerator", None), "distributed_type", None)
        if self._is_split or getattr(kind, "name", None) in SHARDED:
            return "is spread over processes that compute each pass together"
        return obstacle(self.model, self.backend, attention)

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Returns (log-likelihood, is greedy) per request, in order."""
        answers: list[Any] = []
        encoded: list[TokenRequest] = []
        for part in self._portions(requests, PORTION):
            texts = [r.args for r in part if r.args[0]] if self.backend == "causal" else []
            with self.tokenized_at_once([text for c, a in texts for text in (c.rstrip(), c + a)]):
                if self.engine == "plain":
                    answers += super().loglikelihood(part, disable_tqdm)
                    continue
                pairs = [self._context_and_answer(*r.args) for r in part]
                encoded += [(r.args, array("i", c), array("i", a)) for r, (c, a) in zip(part, pairs, strict=True)]
        if self.engine == "plain":
            return answers
        return self._loglikelihood_tokens(encoded, disable_tqdm=disable_tqdm)  # all portions share their beginnings

    def _context_and_answer(self, context: str, answer: str) -> tuple[list[int], list[int]]:
        """Returns the tokens of a request as the harness takes them; a token stands for an empty context."""
        if context:
            pair: tuple[list[int], list[int]] = self._encode_pair(context, answer)
            return pair
        tokens = self.tok_encode(answer, add_special_tokens=False)
        begins = tokens[:1] == [self.prefix_token_id]
        return ([self.prefix_token_id], tokens) if not begins else (tokens[:1], tokens[1:])

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """Returns the log-likelihood of each whole text, in order."""
        alone = self.world_size == 1  # several processes count their windows together, as often as each other
        answers: list[float] = []
        for part in self._portions(requests, PORTION_OF_TEXTS) if alone else [requests]:
            size = self.batch_size_per_gpu if self.engine == "plain" else WINDOWS
            with self._for_now(batch_size_per_gpu=size, tokenizer=self._text_tokenizer):
                answers += super().loglikelihood_rolling(part, disable_tqdm)
        return answers

    @cached_property
    def state_bytes(self) -> int:
        """Bytes of the states of one sequence, 0 if no layer keeps states."""
        return state_bytes(self)

    @cached_property
    def _text_tokenizer(self) -> Any:
        """The tokenizer of whole texts, which a decoder reads."""
        return self.tokenizer if self.backend == "causal" else unended(self.tokenizer)

    def _portions(self, requests: list[Any], most: int) -> Iterable[list[Any]]:
        """Returns requests in portions, or whole where lm_eval would look for a batch size in each."""
        whole = self.engine == "plain" and self.batch_size_per_gpu == "auto"
        return [requests] if whole else portions(requests, most)

    def _loglikelihood_tokens(
        self, requests: list[TokenRequest], disable_tqdm: bool = False, override_bs: int | None = None
    ) -> list[Any]:
        """Returns (log-likelihood, is greedy) per request, in order."""
        self.forget_texts()  # their tokens are in the requests
        unusual = [r for r in requests if not (r[1] and 0 < len(r[2]) <= self.max_length)]
        if self.engine == "plain" or unusual:  # for which lm_eval has its own errors
            left, size = (requests, override_bs) if self.engine == "plain" else (unusual, 1)
            with self._for_now(batch_size_per_gpu=self.together(writes=False)):
                plain: list[Any] = super()._loglikelihood_tokens(left, disable_tqdm, size)
            return plain
        self._note_truncation(requests)
        score = loglikelihoods if self.backend == "causal" else encoder_decoder_loglikelihoods
        with self._bar("loglikelihood", len(requests), disable_tqdm) as bar:

            def answered(i: int, answer: Answer) -> None:
                bar.update()
                if (texts := requests[i][0]) is not None:  # windows of a longer text have no texts
                    self.cache_hook.add_partial("loglikelihood", texts, answer)

            return score(self, requests, self.packs, answered)

    def _note_truncation(self, requests: list[TokenRequest]) -> None:
        causal = self.backend == "causal"
        room = self.max_length + causal  # a causal model is not fed the answer's last token
        if cut := sum(len(context) + len(answer) * causal > room for _, context, answer in requests):
            log.warning("%d of %d requests exceed %d tokens, and lose their beginning", cut, len(requests), room)

    def _bar(self, method: str, total: int, disabled: bool) -> Any:
        return tqdm(total=total, disable=disabled or self.rank != 0, desc=f"Running {method} requests")

    def plain(self, requests: list[TokenRequest], batch_size: int) -> list[Answer]:
        """Returns (log-likelihood, is greedy) per request, as lm_eval computes them."""
        with self._for_now(batch_size_per_gpu=batch_size):
            answers: list[Answer] = super()._loglikelihood_tokens(requests, disable_tqdm=True)
        return answers

    @contextmanager
    def _for_now(self, **settings: Any) -> Iterator[None]:
        before = {name: getattr(self, name) for name in settings}
        self.__dict__ |= settings
        try:
            yield
        finally:
            self.__dict__ |= before

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns the text generated for each request, in order."""
        texts: dict[int, str] = {}
        if self.engine == "tree" and self.backend == "causal" and not self.truncation:
            alike = defaultdict[str, list[int]](list)
            for i, request in enumerate(requests):
                alike[repr(request.args[1])].append(i)
            with self._bar("generate_until", len(requests), disable_tqdm) as bar:
                for same in alike.values():
                    for i, text in self._generated({i: requests[i] for i in same}):
                        texts[i] = text
                        bar.update()
        left = [i for i in range(len(requests)) if i not in texts]
        if left:
            rest = [requests[i] for i in left]
            with self._for_now(batch_size_per_gpu=self._rows(rest)):
                texts |= zip(left, super().generate_until(rest, disable_tqdm), strict=True)
        return [texts[i] for i in range(len(requests))]

    def _rows(self, requests: list[Any]) -> int | str:
        """Returns how many answers lm_eval generates at a time; it would find out by running the model on padding."""
        size = self.together(writes=True)
        if self.engine == "plain" or size != "auto":
            return size
        lengths = (len(self.tok_encode(r.args[0])) + self.most_written(r.args[1]) for r in requests)
        return self.packs.rows(self, min(max(lengths), self.max_length))

    def together(self, writes: bool) -> int | str:
        """Returns how many texts lm_eval pads and computes at a time: one if padding changes the model's answers."""
        if self.batch_size_per_gpu == 1 or (self.engine == "tree" and not writes):
            return self.batch_size_per_gpu
        if writes not in self._padding:
            with self.work.paused():
                self._padding = {**self._padding, writes: padding_obstacle(self, writes)}
            if reason := self._padding[writes]:
                log.warning("answers are computed one at a time: padding of this model %s", reason)
        return 1 if self._padding[writes] else self.batch_size_per_gpu

    def most_written(self, options: dict[str, Any]) -> int:
        """Returns how many tokens a request's answer may have, from its options."""
        return int(normalize_gen_kwargs(options, self.max_gen_toks)["max_gen_toks"])

    def _generated(self, requests: dict[int, Any]) -> Iterator[tuple[int, str]]:
        """Yields the number and the answer of requests with the same options, none if lm_eval must answer them."""
        stated = next(iter(requests.values())).args[1]
        options = dict(normalize_gen_kwargs(stated, self.max_gen_toks))
        most = options.pop("max_gen_toks")
        eos = self.tok_decode(self.eot_token_id, skip_special_tokens=False)
        stop = handle_stop_sequences(options.pop("until", None), eos)
        if not 0 < most < self.max_length:
            return
        numbers = [*requests]
        texts = [requests[i].args[0] for i in numbers]
        with self.tokenized_at_once(texts):
            prompts = [self.prompt_tokens(text)[most - self.max_length :] for text in texts]
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
        """Yields the number and the tokens of answers."""
        return answers(self, prompts, most, ends, self.packs, self.slots)

    def _written(self, tokens: list[int], stop: list[str]) -> str:
        """Returns the text of an answer, as lm_eval writes it."""
        end = self.think_end_token
        if not isinstance(end, int):
            return str(postprocess_generated_text(self.tok_decode(tokens), stop, end))
        thought = max((i + 1 for i, token in enumerate(tokens) if token == end), default=0)
        return str(postprocess_generated_text(self.tok_decode(tokens[thought:]).lstrip(), stop, None))

    def _must_generate_plainly(self, options: dict[str, Any]) -> bool:
        reason = generation_obstacle(self.model, options)
        if reason and reason != self._said:
            self._said = reason
            log.warning("lm_eval generates the answers, since the engine does not support %s", reason)
        return bool(reason)


def portions(requests: list[Any], most: int) -> Iterator[list[Any]]:
    """Yields requests in portions of at most so many characters, or of one request.

    Lists of tokens take some hundred bytes per token, with all copies: a large task would fill the memory.
    """
    part, length = list[Any](), 0
    for request in requests:
        size = sum(map(len, request.args))
        if part and length + size > most:
            yield part
            part, length = [], 0
        part.append(request)
        length += size
    if part:
        yield part


def _adapted(model: Any, name: str, revision: str | None) -> Any:
    """Returns a model with an adapter; it gets as many tokens as the adapter was saved with, and else keeps its own.

    Raises:
        EngineError: if the adapter has more tokens than the model, but not all of their weights.
    """
    from peft import PeftModel
    from peft.utils import load_peft_weights

    tables = [model.get_input_embeddings(), model.get_output_embeddings()]
    names = {f".{key}." for key, module in model.named_modules() if any(module is table for table in tables)}
    weights = load_peft_weights(name, device="cpu", revision=revision)
    saved = {
        (part, len(weight))
        for key, weight in weights.items()
        for part in names
        if part in key and key.endswith(".weight") and "lora" not in key
    }
    rows, size = max((n for _, n in saved), default=0), len(tables[0].weight)
    if rows and rows != size:
        tied = tables[1] is None or tables[1].weight is tables[0].weight
        if rows > size and len(saved) < len(names) and not tied:
            message = (
                f"the adapter {name} has {rows} tokens, {rows - size} more than the model, but lacks weights of them"
            )
            raise EngineError(message, "save both embeddings with it: give PEFT modules_to_save, or use its base model")
        model.resize_token_embeddings(rows)
    whole = PeftModel.from_pretrained(model, name, revision=revision)
    whole.tie_weights = lambda: None  # lm_eval calls it, and would lose a head of the adapter's own
    return whole
