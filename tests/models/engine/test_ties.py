"""Ties are decided the same way whatever a pack or a batch holds: by the lowest token, and the first choice."""

import random
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.models.engine.asked import Request, plain, shared_requests, tokens, tree, verdicts
from tests.models.shapes import decoder, encoder_decoder, loaded

from afrieval.models.engine.logits import most_probable
from afrieval.scoring.responses import TIE, best

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


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["llama", "gemma3", "gpt2"])
def test_packs_and_batches_decide_alike(name: str, seed: int) -> None:
    model = doubled(decoder(name, seed))
    half = model.get_output_embeddings().weight.shape[0] // 2
    requests = twins(half, seed)
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


def test_a_model_without_weights_says_the_first_token() -> None:
    requests = shared_requests() + [((f"{n}", "0"), [7, n], [0, 0][: n % 2 + 1]) for n in range(6)]
    model = silent(decoder("llama"))
    for found in (plain(loaded(model, 8), requests), *(tree(loaded(model), requests, pack) for pack in PACKS)):
        assert [greedy for greedy, _ in verdicts(found)] == [set(answer) == {0} for _, _, answer in requests]
        assert set(picks(found[-4:])) == {0}


def test_encoder_decoders_decide_alike() -> None:
    model = silent(encoder_decoder("T5"))
    requests: list[Request] = [((str(n), "x"), [7, n, 9], [n % 3] * (n % 2 + 1)) for n in range(12)]
    for found in (plain(loaded(model, 4), requests), tree(loaded(model), requests), tree(loaded(model), requests, 7)):
        assert [greedy for greedy, _ in verdicts(found)] == [answer[0] == 0 for _, _, answer in requests]
