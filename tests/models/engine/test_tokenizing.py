"""Texts that are tokenized line by line have the tokens that they have as a whole."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from afrieval.models.engine.tokenizing import GPT_2, OTHERS, TokenizesAtOnce, line_by_line

WORDS = [
    "Question", " five", "ọjọ́", "አማርኛ", "፩", "12", "7", "é", "e", "\u0301", "'s", "'S", "_", "/", "!", "?", "-", ":",
]  # fmt: skip
BREAKS = [
    "\n", "\n", "\n\n", "\n\n\n", "\r\n", " \n", "\n ", " ", "  ", "\t", "\u00a0", "\u2028", "\x1c", "\x85", "<s>",
]  # fmt: skip


def drawn(seed: int, number: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices(WORDS + BREAKS, k=draw.randint(1, 40))) for _ in range(number)]


def trained(*splits: Any, added: AddedToken | None = None, **of_bytes: bool) -> PreTrainedTokenizerFast:
    made = Tokenizer(models.BPE())
    made.normalizer, made.decoder = normalizers.NFC(), decoders.ByteLevel()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, **of_bytes)]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=700, special_tokens=["<s>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    made.train_from_iterator(drawn(0, 300), trainer)
    made.add_special_tokens([added] if added else [])
    made.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>")


def split(pattern: str) -> Any:
    return pre_tokenizers.Split(Regex(pattern), "isolated")


def patterned(pattern: str) -> PreTrainedTokenizerFast:
    return trained(split(pattern), use_regex=False)


def digits_apart() -> PreTrainedTokenizerFast:
    return trained(pre_tokenizers.Digits(individual_digits=True))


KNOWN: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
    "bytes": trained,
    "digits": digits_apart,
    **{f"pattern {i}": partial(patterned, pattern) for i, pattern in enumerate([GPT_2, *OTHERS])},
}


@pytest.mark.parametrize("name", KNOWN)
def test_lines_have_the_tokens_of_whole_texts(name: str) -> None:
    tokenizer, texts = KNOWN[name](), drawn(1, 600)
    for special in ({}, {"add_special_tokens": False}):
        by_line = line_by_line(tokenizer, special)
        assert by_line is not None
        assert by_line(texts) == tokenizer(texts, **special)["input_ids"]
        assert by_line(texts[:9]) == tokenizer(texts[:9], **special)["input_ids"]  # known from before


def test_what_is_not_certain_is_tokenized_whole() -> None:
    odd = trained(split(r"\s+\w+"), use_regex=False)  # a line break together with a word
    twice = trained(split(GPT_2), split(GPT_2), use_regex=False)
    assert line_by_line(odd, {}) is line_by_line(twice, {}) is None
    assert line_by_line(trained(pre_tokenizers.Whitespace()), {}) is None
    for added in (AddedToken("a\nb"), AddedToken("<mask>", lstrip=True), AddedToken("<mask>", rstrip=True)):
        assert line_by_line(trained(added=added), {}) is None
    unigram = trained()
    unigram.backend_tokenizer.model = models.Unigram([("a", -1.0), ("<unk>", -2.0)], 1)
    assert line_by_line(unigram, {}) is None
    spaced = trained()
    spaced.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    assert line_by_line(spaced, {}) is None

    class Own(PreTrainedTokenizerFast):  # its Python code may do anything
        def _encode_plus(self, *args: Any, **kwargs: Any) -> Any:
            return super()._encode_plus(*args, **kwargs)

    assert line_by_line(Own(tokenizer_object=trained().backend_tokenizer), {}) is None


class Encoder(TokenizesAtOnce):
    prefix_token_id = 0

    def __init__(self, tokenizer: Any):
        self.tokenizer, self.add_bos_token = tokenizer, None


def test_lines_that_texts_share_are_tokenized_once() -> None:
    asked = list[str]()

    class Counting:
        """A tokenizer's backend."""

        def __init__(self, backend: Tokenizer):
            self._backend = backend

        def __getattr__(self, name: str) -> Any:
            return getattr(self._backend, name)

        def encode_batch_fast(self, lines: list[str], **options: Any) -> Any:
            asked.extend(lines)
            return self._backend.encode_batch_fast(lines, **options)

    tokenizer = patterned(OTHERS[0])
    texts = [f"Read.\n\nExample\n\nWhat?\nAnswer: {choice}" for choice in ("one", "two")]
    expected = tokenizer(texts)["input_ids"]
    tokenizer._tokenizer = Counting(tokenizer.backend_tokenizer)
    encoder = Encoder(tokenizer)
    for _ in range(2):  # another prompt with the same lines
        with encoder.tokenized_at_once(texts):
            assert [encoder.tok_encode(text) for text in texts] == expected
    assert sorted(asked) == ["Answer: one", "Answer: two", "Example\n\n", "Read.\n\n", "What?\n"]


def test_a_tokenizer_whose_lines_differ_after_all_takes_whole_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = trained()
    monkeypatch.setattr(
        "afrieval.models.engine.tokenizing.line_by_line", lambda *given: lambda texts: [[7] for _ in texts]
    )
    encoder = Encoder(tokenizer)
    with encoder.tokenized_at_once(["a\nb"]):
        assert encoder.tok_encode("a\nb") == tokenizer("a\nb")["input_ids"]
