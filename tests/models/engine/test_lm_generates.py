"""How many answers are generated side by side, and what happens where the engine does not pay."""

import random
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.models.engine.written import MOST, generated, shared_prompts, text
from tests.models.shapes import decoder, encoder_decoder, loaded

from afrieval.models.engine.forward import Forward
from afrieval.models.engine.generation import fitting
from afrieval.models.engine.packs import Packs

HEAD = list(range(100))
APART = [first + text(random.Random(first), 30) for first in "qwertyu"]


@pytest.mark.parametrize(
    ("prompts", "together"),
    [
        ([[*HEAD, i, i] for i in range(8)], 34),  # 100 shared, 2 of their own and one that is written: 204 - 100 for 3
        ([[*HEAD, *range(i, i + 100)] for i in range(8)], 2),
        ([[i] * 50 for i in range(8)], 1),
        ([HEAD, HEAD], 20),  # all but the last token is shared: there are no more
    ],
)
def test_with_masks_all_together_are_twice_as_long_as_one(prompts: list[list[int]], together: int) -> None:
    lm, several = SimpleNamespace(attention="masks"), 10 * prompts
    assert fitting(lm, Packs(), several, 1, len(several)) == together
    lm.attention = "tiles"
    assert fitting(lm, Packs(), several, 1, 70) == min(70, len(several))


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the engine's forward passes."""
    sizes, real = list[int](), Forward.__call__

    def call(self: Forward, tokens: torch.Tensor, *args: Any) -> torch.Tensor:
        sizes.append(len(tokens))
        return real(self, tokens, *args)

    monkeypatch.setattr(Forward, "__call__", call)
    return sizes


def test_with_masks_prompts_that_share_little_are_generated_the_harness_way(steps: list[int]) -> None:
    model = decoder("falcon")
    lm = loaded(model, 8)
    lm.attention = "masks"
    assert generated(lm, APART, "tree") == generated(loaded(model, 8), APART, "plain")
    assert not steps
    prompts = shared_prompts()[:3] * 3
    expected = generated(loaded(model), prompts, "plain", {"max_gen_toks": 2})
    assert generated(lm, prompts, "tree", {"max_gen_toks": 2}) == expected and steps


@pytest.mark.parametrize("options", [{"max_gen_toks": 9, "max_length": 60}, {"max_gen_toks": 12, "num_beams": 2}])
def test_what_the_engine_does_not_know_is_left_to_the_harness(options: dict[str, Any], steps: list[int]) -> None:
    """Other requests of the same call are not held up."""
    lm, plain, answers = loaded(decoder("llama"), 3, max_length=100), loaded(decoder("llama"), 3, max_length=100), []
    for model, engine in ((plain, "plain"), (lm, "tree")):
        model.engine, model.packs = engine, Packs()
        given = [options if i % 2 else {"max_gen_toks": 5} for i in range(6)]
        requests = [SimpleNamespace(args=(p, {"until": ["x"]} | g)) for p, g in zip(APART, given, strict=False)]
        answers.append(model.generate_until(requests, disable_tqdm=True))
    assert steps and answers[0] == answers[1]


@pytest.mark.parametrize("end", [13, "quite"])
def test_what_is_thought_before_an_answer_is_left_out(end: int | str) -> None:
    lm = loaded(decoder("llama"))
    written = lm.tok_encode("hm, quite\n  an answer STOP more")
    lm.think_end_token = end if isinstance(end, str) else lm.tok_encode("\n")[-1]
    assert lm._written(written, ["STOP"]) == "an answer "
    lm.think_end_token = None
    assert lm._written(written, ["STOP"]) == "hm, quite\n  an answer "


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
    assert generated(lm, APART, "plain" if kind == "llama" else "tree") == expected
    assert "continuing with 3 prompts" in caplog.text


def test_a_limit_of_the_models_own_is_no_limit_of_a_request() -> None:
    model, prompts = decoder("llama"), shared_prompts()
    model.generation_config.max_new_tokens = 2
    rows = []
    for engine in ("tree", "plain"):
        lm = loaded(model, 8)
        lm.choose_engine(engine)
        rows.append(generated(lm, prompts, engine))
    assert rows[0] == rows[1] and max(map(len, rows[0])) == MOST


@pytest.mark.parametrize("name", ["max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens"])
def test_a_limit_by_any_name_counts(name: str) -> None:
    lm = loaded(decoder("llama"), 8, max_length=100)
    lm.choose_engine("tree")
    requests = [SimpleNamespace(args=("x" * 80, {"until": [], name: 5}))]
    with lm.work.answering("generate_until", 1, lm.model):
        lm.generate_until(requests, disable_tqdm=True)
    assert lm.too_long == 0 and lm.work.kinds["answers"].most == 5
