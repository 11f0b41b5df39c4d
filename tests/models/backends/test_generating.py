"""How many answers are generated side by side, and what happens where the engine does not pay."""

import random
from typing import Any

import pytest
import torch
from tests.models.engine.written import generated, shared_prompts, text
from tests.models.shapes import decoder, encoder_decoder, loaded

from afrieval.models.backends.generating import side_by_side
from afrieval.models.engine.forward import Forward

HEAD = list(range(100))
APART = [first + text(random.Random(first), 30) for first in "qwertyu"]


@pytest.mark.parametrize(
    ("prompts", "together"),
    [
        ([[*HEAD, i, i] for i in range(8)], 52),  # 100 shared, 2 of their own: 100 + 52 * 2 = 2 * 102
        ([[*HEAD, *range(i, i + 100)] for i in range(8)], 3),
        ([[i] * 50 for i in range(8)], 2),
        ([HEAD, HEAD], 101),  # all but the last token is shared
        ([HEAD, []], 0),
    ],
)
def test_all_together_are_twice_as_long_as_one(prompts: list[list[int]], together: int) -> None:
    assert side_by_side(prompts) == together


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the engine's forward passes."""
    sizes, real = list[int](), Forward.__call__

    def call(self: Forward, tokens: torch.Tensor, *args: Any) -> torch.Tensor:
        sizes.append(len(tokens))
        return real(self, tokens, *args)

    monkeypatch.setattr(Forward, "__call__", call)
    return sizes


def test_prompts_that_share_little_are_generated_the_harness_way(steps: list[int]) -> None:
    model = decoder("llama")
    assert generated(loaded(model, 8), APART, "tree") == generated(loaded(model, 8), APART, "plain")
    assert not steps
    generated(loaded(model, 8), shared_prompts(), "tree")
    assert steps


def test_a_batch_is_taken_in_parts_where_all_would_be_too_many(
    steps: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, prompts = decoder("llama"), shared_prompts()
    monkeypatch.setattr("afrieval.models.backends.generating.side_by_side", lambda prompts: 4)
    expected = generated(loaded(model), prompts, "plain")
    assert generated(loaded(model, 10), prompts, "tree") == expected
    assert max(n for n in steps[2:] if n < 10) == 4


@pytest.mark.parametrize("kind", ["llama", "T5"])
def test_full_memory_halves_a_batch_of_the_harness_way_too(
    kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model = decoder(kind) if kind == "llama" else encoder_decoder(kind)
    expected = generated(loaded(model, 3), APART, "plain")
    lm, real = loaded(model, 8), model.generate

    def generate(input_ids: torch.Tensor, **kwargs: Any) -> Any:
        if len(input_ids) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return real(input_ids=input_ids, **kwargs)

    monkeypatch.setattr(model, "generate", generate)
    assert generated(lm, APART, "tree") == expected
    assert "continuing with 3 prompts" in caplog.text


def test_a_limit_of_the_models_own_is_no_limit_of_a_request() -> None:
    model, prompts = decoder("llama"), shared_prompts()
    model.generation_config.max_new_tokens = 2
    rows = []
    for engine in ("tree", "plain"):
        lm = loaded(model, 8)
        lm.choose_engine(engine)
        rows.append(generated(lm, prompts, engine))
    assert rows[0] == rows[1] and max(map(len, rows[0])) == 12
