"""A model is tried both ways before it is trusted: an engine that errs is not used, and the reason is said."""

import logging
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tests.models.classes.tiny import config, model
from tests.models.shapes import SLIDING, decoder, encoder_decoder, loaded

from afrieval._util.errors import UserError
from afrieval.models.engine import encoder_decoder as encoding
from afrieval.models.engine.caches import SlotCache
from afrieval.models.engine.forward import Forward
from afrieval.models.engine.support import probes
from afrieval.models.engine.tree import Ints
from afrieval.models.engine.tree_attention import VisibleKeys

write_at = SlotCache.write_at
Change = Callable[[torch.Tensor], torch.Tensor]


def answer_otherwise(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    real = Forward.__call__

    def call(self: Forward, *args: Any) -> torch.Tensor:
        return change(real(self, *args))

    monkeypatch.setattr(Forward, "__call__", call)


def fails(logits: torch.Tensor) -> torch.Tensor:
    raise ValueError("what is\n  this mask?")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda logits: logits.roll(1, dims=1), r"gives -\d+\.\d{4} where the harness' own way gives -\d+\.\d{4}"),
        (lambda logits: logits + 0.1 * (torch.arange(259) % 2), r"gives -\d+\.\d{4} where"),
        (lambda logits: logits * float("nan"), "gives nan where"),
        (fails, r"raises ValueError \(what is this mask\?\)"),
    ],
)
def test_an_engine_that_errs_is_not_used(
    change: Change, reason: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lm = loaded(decoder("llama"))
    answer_otherwise(monkeypatch, change)
    with caplog.at_level(logging.WARNING, "afrieval"):
        lm.choose_engine("auto")
    assert lm.engine == "plain"
    (record,) = [r for r in caplog.records if r.name == "afrieval"]
    assert re.match(f"shared parts of prompts are computed repeatedly: the model {reason}", record.getMessage())


def test_rounding_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = loaded(decoder("llama"))
    answer_otherwise(monkeypatch, lambda logits: logits + 1e-5 * (torch.arange(259) % 2))
    lm.choose_engine("tree")
    assert lm.engine == "tree"


@pytest.mark.parametrize(("change", "engine"), [(0.02, "tree"), (3.0, "plain")])
def test_weights_in_16_bits_are_rounded_more(change: float, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = loaded(decoder("llama").to(torch.bfloat16))
    answer_otherwise(monkeypatch, lambda logits: logits + change * (torch.arange(259) % 2))
    lm.choose_engine("auto")
    assert lm.engine == engine


def test_encoder_decoders_are_tried_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, real = loaded(encoder_decoder("T5")), encoding._batch
    monkeypatch.setattr(encoding, "_batch", lambda *args: [(value - 0.01, best) for value, best in real(*args)])
    with pytest.raises(UserError, match="where the harness' own way gives"):
        lm.choose_engine("tree")


def test_an_engine_that_writes_otherwise_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SlotCache, "write_at", lambda cache, at: write_at(cache, at % 5))
    with pytest.raises(UserError, match=r"writes tokens whose logits are \d+\.\d{4} below the highest"):
        loaded(decoder("llama")).choose_engine("tree")


def test_a_model_without_numbers_is_not_trusted() -> None:
    model = decoder("llama")
    with torch.no_grad():
        model.lm_head.weight.fill_(float("nan"))
    with pytest.raises(UserError, match="gives nan"):
        loaded(model).choose_engine("tree")


def test_what_is_asked_branches_and_has_answers_of_several_lengths() -> None:
    requests = probes(loaded(decoder("llama")))
    rows = [context + answer for _, context, answer in requests]
    shared = {sum(a == b for a, b in zip(rows[0], row, strict=False)) for row in rows[1:]}
    assert len(shared) >= 2 and min(shared) >= 20 and len({len(answer) for *_, answer in requests}) >= 3
    assert requests == probes(loaded(decoder("llama"))) and max(map(max, rows)) < 259


def test_no_batch_size_is_searched_for() -> None:
    lm = loaded(decoder("llama"), "auto")

    def search(*args: Any) -> int:
        raise AssertionError("the harness looks for a batch size")

    lm._detect_batch_size = search
    lm.choose_engine("tree")


@pytest.mark.parametrize("name", SLIDING)
def test_windows_larger_than_what_is_asked_are_tried_as_well(name: str) -> None:
    lm = loaded(decoder(name, sliding_window=48))
    lm.choose_engine("auto")
    assert lm.engine == "tree" and lm.model.config.sliding_window == 48


@pytest.mark.parametrize("name", ["llama", "phi", "opt"])
def test_a_window_in_the_settings_that_the_code_ignores_is_noticed(name: str) -> None:
    lm = loaded(decoder(name, sliding_window=48))
    lm.choose_engine("auto")
    assert lm.engine == "plain" and lm.model.config.sliding_window == 48


@pytest.mark.parametrize(
    ("name", "dtype"), [("llama", torch.float16), ("gemma3", torch.bfloat16), ("gpt2", torch.bfloat16)]
)
def test_a_wrong_mask_is_noticed_in_16_bits(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    right, wrong = (loaded(decoder(name).to(dtype)) for _ in range(2))
    right.choose_engine("auto")
    assert right.engine == "tree"

    def siblings_seen(node: Ints, end: Ints, depth: Ints, cached: int) -> VisibleKeys:
        return VisibleKeys(node, np.full_like(end, end.max()), depth, cached)

    monkeypatch.setattr("afrieval.models.engine.likelihood.VisibleKeys", siblings_seen)
    wrong.choose_engine("auto")
    assert wrong.engine == "plain"


def test_a_window_that_is_longer_than_what_is_asked_and_has_a_name_of_its_own_is_noticed() -> None:
    lm = loaded(model("DogeForCausalLM", config("doge")))
    layer = lm.model.model.layers[0].self_attn
    before = layer.keep_window_size
    lm.choose_engine("auto")
    assert before > max(len(context + answer) for _, context, answer in probes(lm))
    assert lm.engine == "plain" and layer.keep_window_size == before
