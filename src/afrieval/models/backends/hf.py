"""The harness' hf backend with the engine, further checks, and counts of what answers take."""

import logging
import warnings
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any

import torch
from accelerate.utils.memory import should_reduce_batch_size

from afrieval._util.errors import UserError
from afrieval.models.backends.text_requests import Text, ahead, apart, pair_text, scored_texts, whole_text
from afrieval.models.base import LanguageModel
from afrieval.models.chat_template import KeepsSystemText
from afrieval.models.checks import check_found, check_lengths, check_sizes, try_writing
from afrieval.models.engine.generation import check_numbers, unusable
from afrieval.models.engine.logits import Decided
from afrieval.models.engine.requests import EngineError, TokenRequest
from afrieval.models.engine.tree_lm import PORTION, TreeLM, portions
from afrieval.models.folder import Shapes
from afrieval.models.load_errors import device_errors
from afrieval.models.work import Work, plain_tokens
from afrieval.scoring.responses import Scored
from afrieval.scoring.thinking import is_mark

log = logging.getLogger("afrieval")
TOO_LONG = "sequence-length-is-longer-than-the-specified-maximum"  # the tokenizer's warning, given once
NOT_KNOWN: Shapes = MappingProxyType({})
harness_log = logging.getLogger("lm_eval.models.huggingface")
loading_log = logging.getLogger("transformers.modeling_utils")


class HF(KeepsSystemText, TreeLM, LanguageModel):
    """TreeLM that rejects incomplete checkpoints, counts tokens and truncation, and keeps system texts.

    Attributes:
        work: what the model's answers have taken.
        noted_no_end: whether it was said that the tokenizer has no token that ends a text.
        thinking_end: what its thinking ends with; empty if that is not known.
    """

    noted_no_end = False
    thinking_end = ""
    _marks: AbstractSet[int] = frozenset()  # special tokens that begin or end thinking, which are looked for in texts
    work: Work
    AUTO_MODEL_CLASS: Any
    _has_written = False
    _distinct = 0  # number of parameters before the harness ties weights

    def __init__(self, *args: Any, shapes: Shapes = NOT_KNOWN, **kwargs: Any):
        self.work = Work()
        self._shapes = shapes  # of the checkpoint's weights, if known before it is loaded
        super().__init__(*args, engine="plain", **kwargs)  # it is chosen once the model has been tried
        if self._distinct > _count(self.model):  # the harness ties weights that differ in the checkpoint
            message = f"{self.pretrained} has two embeddings, but tie_word_embeddings in its config.json merges them"
            raise UserError(message, "give --model.backend_args.tie_word_embeddings false, or correct its config.json")
        self.tokenizer.deprecation_warnings[TOO_LONG] = True  # such prompts are shortened, or counted and reported

    def _create_model(self, pretrained: str, **kwargs: Any) -> None:
        """Loads the model, and rejects it if it differs from its checkpoint."""
        auto = self.AUTO_MODEL_CLASS
        if getattr(self.config, "attn_logit_softcapping", None):  # transformers before 5.21 forgets it otherwise
            kwargs.setdefault("attn_implementation", "eager")
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

    @property
    def eot_token_id(self) -> int | None:
        """The token that ends an answer: the tokenizer's, or else that of generation_config.json or config.json."""
        named = self.tokenizer, getattr(self.model, "generation_config", None), self.config
        ids = (getattr(of, "eos_token_id", None) for of in named)
        return next((each if isinstance(each, int) else each[0] for each in ids if each not in (None, [])), None)

    def choose_engine(self, engine: str) -> None:
        """Sets the engine: `tree`, `plain`, or `auto` for tree if it returns the harness' answers.

        Raises:
            UserError: if `tree` does not support the model.
        """
        if settings := getattr(self.model, "generation_config", None):
            settings.max_new_tokens = (
                None  # it would override each request's (GenerationMixin._prepare_generated_length)
            )
            settings.eos_token_id = list(dict.fromkeys([*self._ends, *self.turn_ends])) or None
        added = getattr(self.tokenizer, "added_tokens_decoder", {}).items()
        self._marks = {number for number, token in added if token.special and is_mark(token.content, self.thinking_end)}
        try:
            super().choose_engine(engine)
        except EngineError as e:
            raise UserError(e.message, "give --model.engine auto or plain") from e

    @property
    def _ends(self) -> list[int]:
        """Ids of tokens that end an answer."""
        eos = getattr(getattr(self.model, "generation_config", None), "eos_token_id", None)
        return [eos] if isinstance(eos, int) else list(eos or ())

    def tok_decode(self, tokens: Any, skip_special_tokens: bool = True) -> str:
        """Returns the text of tokens; with all special tokens but those at its end if one is a mark of thinking."""
        ids = [tokens] if isinstance(tokens, int) else [int(token) for token in tokens]
        if not (skip_special_tokens and self._marks & {*ids}):
            return str(super().tok_decode(tokens, skip_special_tokens))
        ends = {*self._ends, self.tokenizer.eos_token_id, self.tokenizer.pad_token_id} - self._marks
        while ids and ids[-1] in ends:
            ids.pop()
        return str(super().tok_decode(ids, skip_special_tokens=False))

    def spending(self) -> str:
        """Returns how many tokens of answers have been written, if any."""
        written = self.work.kinds["answers"].written
        return f"{written:,} tokens" if written else ""

    @device_errors()
    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns the text generated for each request, in order."""
        if not self._has_written:
            with self.work.paused():
                try_writing(str(self.pretrained), self)
            self._has_written = True
        new = [self.most_written(r.args[1]) for r in requests]
        room = [self.max_length - (n if self.backend == "causal" else 0) for n in new]
        if min(room, default=1) < 1:
            message = f"answers may have {max(new):,} tokens, but the model's context has {self.max_length:,}"
            raise UserError(message, "give a smaller --eval.max_gen_toks, or a model with a longer context")
        with self.tokenized_at_once([r.args[0] for r in requests]):
            lengths = [len(self.tok_encode(r.args[0])) for r in requests]
            self.too_long += sum(length > most for length, most in zip(lengths, room, strict=True))
            self.work.add(plain=sum(map(min, lengths, room)), most=sum(new))
            return super().generate_until(requests, disable_tqdm)

    def _loglikelihood_tokens(
        self, requests: list[TokenRequest], disable_tqdm: bool = False, override_bs: int | None = None
    ) -> list[tuple[float, bool, int]]:
        """Returns (log-likelihood, is greedy, number of tokens) per request, in order."""
        self._check(requests)
        hook, level = self.cache_hook, harness_log.level
        lengths = {texts: len(tokens) for texts, _, tokens in requests if texts}
        self.cache_hook = SimpleNamespace(
            add_partial=lambda method, texts, answer: hook.add_partial(method, texts, (*answer, lengths[texts]))
        )
        harness_log.setLevel(logging.ERROR)  # it warns once per truncated request; they are counted above
        try:
            answers = super()._loglikelihood_tokens(requests, True, override_bs)
        finally:
            self.cache_hook = hook
            harness_log.setLevel(level)
        return [(*answer, len(tokens)) for answer, (_, _, tokens) in zip(answers, requests, strict=True)]

    def _note_truncation(self, requests: list[TokenRequest]) -> None:
        """Says nothing: `_check` has counted."""

    def _select_cont_toks(self, *args: Any, **kwargs: Any) -> Any:
        """Returns an answer's log-probabilities, from which the harness takes the greedy tokens."""
        return super()._select_cont_toks(*args, **kwargs).as_subclass(Decided)

    @device_errors()
    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Returns (log-likelihood, is greedy, number of tokens) per request, with each token if it has options."""
        return apart(
            requests,
            partial(super().loglikelihood, disable_tqdm=True),
            partial(self._with_tokens, "loglikelihood", pair_text),
        )

    def _encode_pair(self, context: str, continuation: str) -> tuple[list[int], list[int]]:
        """Returns the harness' tokens of a context and an answer; one that is lost in the context is encoded alone."""
        before, answer = super()._encode_pair(context, continuation)
        return before, answer or self.tok_encode(continuation, add_special_tokens=False)

    @device_errors()
    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Returns the log-likelihood of each whole text; of a request with options, as `loglikelihood` does."""
        return apart(
            requests,
            partial(super().loglikelihood_rolling, disable_tqdm=True),
            partial(self._with_tokens, "loglikelihood_rolling", whole_text),
        )

    def _with_tokens(self, method: str, encoded: Callable[[Any, Any], Text], requests: list[Any]) -> list[Any]:
        answers: list[Any] = []
        size = self.together(writes=False)
        for part in portions(requests, PORTION):
            with self.tokenized_at_once([text for r in part for text in ahead(r.args)]):
                texts = [encoded(self, r.args) for r in part]
            windows = [window for text in texts for window in text.windows]
            self._check(windows)
            answers += self._scored(method, texts, size if isinstance(size, int) else self.max_batch_size)
        return answers

    def _scored(self, method: str, texts: list[Text], batch_size: int) -> list[Scored]:
        """Returns answers with each token; `TokenCounter` only counts them."""
        return scored_texts(self, method, texts, batch_size)

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


def _count(model: Any) -> int:
    """Returns the number of parameters; tied ones count once."""
    return sum(1 for _ in model.parameters())


def _checked(auto: Any, name: str, **kwargs: Any) -> Any:
    loading_log.addFilter(nothing := lambda record: False)  # it logs a table of what `check_found` reports in a line
    try:
        model, info = auto.from_pretrained(name, **kwargs, output_loading_info=True, ignore_mismatched_sizes=True)
    finally:
        loading_log.removeFilter(nothing)
    check_found(name, model, info)
    return model
