"""The harness' hf backend with further checks, and with the engine instead of its forward passes."""

import logging
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any

from afrieval._util.errors import UserError
from afrieval.models.backends.generating import GeneratesTogether
from afrieval.models.backends.text_requests import Text, ahead, apart, pair_text, scored_texts, whole_text
from afrieval.models.base import Model
from afrieval.models.chat_template import KeepsSystemText
from afrieval.models.checks import check_found, check_sizes, try_writing
from afrieval.models.engine.encoder_decoder import encoder_decoder_loglikelihoods
from afrieval.models.engine.likelihood import loglikelihoods
from afrieval.models.engine.logits import Decided
from afrieval.models.engine.packs import Packs
from afrieval.models.engine.requests import Answer, TokenRequest
from afrieval.models.engine.support import objection, obstacle
from afrieval.models.faults import device_errors
from afrieval.models.folder import Shapes
from afrieval.models.work import Work, plain_tokens
from afrieval.scoring.responses import Scored

log = logging.getLogger("afrieval")
TOO_LONG = "sequence-length-is-longer-than-the-specified-maximum"  # the tokenizer's warning, given once
PORTION = 4_000_000  # characters of requests that are tokenized at a time
PORTION_OF_TEXTS = 250_000  # of whole texts, whose answers the harness returns, and thus stores, only together
NOT_KNOWN: Shapes = MappingProxyType({})
harness_log = logging.getLogger("lm_eval.models.huggingface")
loading_log = logging.getLogger("transformers.modeling_utils")


class HF(Model, KeepsSystemText, GeneratesTogether):
    """HFLM that rejects incomplete checkpoints, counts tokens and truncation, and keeps system texts.

    Attributes:
        noted_no_end: whether it was said that the tokenizer has no token that ends a text.
    """

    noted_no_end = False
    AUTO_MODEL_CLASS: Any
    _has_written = False
    _distinct = 0  # number of parameters before the harness ties weights

    def __init__(self, *args: Any, shapes: Shapes = NOT_KNOWN, **kwargs: Any):
        self.work = Work()
        self._shapes = shapes  # of the checkpoint's weights, if known before it is loaded
        super().__init__(*args, **kwargs)
        if self._distinct > _count(self.model):  # the harness ties weights that differ in the checkpoint
            message = f"{self.pretrained} has two embeddings, but tie_word_embeddings in its config.json merges them"
            raise UserError(message, "give --model.backend_args.tie_word_embeddings false, or correct its config.json")
        self.packs = Packs()
        self.tokenizer.deprecation_warnings[TOO_LONG] = True  # such prompts are shortened, or counted and reported

    def _create_model(self, pretrained: str, **kwargs: Any) -> None:
        """Loads the model, and rejects it if it differs from its checkpoint."""
        auto = self.AUTO_MODEL_CLASS
        if not (kwargs.get("gguf_file") or kwargs.get("autogptq") or kwargs.get("gptqmodel")):
            check_sizes(pretrained, auto, self.config, self._shapes)
        self.AUTO_MODEL_CLASS = SimpleNamespace(from_pretrained=partial(_checked, auto))
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("error", ".*missing adapter keys", UserWarning)
                super()._create_model(pretrained, **kwargs)
        finally:
            self.AUTO_MODEL_CLASS = auto
        self._distinct = _count(self._model)

    def choose_engine(self, wanted: str) -> None:
        """Sets the engine: `tree`, `plain`, or `auto` for tree if it returns the harness' answers.

        Raises:
            UserError: if `tree` does not support the model.
        """
        if own := getattr(self.model, "generation_config", None):
            own.max_new_tokens = None  # it would override each request's (GenerationMixin._prepare_generated_length)
        if wanted == "plain":
            return
        reason = obstacle(self.model, self.backend) or objection(self)
        if reason and self.backend == "causal" and obstacle(self.model, self.backend, "masks") is None:
            self.attention = "masks"
            reason = objection(self)
        if reason is None:
            self.engine = "tree"
        elif wanted == "tree":
            raise UserError(
                f"the tree engine does not support this model: it {reason}", "give --model.engine auto or plain"
            )
        else:
            log.warning("shared parts of prompts are computed repeatedly: the model %s", reason)

    @device_errors()
    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns the text generated for each request, in order."""
        if not self._has_written:
            with self.work.paused():
                try_writing(str(self.pretrained), self)
            self._has_written = True
        return super().generate_until(requests, disable_tqdm)

    def _loglikelihood_tokens(self, requests: list[TokenRequest], **kwargs: Any) -> list[tuple[float, bool, int]]:
        """Returns (log-likelihood, is greedy, number of tokens) per request, in order."""
        self._check(requests)
        self.forget_texts()  # their tokens are in the requests
        answers = self._plain(requests, **kwargs) if self.engine == "plain" else self._tree(requests)
        return [(*answer, len(tokens)) for answer, (_, _, tokens) in zip(answers, requests, strict=True)]

    def _tree(self, requests: list[TokenRequest]) -> list[Answer]:
        def answered(i: int, answer: Answer) -> None:
            texts, _, tokens = requests[i]
            if texts is not None:  # windows of a longer text have no texts
                self.cache_hook.add_partial("loglikelihood", texts, (*answer, len(tokens)))

        score = loglikelihoods if self.backend == "causal" else encoder_decoder_loglikelihoods
        return score(self, requests, self.packs, answered)

    def plain(self, requests: list[TokenRequest], batch_size: int) -> list[Answer]:
        """Returns (log-likelihood, is greedy) per request, as the harness computes them."""
        size, self.batch_size_per_gpu = self.batch_size_per_gpu, batch_size
        try:
            return self._plain(requests, disable_tqdm=True)
        finally:
            self.batch_size_per_gpu = size

    def _plain(self, requests: list[TokenRequest], **kwargs: Any) -> list[Answer]:
        hook, level = self.cache_hook, harness_log.level
        self.cache_hook = _WithLengths(hook, {texts: len(tokens) for texts, _, tokens in requests if texts})
        harness_log.setLevel(logging.ERROR)  # it warns once per truncated request; they are counted above
        try:
            answers: list[Answer] = super()._loglikelihood_tokens(requests, **kwargs)
        finally:
            self.cache_hook = hook
            harness_log.setLevel(level)
        return answers

    def _select_cont_toks(self, *args: Any, **kwargs: Any) -> Any:
        """Returns an answer's log-probabilities, from which the harness takes the greedy tokens."""
        return super()._select_cont_toks(*args, **kwargs).as_subclass(Decided)

    @device_errors()
    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Returns (log-likelihood, is greedy, number of tokens) per request, with each token if it has options."""
        return apart(requests, self._pairs, partial(self._with_tokens, "loglikelihood", pair_text))

    def _pairs(self, requests: list[Any]) -> list[Any]:
        answers: list[Any] = []
        for part in portions(requests, PORTION):
            pairs = [r.args for r in part] if self.backend == "causal" else []
            with self.encoded_at_once([text for c, a in pairs for text in (c.rstrip(), c + a)]):
                answers += super().loglikelihood(part, disable_tqdm=True)
        return answers

    def _encode_pair(self, context: str, continuation: str) -> tuple[list[int], list[int]]:
        """Returns the harness' tokens of a context and an answer; one that is lost in the context is encoded alone."""
        given, answer = super()._encode_pair(context, continuation)
        return given, answer or self.tok_encode(continuation, add_special_tokens=False)

    @device_errors()
    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Returns the log-likelihood of each whole text; of a request with options, as `loglikelihood` does."""
        return apart(requests, self._wholes, partial(self._with_tokens, "loglikelihood_rolling", whole_text))

    def _wholes(self, requests: list[Any]) -> list[Any]:
        answers: list[Any] = []
        with self.batches():
            for part in portions(requests, PORTION_OF_TEXTS):
                answers += super().loglikelihood_rolling(part, disable_tqdm=True)
        return answers

    def _with_tokens(self, method: str, encoded: Callable[[Any, Any], Text], requests: list[Any]) -> list[Any]:
        answers: list[Any] = []
        size = self.batch_size_per_gpu
        for part in portions(requests, PORTION):
            with self.encoded_at_once([text for r in part for text in ahead(r.args)]):
                texts = [encoded(self, r.args) for r in part]
            windows = [window for text in texts for window in text.windows]
            self._check(windows)
            answers += self._scored(method, texts, size if isinstance(size, int) else self.max_batch_size)
        return answers

    def _scored(self, method: str, texts: list[Text], batch_size: int) -> list[Scored]:
        """Returns answers with each token; `TokenCounter` only counts them."""
        return scored_texts(self, method, texts, batch_size)

    def _check(self, requests: list[TokenRequest]) -> None:
        """Rejects requests without a likelihood; counts tokens, and requests that are too long."""
        check_lengths(requests, self.max_length)
        causal, longest = self.backend == "causal", self.longest_scored  # which looks into the model's config
        self.too_long += sum(len(context) + len(answer) * causal > longest for _, context, answer in requests)
        self.work.add(plain=plain_tokens(requests, self.max_length, causal))

    @property
    def longest_scored(self) -> int:
        """One token more than the context: a causal model is not fed the answer's last one."""
        return int(self.max_length + (self.backend == "causal"))


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


def _count(model: Any) -> int:
    """Returns the number of parameters; tied ones count once."""
    return sum(1 for _ in model.parameters())


def _nothing(record: logging.LogRecord) -> bool:
    return False


def _checked(auto: Any, name: str, **kwargs: Any) -> Any:
    loading_log.addFilter(_nothing)  # it logs a table of what `check_found` reports in a line
    try:
        model, found = auto.from_pretrained(name, **kwargs, output_loading_info=True, ignore_mismatched_sizes=True)
    finally:
        loading_log.removeFilter(_nothing)
    check_found(name, model, found)
    return model


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


class _WithLengths:
    """Adds the number of tokens to answers for a cache hook."""

    def __init__(self, hook: Any, lengths: dict[tuple[str, str], int]):
        self._hook, self._lengths = hook, lengths

    def add_partial(self, attr: str, texts: tuple[str, str], answer: tuple[float, bool]) -> None:
        """Receives an answer as soon as the model returns it."""
        self._hook.add_partial(attr, texts, (*answer, self._lengths[texts]))
