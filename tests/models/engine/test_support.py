"""Which models the engine leaves alone and why; an engine that errs on a model is not used, and the reason is said."""

import logging
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tests.models.classes.tiny import config, model
from tests.models.classes.verdicts import ENOUGH, mapped
from tests.models.shapes import decoder, encoder_decoder, loaded

from afrieval._util.errors import UserError
from afrieval.models.engine import likelihood
from afrieval.models.engine.caches import PathCache
from afrieval.models.engine.forward import Forward
from afrieval.models.engine.support import NEEDED, generation_obstacle, obstacle, padding_obstacle, probes
from afrieval.models.engine.tree import Ints
from afrieval.models.engine.tree_attention import VisibleKeys

HEADS = {"rope_theta": 10000.0}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bloom", "takes no positions (ALiBi, for one, counts tokens itself)"),
        ("falcon-alibi", "takes no positions (ALiBi, for one, counts tokens itself)"),
        ("gptneo", "has layers that look back by their own rule"),
    ],
)
def test_architectures_that_cannot(name: str, reason: str) -> None:
    assert obstacle(decoder(name)) == reason


@pytest.mark.parametrize(("setting", "reason"), [("expert_capacity", "drops tokens"), ("attention_type", "for good")])
def test_encoder_decoders_that_cannot(setting: str, reason: str) -> None:
    model = encoder_decoder("T5")
    assert obstacle(model, "seq2seq") is None
    setattr(model.config, setting, "block_sparse")
    assert reason in str(obstacle(model, "seq2seq"))


def test_a_model_with_its_own_code() -> None:
    class Ours(type(decoder("llama"))):  # type: ignore[misc]
        pass

    assert obstacle(Ours(decoder("llama").config)) == "brings its own code"


@pytest.mark.parametrize("lacks", NEEDED)
def test_a_model_that_does_not_take_what_it_must(lacks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, forward = decoder("llama"), dict[str, Any]()
    exec(f"def forward(self, {', '.join(NEEDED.keys() - {lacks})}): pass", forward)
    monkeypatch.setattr(type(model), "forward", forward["forward"])
    assert obstacle(model) == NEEDED[lacks]


def test_layers_of_another_kind() -> None:
    model = decoder("llama")
    object.__setattr__(model.config, "layer_types", ["chunked_attention", "full_attention"])
    assert obstacle(model) == "has layers of another kind: chunked_attention"


def test_attention_that_takes_no_masks_is_in_the_way_of_masks_only() -> None:
    model = decoder("llama")
    object.__setattr__(model.config, "_attn_implementation_internal", "flash_attention_2")
    assert obstacle(model) is None
    assert obstacle(model, attention="masks") == "uses flash_attention_2, which takes no masks of ours"


@pytest.mark.parametrize(
    ("rope", "moves"),
    [
        ({"rope_type": "default"}, None),
        ({"rope_type": "linear", "factor": 2.0}, None),
        ({"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 64}, None),
        ({"rope_type": "dynamic", "factor": 2.0}, "dynamic"),
    ],
)
def test_positions_that_depend_on_the_whole_prompt(rope: dict[str, Any], moves: str | None) -> None:
    found = obstacle(decoder("llama", rope_parameters=rope | HEADS))
    said = f"has positions that depend on the length of the whole prompt ({moves})"
    assert found == (said if moves else None)


def test_positions_of_some_layers_only() -> None:
    ropes = {
        "sliding_attention": {"rope_type": "default"} | HEADS,
        "full_attention": {"rope_type": "dynamic", "factor": 2.0} | HEADS,
    }
    assert "dynamic" in str(obstacle(decoder("gemma3", rope_parameters=ropes)))


def test_windows_that_differ_between_layers() -> None:
    settings = config("mistral")
    settings.per_layer_config = {0: {"sliding_window": 16}, 1: {"sliding_window": 100}}
    assert obstacle(model("MistralForCausalLM", settings)) == "has layers with windows of several sizes"


def test_an_adapter_is_judged_by_what_it_adapts() -> None:
    wrapped = SimpleNamespace(peft_config={}, get_base_model=lambda: decoder("bloom"))
    assert obstacle(wrapped) == obstacle(decoder("bloom"))


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, None),
        ({"do_sample": False, "temperature": 0.0, "top_p": 0.5, "top_k": 5, "min_p": 0.1}, None),
        ({"do_sample": True}, "do_sample"),
        ({"temperature": 0.3}, "do_sample"),
        ({"do_sample": False, "num_beams": 4}, "num_beams"),
        ({"eos_token_id": 5}, "eos_token_id"),
        ({"penalty_alpha": 0.6, "num_beams": 4}, "num_beams, penalty_alpha"),
        ({"no_such_option": 1}, "no_such_option"),
    ],
)
def test_options_that_are_left_to_the_harness(options: dict[str, Any], left: str | None) -> None:
    assert generation_obstacle(decoder("llama"), options) == left


@pytest.mark.parametrize(
    ("setting", "left"),
    [
        ({"do_sample": True, "temperature": 0.6, "top_p": 0.9, "max_length": 4096}, None),
        ({"eos_token_id": [1, 7], "pad_token_id": 1, "bos_token_id": 0}, None),
        ({"repetition_penalty": 1.1}, "repetition_penalty"),
        ({"num_beams": 5}, "num_beams"),
        ({"suppress_tokens": [5]}, "suppress_tokens"),
        ({"min_new_tokens": 3}, "min_new_tokens"),
        ({"bad_words_ids": [[5]]}, "bad_words_ids"),
    ],
)
def test_settings_of_a_model_that_are_left_to_the_harness(setting: dict[str, Any], left: str | None) -> None:
    model = decoder("llama")
    model.generation_config.update(**setting)
    assert generation_obstacle(model, {"do_sample": False}) == left


write_at = PathCache.write_at
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
        (lambda logits: logits.roll(1, dims=1), r"gives -\d+\.\d{4} where lm_eval's own way gives -\d+\.\d{4}"),
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
    lm, real = loaded(encoder_decoder("T5")), likelihood._batch
    monkeypatch.setattr(likelihood, "_batch", lambda *args: [(value - 0.01, best) for value, best in real(*args)])
    with pytest.raises(UserError, match="where lm_eval's own way gives"):
        lm.choose_engine("tree")


def test_an_engine_that_writes_otherwise_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(cache: PathCache, places: Any, *args: Any) -> None:
        write_at(cache, places if isinstance(places, slice) else places % 5, *args)

    monkeypatch.setattr(PathCache, "write_at", wrong)
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


@pytest.mark.parametrize("name", ["mistral", "gemma3"])
def test_windows_larger_than_what_is_asked_are_tried_as_well(name: str) -> None:
    lm = loaded(decoder(name, sliding_window=48))
    lm.choose_engine("auto")
    assert lm.engine == "tree" and lm.model.config.sliding_window == 48


def test_a_window_in_the_settings_that_the_code_ignores_is_noticed() -> None:
    lm = loaded(decoder("llama", sliding_window=48))
    lm.choose_engine("auto")
    assert lm.engine == "plain" and lm.model.config.sliding_window == 48


@pytest.mark.parametrize(("name", "dtype"), [("llama", torch.float16), ("gemma3", torch.bfloat16)])
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


@pytest.mark.parametrize("name", ["mistral", "gemma2"])
def test_a_window_of_one_token_which_the_models_own_cache_ignores_is_noticed(name: str) -> None:
    lm = loaded(decoder(name, sliding_window=1))
    lm.choose_engine("auto")
    assert lm.engine == "plain"


TEXTS = ["Kí ni olú ìlú Nàìjíríà? " * n for n in (1, 2, 3)]
GENERATED, SCORED = (True, False)


def answered(lm: Any, writes: bool) -> list[Any]:
    if writes:
        asked = [SimpleNamespace(args=(text, {"max_gen_toks": 12, "until": ["\n\n"]})) for text in TEXTS]
        return list(lm.generate_until(asked))
    return [pytest.approx(a[0], abs=1e-3) for a in lm.loglikelihood([SimpleNamespace(args=(t, "mi")) for t in TEXTS])]


@pytest.mark.parametrize(
    ("backend", "kind", "writes", "moved"),
    [
        ("causal", "recurrent_gemma", GENERATED, "moves its numbers by up to"),
        ("causal", "recurrent_gemma", SCORED, None),
        ("causal", "rwkv", GENERATED, "moves its numbers by up to"),
        ("causal", "mamba", GENERATED, None),
        ("causal", "cpmant", SCORED, "moves its numbers by up to"),
        ("seq2seq", "pegasus", GENERATED, "moves its numbers by up to"),
        ("seq2seq", "switch_transformers", SCORED, "drops tokens"),
    ],
)
def test_where_padding_moves_a_models_answers_nothing_is_padded(
    backend: str, kind: str, writes: bool, moved: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    small = model(mapped()[backend][kind], config(kind), most=ENOUGH)
    one, several = (loaded(small, size, backend=backend) for size in (1, 3))
    expected = answered(one, writes)
    with caplog.at_level(logging.WARNING, "afrieval"):
        assert answered(several, writes) == answered(several, writes) == expected
    said = [r.getMessage() for r in caplog.records if "one at a time" in r.getMessage()]
    assert [str(moved) in line for line in said] == ([True] if moved else [])  # once


@pytest.mark.parametrize("kind", ["recurrent_gemma", "mamba"])
def test_in_16_bits_padding_rounds_more(kind: str) -> None:
    lm = loaded(model(mapped()["causal"][kind], config(kind), most=ENOUGH).to(torch.bfloat16), 3)
    assert (padding_obstacle(lm, writes=True) is None) is (kind == "mamba")
