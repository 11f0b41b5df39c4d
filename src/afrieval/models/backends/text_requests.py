"""Answers requests that ask for each token of a text: encodes the text, and makes the result fit for storage."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from lm_eval.utils import get_rolling_token_windows, make_disjoint_window

from afrieval.models.engine.likelihood import tokens_in_tree
from afrieval.models.engine.logits import Table
from afrieval.models.engine.padded import gradient_norm, tokens_in_batches
from afrieval.models.engine.requests import EngineModel, TokenRequest
from afrieval.scoring.responses import Scored

log = logging.getLogger("afrieval")
DIGITS = 9  # as many as tell all numbers of 32 bits apart


@dataclass(frozen=True)
class Text:
    """A text to score.

    Attributes:
        args: of its request.
        windows: what the model is given: the text's tokens, each with its context, in several parts if they are longer
            than the model's.
        ends: how many tokens at the end only end the text.
        characters: how many characters the tokens cover, where the text has more; None where they cover all.
    """

    args: tuple[Any, ...]
    windows: list[TokenRequest]
    ends: int
    characters: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What is asked of the text."""
        options: dict[str, Any] = self.args[-1]
        return options


def apart(
    requests: list[Any], sums: Callable[[list[Any]], list[Any]], rich: Callable[[list[Any]], list[Any]]
) -> list[Any]:
    """Returns the answers to requests in order; `rich` answers requests with options, which ask for each token."""
    are_rich = [isinstance(request.args[-1], dict) for request in requests]
    parts = {
        kind: iter(answer(part) if (part := [r for r, a in zip(requests, are_rich, strict=True) if a is kind]) else [])
        for kind, answer in ((False, sums), (True, rich))
    }
    return [next(parts[a]) for a in are_rich]


def pair_text(lm: EngineModel, args: tuple[Any, ...]) -> Text:
    """Returns the text of (context, continuation, options)."""
    context, continuation, options = args
    before, answer = encoded_pair(lm, context, continuation)
    answer, ends = _ended(lm, answer) if options.get("end") and answer else (answer, 0)
    return Text(args, [(args[:2], before, answer)], ends)


def ahead(args: tuple[Any, ...]) -> list[str]:
    """Returns the texts that `encoded_pair` needs the tokens of."""
    context, *answer = args[:-1]
    return [context, context.rstrip(), context + answer[0]] if answer else []


def encoded_pair(lm: EngineModel, context: str, continuation: str) -> tuple[list[int], list[int]]:
    """Returns the tokens of a context and of what follows it.

    The whole text is tokenized, where it can be divided between two tokens. Otherwise spaces at the end of the
    context count with what follows; and if a token still covers both, each is encoded by itself.
    """
    if lm.backend == "causal" and context:
        whole = lm.tok_encode(context + continuation)
        for begin in dict.fromkeys((context, context.rstrip())):
            before = lm.tok_encode(begin) if begin else []
            if before and len(whole) > len(before) and whole[: len(before)] == before:
                return before, whole[len(before) :]
    return (lm.tok_encode(context) if context else [lm.prefix_token_id]), _of_text(lm, continuation)


def _of_text(lm: EngineModel, text: str) -> list[int]:
    """Returns the tokens of a text without any around it, such as the one that begins every text."""
    tokens: list[int] = lm.tok_encode(text, add_special_tokens=False)
    return tokens[1:] if len(tokens) > 1 and tokens[0] == lm.prefix_token_id else tokens


def _ended(lm: Any, tokens: list[int]) -> tuple[list[int], int]:
    """Returns tokens with one that ends a text, and how many of those there are."""
    end = lm.tokenizer.eos_token_id
    if end is None:
        if not lm.noted_no_end:
            log.warning("the tokenizer has no token that ends a text: the ends of texts are not scored")
        lm.noted_no_end = True
        return tokens, 0
    return (tokens if tokens[-1:] == [end] else [*tokens, end]), 1


def whole_text(lm: EngineModel, args: tuple[Any, ...]) -> Text:
    """Returns the text of (text, options), in windows as the harness makes them, each token once."""
    text, options = args
    whole, prefix = _of_text(lm, text), lm.prefix_token_id
    tokens, ends = whole[: options.get("first")], 0
    if options.get("end") and tokens and len(tokens) == len(whole):
        tokens, ends = _ended(lm, tokens)
    pairs = list(map(make_disjoint_window, get_rolling_token_windows(tokens, prefix, lm.max_length, context_len=1)))
    covered = len(lm.tokenizer.decode(tokens)) if len(tokens) < len(whole) else None
    return Text(args, [(args[:1], *pair) for pair in pairs or [([prefix], [])]], ends, covered)


def scored_texts(lm: EngineModel, method: str, texts: list[Text], batch_size: int) -> list[Scored]:
    """Returns the answers to requests for tokens, each stored as soon as it is known.

    The batch size counts where the engine does not support the model.

    Raises:
        UserError: if the memory is too small.
    """
    answers: dict[int, Scored] = {}
    for vocabulary in (False, True):
        chosen = [i for i, text in enumerate(texts) if bool(text.options.get("vocabulary")) is vocabulary]
        for number, table in _tables(lm, [texts[i] for i in chosen], vocabulary, batch_size):
            i = chosen[number]
            answers[i] = _answer(lm, texts[i], table)
            lm.cache_hook.add_partial(method, texts[i].args, answers[i])
    return [answers[i] for i in range(len(texts))]


def _tables(lm: EngineModel, texts: list[Text], vocabulary: bool, batch_size: int) -> Iterator[tuple[int, Table]]:
    """Yields the number of each text and the table of its tokens, as soon as all of its windows are computed."""
    owners = [(i, k) for i, text in enumerate(texts) for k in range(len(text.windows))]
    windows = [window for text in texts for window in text.windows]
    if lm.engine == "tree" and lm.backend == "causal":
        tables = tokens_in_tree(lm, windows, lm.packs, vocabulary)
    else:
        tables = tokens_in_batches(lm, windows, batch_size, vocabulary)
    parts: dict[int, dict[int, Table]] = defaultdict(dict)
    for number, table in tables:
        i, k = owners[number]
        parts[i][k] = table
        if len(parts[i]) == len(texts[i].windows):
            of_text = parts.pop(i)
            yield i, np.concatenate([of_text[k] for k in sorted(of_text)], axis=1)


def _answer(lm: EngineModel, text: Text, table: Table) -> Scored:
    """Returns a likelihood as the harness has it, with details of each token in a form for JSON."""
    logprobs, greedy, *moments = table
    tokens: dict[str, Any] = {"logprobs": _short(logprobs), "greedy": greedy.astype(int).tolist()}
    tokens |= {name: _short(row) for name, row in zip(("means", "variances"), moments, strict=False)}
    tokens["ends"] = text.ends
    tokens |= {} if text.characters is None else {"characters": text.characters}
    if text.options.get("gradient"):
        *windows, (texts, context, answer) = text.windows
        rest = answer[: len(answer) - text.ends]  # without the token that only ends it
        tokens["gradient_norm"] = gradient_norm(lm, [*windows, (texts, context, rest)] if rest else windows)
    return Scored((float(logprobs.sum()), bool(greedy.all()), len(logprobs)), {"tokens": tokens})


def _short(values: Any) -> list[float]:
    """Returns numbers of 32 bits as floats that JSON writes shortly."""
    return [float(f"{value:.{DIGITS}g}") for value in values]
