"""The end of an answer is found where the harness finds it for one prompt, whatever tokens a stop text spans."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lm_eval.models.utils_hf import stop_sequences_criteria
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from afrieval.models.demo import byte_tokenizer
from afrieval.models.engine.logits import ends_of

PIECES = ["a", "b", "\n", "\n\n", "Qu", "Q", "u", ":", "\nQ", " ", "</s>"]


def pieces_tokenizer() -> Any:
    """Returns a tokenizer with pieces that overlap, so that a text is written in many ways."""
    bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False)
    written = ["".join(piece for piece, _ in bytes_of.pre_tokenize_str(text)) for text in PIECES]
    model = Tokenizer(models.BPE({piece: i for i, piece in enumerate(written)}, []))
    model.pre_tokenizer, model.decoder = bytes_of, decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=model, eos_token="</s>")


TOKENIZERS = [byte_tokenizer(), pieces_tokenizer()]
STOPS = st.lists(st.sampled_from(["\n\n", "\nQu:", "Qu", "a", "b a", "ẹ", "</s>", "\n"]), max_size=3)


def harness_end(tokenizer: Any, eos: set[int], stop: list[str], tokens: list[int]) -> int:
    """Returns how many tokens there are when the harness stops, given the whole sequence at each step."""
    criteria = stop_sequences_criteria(tokenizer, stop, 2, 1)
    for n in range(1, len(tokens) + 1):
        row = torch.tensor([[5, 5, *tokens[:n]]])
        if tokens[n - 1] in eos or any(criterion(row, None) for criterion in criteria):
            return n
    return len(tokens) + 1


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([0, 1]), STOPS, st.data())
def test_where_the_harness_stops(which: int, stop: list[str], data: st.DataObject) -> None:
    tokenizer, usual = TOKENIZERS[which], [13, 100, 35, 228, 189, 188] if which == 0 else []
    token = st.integers(3, 258) | st.sampled_from(usual) if usual else st.integers(0, len(PIECES) - 1)
    tokens = data.draw(st.lists(token, min_size=1, max_size=25))
    if which == 0:
        tokens += tokenizer.encode("".join(stop), add_special_tokens=False)
    eos = data.draw(st.sampled_from([None, 10, [10, 4]]))
    model = SimpleNamespace(generation_config=SimpleNamespace(eos_token_id=eos))
    ends = ends_of(model, tokenizer, stop)
    found = next((n for n in range(1, len(tokens) + 1) if ends(tokens[:n])), len(tokens) + 1)
    assert found == harness_end(tokenizer, {eos} if isinstance(eos, int) else set(eos or ()), stop, tokens)


@pytest.mark.parametrize("stop", [["\n\n"], ["\n\n", "\nQu", "</s>", "a"]])
def test_few_tokens_are_decoded_at_each_step(stop: list[str]) -> None:
    decoded: list[int] = []

    class Watched:
        encode = staticmethod(TOKENIZERS[0].encode)

        @staticmethod
        def decode(tokens: list[int]) -> str:
            decoded.append(len(tokens))
            return str(TOKENIZERS[0].decode(tokens))

    model = SimpleNamespace(generation_config=SimpleNamespace(eos_token_id=1))
    ends = ends_of(model, Watched(), stop)
    assert not ends([100 + i % 7 for i in range(500)])
    lengths = {len(TOKENIZERS[0].encode(text, add_special_tokens=False)) + 2 for text in stop}
    assert sorted(decoded) == sorted(lengths), "once for stop texts of one length, and no more than that"
