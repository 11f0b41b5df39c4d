"""The engine's interface: requests, answers, what it needs of a model, and the one error that it raises on purpose."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

# (anything, tokens of the context, tokens of the answer). Tokens of many requests are arrays, which take a tenth of the
# memory; two arrays are concatenated and cut as lists are, but equal no list.
TokenRequest = tuple[Any, Any, Any]
# The log-likelihood of an answer, and whether it is the greedy one.
Answer = tuple[float, bool]


class CountsTokens:
    """Receives how many tokens a model computes; this one counts nothing."""

    def add(self, **counted: int) -> None:
        """Adds numbers of tokens."""

    def paused(self) -> AbstractContextManager[None]:
        """Counts nothing within a block."""
        return nullcontext()


class EngineModel(Protocol):
    """What the engine needs of a model of the harness' hf backend.

    Attributes:
        model: of transformers.
        tokenizer: of transformers, with a token for padding.
        device: that logits are computed on.
        backend: `causal` for decoder-only models, or `seq2seq`.
        max_length: context length in tokens.
        max_batch_size: most answers to generate side by side.
        softmax_dtype: of log-probabilities.
        mixed_precision_dtype: of automatic mixed precision, None for none.
        engine: `tree` or `plain`.
        attention: how a tree's is computed: in `tiles`, or by the model's own code with whole `masks`.
        packs: how much is computed at a time.
        state_bytes: of one sequence, in layers that keep states.
        work: counts tokens.
        cache_hook: of the harness.
        prefix_token_id: of the token before a text without a context.
        eot_token_id: of the token that ends an answer.
        tok_encode: returns the ids of a text's tokens.
        plain: returns answers as the harness computes them, for requests and a batch size.
    """

    model: Any
    tokenizer: Any
    device: Any
    backend: str
    max_length: int
    max_batch_size: int
    softmax_dtype: Any
    mixed_precision_dtype: Any
    engine: str
    attention: str
    packs: Any
    state_bytes: int
    work: CountsTokens
    cache_hook: Any
    prefix_token_id: int
    eot_token_id: int | None
    tok_encode: Callable[..., list[int]]
    _model_call: Any
    _model_generate: Any
    plain: Callable[..., list[Answer]]


class EngineError(Exception):
    """Work that a device or a model cannot do."""

    def __init__(self, message: str, hint: str):
        self.message, self.hint = message, hint
        super().__init__(f"{message}; {hint}")


def if_it_fits(work: Callable[[], T]) -> T | None:
    """Returns what some work returns; None if the device's memory is full, after the work's own tensors are freed."""
    from accelerate.utils.memory import should_reduce_batch_size  # here, since models behind servers do without it

    try:
        return work()
    except RuntimeError as e:
        if not should_reduce_batch_size(e):
            raise
        return None


def too_small(size: int) -> EngineError:
    """Returns the error that ends a run when even so few tokens at a time exceed the device's memory."""
    hint = "load the model with dtype bfloat16 or parallelize, give fewer examples, or take a smaller model"
    return EngineError(f"the device's memory is too small for {size} tokens at a time", hint)
