"""Tokenizes many texts at a time, line by line where that is certain to give the same tokens."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from types import MappingProxyType
from typing import Any

from lm_eval.models.huggingface import HFLM
from lm_eval.models.utils import has_bos_prefix
from transformers import PreTrainedTokenizerFast

from afrieval.models.engine.text_ends import added_tokens

Tokens = list[int]
Tokenize = Callable[[Sequence[str]], list[Tokens]]
ADDING = ("TemplateProcessing", "ByteLevel")  # steps that add tokens only before and after a text
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
CASED = rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{{0}}|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{{0}}|"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
OTHERS = (
    *(  # Llama 3, Qwen 2 and 3
        rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{many}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{SPACES}"
        for many in ("{1,3}", "")
    ),
    # Qwen 3.5
    rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{SPACES}",
    # GPT-4o and Llama 4; Mistral
    CASED.replace("{0}", f"{CONTRACTIONS}?") + rf"\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{SPACES}",
    CASED.replace("{0}", "") + rf"\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{SPACES}",
)
AFTER_BREAKS = re.compile(r"(?<=\n)(?=[^\W_])")
AFTER_ONE = re.compile(r"(?<=\S\n)(?=[^\W_])")
BETWEEN_TWO = re.compile(r"(?<=\S\n)(?=\n?[^\W_])")
ENDS = {GPT_2: BETWEEN_TWO, **dict.fromkeys(OTHERS, AFTER_BREAKS)}  # of lines, by the expression that splits texts


def line_by_line(tokenizer: Any, special: dict[str, bool]) -> Tokenize | None:
    """Returns what tokenizes texts as a tokenizer does, each distinct line once; None where this is not certain."""
    if not isinstance(tokenizer, PreTrainedTokenizerFast) or tokenizer.split_special_tokens:
        return None
    kind = type(tokenizer)
    if any(getattr(kind, name) is not getattr(PreTrainedTokenizerFast, name) for name in ("__call__", "_encode_plus")):
        return None  # its Python part does more than to hand texts on
    backend = tokenizer.backend_tokenizer
    if not (_is_local(backend) and (ends := _ends(_steps(backend.pre_tokenizer, "pretokenizers")))):
        return None
    if (added := added_tokens(tokenizer, special)) is None:
        return None
    (begin, end), split = added, ends.split
    ids_by_line: dict[str, Tokens] = {}

    def tokenize(texts: Sequence[str]) -> list[Tokens]:
        nonlocal ids_by_line
        cut = list(map(split, texts))
        lines = dict.fromkeys(chain.from_iterable(cut))
        new = list(lines.keys() - ids_by_line.keys())
        backend.no_truncation()  # as transformers does before each call
        backend.no_padding()
        encodings = backend.encode_batch_fast(new, add_special_tokens=False)
        tokens = {line: ids_by_line[line] for line in lines.keys() & ids_by_line.keys()}
        ids_by_line = tokens | {line: encoding.ids for line, encoding in zip(new, encodings, strict=True)}
        return [[*begin, *chain.from_iterable(map(ids_by_line.__getitem__, lines)), *end] for lines in cut]

    return tokenize


def _is_local(backend: Any) -> bool:
    """Returns whether each part of a text has the same tokens by itself, apart from how a text is split."""
    model, added = backend.model, backend.get_added_tokens_decoder().values()
    return (
        type(model).__name__ == "BPE"
        and not (model.dropout or model.continuing_subword_prefix or model.end_of_word_suffix)
        and all(step["type"] == "NFC" for step in _steps(backend.normalizer, "normalizers"))
        and all(step["type"] in ADDING for step in _steps(backend.post_processor, "processors"))
        and not any(token.lstrip or token.rstrip or "\n" in token.content for token in added)
    )


def _steps(part: Any, members: str) -> list[dict[str, Any]]:
    if part is None:
        return []
    described = json.loads(part.__getstate__())
    return list(described[members]) if described["type"] == "Sequence" else [described]


def _ends(steps: list[dict[str, Any]]) -> re.Pattern[str] | None:
    """Returns what finds the ends of lines, if texts are split by a known expression and then taken as bytes."""
    *before, last = steps or [{"type": ""}]
    if last["type"] != "ByteLevel" or last["add_prefix_space"]:
        return None
    if last["use_regex"]:  # the expression of GPT-2; between digits and others, texts may be split before it
        apart = [step["type"] for step in before] == ["Digits"]
        return AFTER_ONE if apart else None if before else BETWEEN_TWO
    if len(before) != 1 or before[0]["type"] != "Split":
        return None
    (split,) = before
    takes_all = (split.get("behavior"), split.get("invert")) in (("Isolated", False), ("Removed", True))
    return ENDS.get(split["pattern"].get("Regex")) if takes_all else None


class TokenizesAtOnce(HFLM):
    """HFLM that tokenizes all texts at once, with the same tokens."""

    _encoded: Mapping[str, list[int]] = MappingProxyType({})
    _by_line: Mapping[bool | None, Tokenize | None] = MappingProxyType({})  # by `add_bos_token`, once it is known

    def tok_encode(self, string: str, *args: Any, **kwargs: Any) -> list[int]:
        """Returns the tokens of a text."""
        if not args and not kwargs and (ids := self._encoded.get(string)) is not None:
            return ids
        tokens: list[int] = super().tok_encode(string, *args, **kwargs)
        return tokens

    def prompt_tokens(self, text: str) -> list[int]:
        """Returns the tokens of a prompt that is gone on with, for which the harness has a rule of its own.

        A text that begins with the BOS token gets no other; in likelihoods, one that begins with the prefix token.
        """
        if has_bos_prefix(text, self.tokenizer.bos_token):
            return self.tok_encode(text, add_special_tokens=False)
        if (ids := self._encoded.get(text)) is not None:
            return ids
        return self.tok_encode(text, add_special_tokens=self.add_bos_token is not False)

    @contextmanager
    def tokenized_at_once(self, texts: list[str]) -> Iterator[None]:
        """Tokenizes texts on all cores; one at a time is slower than the model on a GPU.

        A context is tokenized once, not once per choice. Texts that begin with the BOS token are left
        to the harness.
        """
        bos, encoded = self.tokenizer.decode(self.prefix_token_id), self._encoded
        new = [text for text in dict.fromkeys(texts) if text and text not in encoded and not has_bos_prefix(text, bos)]
        if new:
            special = {} if self.add_bos_token is None else {"add_special_tokens": self.add_bos_token}
            self._encoded = {**encoded, **dict(zip(new, self._tokens_of(new, special), strict=True))}
        try:
            yield
        finally:
            self._encoded = encoded

    def _tokens_of(self, texts: list[str], special: dict[str, bool]) -> list[list[int]]:
        """Returns the tokens of texts, whose lines are tokenized once if that is certain to make no difference."""
        first: list[int] = self.tokenizer(texts[0], **special)["input_ids"]
        if self.add_bos_token not in self._by_line:
            self._by_line = {self.add_bos_token: line_by_line(self.tokenizer, special)}
        if by_line := self._by_line[self.add_bos_token]:
            tokens = by_line(texts)
            if tokens[0] == first:
                return tokens
        ids: list[list[int]] = self.tokenizer(texts, return_attention_mask=False, **special)["input_ids"]
        return ids

    def forget_texts(self) -> None:
        """Frees the memory of tokens that are no longer needed."""
        self._encoded = MappingProxyType({})
