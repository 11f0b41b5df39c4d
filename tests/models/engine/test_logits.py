"""What is read of logits is what is computed of each by itself; ties and the ends of answers are the harness'."""

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lm_eval.models.utils_hf import stop_sequences_criteria
from tests.models.engine.asked import Request, plain, tokens, tree, verdicts
from tests.models.shapes import decoder, encoder_decoder, loaded
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from afrieval.models.demo import byte_tokenizer
from afrieval.models.engine.logits import ends_of, moments, most_probable, read
from afrieval.scoring.responses import TIE, best


@pytest.mark.parametrize("chunk", [1, 100, 2**24])
def test_chunks_change_nothing(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afrieval.models.engine.logits.CHUNK", chunk)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        logits = 3 * torch.randn(9, 40)
    logits[4, :30] = -torch.inf  # tokens that a model rules out
    where = np.array([0, 0, 2, 3, 4, 4, 8])
    answers = np.array([5, 7, 1, 39, 35, 2, int(logits[8].argmax())])
    lm = SimpleNamespace(softmax_dtype=torch.float32)
    table = read(lm, logits, answers, where, vocabulary=True)
    for column, (token, row) in enumerate(zip(answers, where, strict=True)):
        p = logits[row].double().softmax(0)
        logs = [float(x.log()) if x else 0.0 for x in p]
        mean = sum(float(x) * log for x, log in zip(p, logs, strict=True))
        variance = sum(float(x) * (log - mean) ** 2 for x, log in zip(p, logs, strict=True))
        greedy = float(p.argmax() == token)
        assert table[:, column] == pytest.approx([float(p[token].log()), greedy, mean, variance], rel=1e-5)
    assert (read(lm, logits, answers, where) == table[:2]).all()


@pytest.mark.parametrize("vocabulary", [False, True])
def test_no_logits(vocabulary: bool) -> None:
    none = np.array([], dtype=np.int64)
    table = read(SimpleNamespace(softmax_dtype=None), torch.empty(0, 40), none, none, vocabulary)
    assert table.shape == (4 if vocabulary else 2, 0)


def test_a_certain_token() -> None:
    logits = torch.tensor([[1000.0, 0.0, -1000.0]])
    mean, variance = moments(logits.log_softmax(-1))
    assert float(mean) == float(variance) == 0


NOISE = 1e-6  # ten times what was measured between two packs
PACKS = (None, 7, 64)


def by_hand(row: list[float]) -> int:
    """Returns the first of the numbers that are near the highest."""
    slack = TIE * min(max(max(row) - min(row), 1.0), 100.0)
    return next(i for i, value in enumerate(row) if value >= max(row) - slack)


# steps far from the border between what ties and what does not
LOGITS = st.lists(st.integers(-40, 40).map(lambda n: n / 2), min_size=2, max_size=40)


@given(LOGITS, st.data())
def test_noise_does_not_matter(row: list[float], data: st.DataObject) -> None:
    size = max(row) - min(row)
    noise = data.draw(st.lists(st.floats(-NOISE, NOISE), min_size=len(row), max_size=len(row)))
    noisy = torch.tensor([value + n * size for value, n in zip(row, noise, strict=True)])
    assert int(most_probable(noisy)) == int(most_probable(torch.tensor(row))) == by_hand(row) == row.index(max(row))
    assert int(most_probable(torch.log_softmax(noisy, dim=-1))) == row.index(max(row)), "logarithms decide the same"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_tokens_that_are_ruled_out_make_no_ties(dtype: torch.dtype) -> None:
    row = torch.tensor([[-torch.inf, 3.0, 3.5, torch.finfo(dtype).min, 3.5], [0.0] * 5, [-torch.inf] * 4 + [1.0]])
    assert most_probable(row.to(dtype)).tolist() == [2, 0, 4]


def test_equal_numbers_are_the_first_as_torch_says() -> None:
    values = torch.randint(0, 4, (200, 30), generator=torch.Generator().manual_seed(1)).float()
    assert torch.equal(most_probable(values), values.argmax(dim=-1))
    assert torch.equal(most_probable(values.bfloat16()), values.argmax(dim=-1))


@given(st.lists(st.tuples(st.integers(-60, -1), st.integers(1, 6)), min_size=2, max_size=8), st.data())
def test_the_choice_does_not_depend_on_noise(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    sums, lengths = [total / 2 for total, _ in pairs], [n for _, n in pairs]
    drawn = data.draw(st.lists(st.floats(-NOISE, NOISE), min_size=len(sums), max_size=len(sums)))
    noisy = [total + n * max(1.0, abs(total)) for total, n in zip(sums, drawn, strict=True)]
    assert best(noisy) == best(sums) == sums.index(max(sums))
    exact = [(-total * 2 * 60) // n for (total, n) in zip(sums, lengths, strict=True)]  # integers, lengths divide 60
    assert best(noisy, lengths) == best(sums, lengths) == exact.index(min(exact))


def test_the_choice_among_what_is_impossible() -> None:
    nothing = float("-inf")
    assert [best(v) for v in ([nothing, nothing], [nothing, -900.0], [-1.0, nothing])] == [0, 1, 0]
    assert best([-1.0, -1.0 + 5e-6]) == 0 and best([-1.0, -1.0 + 5e-5]) == 1
    assert best([-100.0, -100.0 + 5e-4]) == 0 and best([-100.0, -100.0 + 5e-3]) == 1


def silent(model: Any) -> Any:
    """Returns a model without weights: all tokens are equally probable, wherever they stand."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    return model


def doubled(model: Any) -> Any:
    """Returns a model for which each token is as probable as another one, up to rounding."""
    with torch.no_grad():
        head = model.get_output_embeddings().weight
        half = len(head) // 2
        head[half : 2 * half] = head[:half] * (1 + 1.2e-7)
    return model


def picks(answers: list[Any], size: int = 4) -> list[int]:
    """Returns what is picked of each few requests, summed and per token."""
    parts = [answers[i : i + size] for i in range(0, len(answers) - size + 1, size)]
    return [best([a[0] for a in part]) for part in parts] + [best([a[0] for a in p], [a[2] for a in p]) for p in parts]


def twins(half: int, seed: int = 3) -> list[Request]:
    """Returns requests in which several choices are made of tokens that are equally probable."""
    draw, requests = random.Random(seed), list[Request]()
    for n in range(24):
        context = tokens(draw, draw.randrange(1, 30))
        choice = [draw.randrange(half) for _ in range(draw.randrange(1, 4))]
        choices = [
            choice,
            [t + half for t in choice],
            [choice[0] + half, *choice[1:]],
            [*choice[:-1], choice[-1] + half],
        ]
        draw.shuffle(choices)
        requests += [((str((n, context)), str(c)), context, c) for c in choices]
    return requests


@pytest.mark.parametrize("name", ["gemma3", "gpt2"])
def test_packs_and_batches_decide_alike(name: str) -> None:
    model = doubled(decoder(name))
    half = model.get_output_embeddings().weight.shape[0] // 2
    requests = twins(half)
    following = [  # what the model itself says, and its twin, which is as probable
        (None, context, [(said + shift) % (2 * half)])
        for _, context, _ in requests[::4]
        for said in [int(model(torch.tensor([context])).logits[0, -1].argmax())]
        for shift in (0, half)
    ]
    requests += [((str(c), str(a)), c, a) for _, c, a in following]
    answers = [plain(loaded(model, batch_size), requests) for batch_size in (1, 5, 64)]
    answers += [tree(loaded(model), requests, pack, order) for pack in PACKS for order in (None, 1)]
    assert any(is_greedy for is_greedy, _ in verdicts(answers[0]))
    assert {tuple(verdicts(found)) for found in answers} == {tuple(verdicts(answers[0]))}
    assert {tuple(picks(found)) for found in answers} == {tuple(picks(answers[0]))}
    assert not any(
        is_greedy and answer[-1] >= half
        for (is_greedy, _), (_, _, answer) in zip(verdicts(answers[0]), requests, strict=True)
    ), "of twins, the lower one is greedy"


def test_encoder_decoders_decide_alike() -> None:
    model = silent(encoder_decoder("T5"))
    requests: list[Request] = [((str(n), "x"), [7, n, 9], [n % 3] * (n % 2 + 1)) for n in range(12)]
    for found in (plain(loaded(model, 4), requests), tree(loaded(model), requests), tree(loaded(model), requests, 7)):
        assert [greedy for greedy, _ in verdicts(found)] == [answer[0] == 0 for _, _, answer in requests]


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


@settings(max_examples=100)
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
