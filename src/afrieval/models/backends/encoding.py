"""Tokenizes many texts at a time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from lm_eval.models.utils import has_bos_prefix

from afrieval.models.backends.lines import Tokenize, line_by_line


class EncodesAtOnce:
    """Mixin for HFLM that tokenizes all texts at once, with the same tokens."""

    tokenizer: Any
    add_bos_token: bool | None
    prefix_token_id: int
    _encoded: Mapping[str, list[int]] = MappingProxyType({})
    _by_line: Mapping[bool | None, Tokenize | None] = MappingProxyType({})  # by `add_bos_token`, once it is known

    def tok_encode(self, string: str, *args: Any, **kwargs: Any) -> list[int]:
        """Returns the tokens of a text."""
        if not args and not kwargs and (known := self._encoded.get(string)) is not None:
            return known
        tokens: list[int] = super().tok_encode(string, *args, **kwargs)  # type: ignore[misc]
        return tokens

    @contextmanager
    def encoded_at_once(self, texts: list[str]) -> Iterator[None]:
        """Tokenizes texts on all cores; one at a time is slower than the model on a GPU.

        A context is tokenized once, not once per choice. Texts that begin with the BOS token are left
        to the harness.
        """
        bos = self.tokenizer.decode(self.prefix_token_id)
        new = [text for text in dict.fromkeys(texts) if text and not has_bos_prefix(text, bos)]
        if new:
            special = {} if self.add_bos_token is None else {"add_special_tokens": self.add_bos_token}
            self._encoded = dict(zip(new, self._tokens_of(new, special), strict=True))
        try:
            yield
        finally:
            self.forget_texts()

    def _tokens_of(self, texts: list[str], special: dict[str, bool]) -> list[list[int]]:
        """Returns the tokens of texts, whose lines are tokenized once if that is certain to make no difference."""
        first: list[int] = self.tokenizer(texts[0], **special)["input_ids"]
        if self.add_bos_token not in self._by_line:
            self._by_line = {self.add_bos_token: line_by_line(self.tokenizer, special)}
        if by_line := self._by_line[self.add_bos_token]:
            tokens = by_line(texts)
            if tokens[0] == first:
                return tokens
        found: list[list[int]] = self.tokenizer(texts, return_attention_mask=False, **special)["input_ids"]
        return found

    def forget_texts(self) -> None:
        """Frees the memory of tokens that are no longer needed."""
        self._encoded = MappingProxyType({})
