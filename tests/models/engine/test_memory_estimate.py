"""Predicted memory is what the allocator gives out, kernels' own included, within a tenth."""

import random
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
import torch
from tests.models.engine.asked import Request, named, tokens
from tests.models.shapes import DECODERS, decoder, encoder_decoder, loaded
from torch.profiler import ProfilerActivity, profile
from transformers import MixtralConfig, MixtralForCausalLM

from afrieval.models.engine import likelihood
from afrieval.models.engine.caches import PathCache
from afrieval.models.engine.forward import Forward
from afrieval.models.engine.likelihood import tokens_in_tree
from afrieval.models.engine.memory_estimate import (
    LiveBytes,
    batch_bytes,
    footprint,
    generated_bytes,
    pack_bytes,
    plain_bytes,
    torch_log,
)
from afrieval.models.engine.packs import Packs, at_most
from afrieval.models.engine.tree import build_tree
from afrieval.models.engine.tree_attention import VisibleKeys
from afrieval.tools.plan.token_counts import widest


def allocated(work: Callable[[], Any]) -> int:
    """Returns how many bytes more than before torch has at most while some work is done, on the CPU.

    Each allocation counts, also those inside of kernels.
    """
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = work()
    del result
    kineto: Any = profiler.profiler
    sizes = sorted(
        (e.start_ns(), i, e.nbytes()) for i, e in enumerate(kineto.kineto_results.events()) if e.name() == "[memory]"
    )
    return int(max(accumulate(n for *_, n in sizes)))


EXACT = 0.1
SIZES = {"hidden_size": 192, "intermediate_size": 384, "num_attention_heads": 6, "vocab_size": 1500}
OTHER = {"n_embd": 192, "d_model": 192, "n_head": 6, "attention_heads": 6, "ffn_dim": 384, "word_embed_proj_dim": 192}
CPU = torch.device("cpu")


def larger(name: str, **changed: Any) -> Any:
    """Returns a model of which a pass takes some megabytes."""
    own = DECODERS[name][1]
    sizes = {key: value for key, value in (SIZES | OTHER).items() if key in own or key == "vocab_size"}
    heads = {"head_dim": 32, "global_head_dim": 48, "query_pre_attn_scalar": 32, "num_key_value_heads": 2}
    sizes |= {key: value for key, value in heads.items() if key in own}
    lists: dict[str, Any] = {"intermediate_size": [384] * 4} if name == "gemma3n" else {}
    length = {"n_positions": 2048} if name == "gpt2" else {"max_position_embeddings": 2048}
    return decoder(name, **sizes | lists | length | changed)


def asked(shared: int, questions: int, length: int, choices: int, answer: int) -> list[Request]:
    draw = random.Random(6)
    head = tokens(draw, shared)
    contexts = [head + tokens(draw, length) for _ in range(questions)]
    return named([(context, tokens(draw, answer)) for context in contexts for _ in range(choices)])


FEW_SHOT = asked(shared=600, questions=6, length=40, choices=4, answer=6)
SHORT = asked(shared=60, questions=30, length=20, choices=4, answer=3)
WHOLE = asked(shared=0, questions=2, length=1, choices=1, answer=400)


def check(lm: Any, requests: list[Request], pack: int, more: float = EXACT) -> None:
    """Compares the estimate with what is taken; it may be larger by a share."""
    tree = build_tree([(c + a)[:-1] for _, c, a in requests], [a for *_, a in requests])
    packs = Packs(pack)
    expected = sum(pack_bytes(lm, *widest(tree, pack, packs.scored(lm))).values())
    taken = allocated(lambda: [*tokens_in_tree(lm, requests, packs)])
    assert 1 - EXACT <= expected / taken <= 1 + more
    assert expected <= at_most(lm, tree.longest, pack)


@pytest.mark.parametrize("name", ["gemma3n", "gpt2", "falcon"])
def test_of_a_pack(name: str) -> None:
    lm = loaded(larger(name), max_length=2048)
    lm.attention = "masks" if name == "falcon" else "tiles"  # it does not take attention from the engine
    check(lm, FEW_SHOT, 192)


@pytest.mark.parametrize(
    ("changed", "requests", "pack"),
    [
        pytest.param({}, WHOLE, 128, marks=pytest.mark.slow),
        ({}, SHORT, 256),
        ({"vocab_size": 20_000}, SHORT, 300),
        pytest.param({"num_hidden_layers": 5}, FEW_SHOT, 128, marks=pytest.mark.slow),
    ],
    ids=["whole texts", "short", "many words", "deep"],
)
def test_of_other_shapes(changed: dict[str, Any], requests: list[Request], pack: int) -> None:
    check(loaded(larger("gemma2", **changed), max_length=2048), requests, pack)


def test_of_other_numbers() -> None:
    check(loaded(larger("llama").to(torch.bfloat16), max_length=2048), FEW_SHOT, 192)


@pytest.mark.parametrize("name", ["lfm2", "qwen3_5", "falcon-h1"])
def test_of_states_that_many_short_sequences_continue(name: str) -> None:
    check(loaded(larger(name), max_length=2048), SHORT, 256, more=0.2)


def test_states_are_sized_without_weights() -> None:
    """Falcon-H1 has, in each of two layers, 4 heads of 16 x 8, and 64 + 2 x 8 channels of the last 4 tokens."""
    lm = loaded(decoder("falcon-h1"))
    with torch.device("meta"):
        lm._model = decoder("falcon-h1")
    assert lm.state_bytes == 2 * 4 * (4 * 16 * 8 + (64 + 2 * 8) * 4)
    assert loaded(decoder("llama")).state_bytes == 0


def test_of_experts() -> None:
    sizes = {"hidden_size": 192, "intermediate_size": 256, "num_hidden_layers": 2, "vocab_size": 1500}
    heads = {"num_attention_heads": 6, "num_key_value_heads": 2, "num_local_experts": 6}
    check(loaded(MixtralForCausalLM(MixtralConfig(**sizes, **heads)).eval(), max_length=2048), FEW_SHOT, 192)


def test_of_a_batch_of_an_encoder_decoder() -> None:
    lm = loaded(encoder_decoder("MT5", d_model=192, d_ff=384, d_kv=32, vocab_size=1500))
    requests = sorted(asked(shared=0, questions=3, length=150, choices=5, answer=7), key=lambda r: r[1])
    expected = batch_bytes(lm, requests)[CPU]
    assert expected == pytest.approx(allocated(lambda: likelihood._batch(lm, requests)), rel=EXACT)


def test_of_the_harness_way() -> None:
    lm = loaded(larger("gemma3"), 8)
    requests = named([([1 + i] * 250, [5, 6]) for i in range(8)])
    expected = plain_bytes(lm, 8, 251)[CPU]
    assert expected == pytest.approx(allocated(lambda: lm.plain(requests, 8)), rel=EXACT)


def test_of_answers_that_transformers_writes() -> None:
    lm, ids = loaded(larger("gemma3")), torch.full((6, 200), 5)

    def write() -> None:
        options = {"max_new_tokens": 40, "min_new_tokens": 40, "do_sample": False}
        lm.model.generate(ids, attention_mask=torch.ones_like(ids), **options)

    assert generated_bytes(lm, 6, 200, 40)[CPU] == pytest.approx(allocated(write), rel=EXACT)


def counted(work: Callable[[], object]) -> int:
    with LiveBytes() as live:
        work()
    return int(live.most[CPU])


def test_views_and_what_is_gone_take_no_memory() -> None:
    def work() -> None:
        one = torch.zeros(100)  # 400 bytes
        one.view(10, 10).T[3:].add_(1)
        del one
        two = torch.zeros(30)
        torch.cat([two, two])  # 120 + 240

    assert counted(work) == 400
    assert counted(lambda: torch.zeros(10) + torch.zeros(10)) == 120


def test_nothing_is_left_in_the_model() -> None:
    lm = loaded(decoder("gemma3"))
    before = {name: id(weight) for name, weight in lm.model.state_dict(keep_vars=True).items()}
    assert footprint(lm, lambda lm: lm.model(torch.zeros(1, 8, dtype=torch.long)).logits)
    assert before == {name: id(weight) for name, weight in lm.model.state_dict(keep_vars=True).items()}
    assert type(lm.model(torch.zeros(1, 8, dtype=torch.long)).logits) is torch.Tensor


def test_devices_are_counted_apart() -> None:
    def work(lm: Any) -> None:
        there = torch.zeros(100, device="cuda:1")
        (there + 1).cpu()

    found = footprint(loaded(decoder("llama")), work)
    assert found == {torch.device("cuda:1"): 800, CPU: 400}


def test_no_numbers_are_computed() -> None:
    lm = loaded(larger("llama"))
    expected = pack_bytes(lm, 300, 100, 10, 10)
    with torch.device("meta"):
        lm._model = larger("llama")
    assert pack_bytes(lm, 300, 100, 10, 10) == expected, "neither are weights needed"


def test_weights_that_are_loaded_when_used_are_not_guessed_at() -> None:
    lm = loaded(decoder("llama"))
    lm.model.lm_head.to("meta")
    with pytest.raises(ValueError, match="loaded when they are used"):
        pack_bytes(lm, 30, 10, 1, 1)


def test_what_a_model_cannot_do_is_raised_but_not_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    logged = list[Any]()
    monkeypatch.setattr(torch_log, "callHandlers", logged.append)
    lm = loaded(decoder("falcon"))
    with pytest.raises(RuntimeError, match="broadcast"):
        pack_bytes(lm, 60, 30, 5, 5)  # in tiles, which its code does not take
    torch_log.error("something else")
    assert [record.getMessage() for record in logged] == ["something else"]


def test_what_needs_numbers_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = loaded(decoder("llama"))
    monkeypatch.setattr("afrieval.models.engine.packs.free_memory", lambda device: 0)
    assert Packs(100).size(lm, 50) < 100
    lm.model.lm_head.register_forward_hook(lambda module, args, out: bool(np.array(out.max().item())))
    assert Packs(100).size(lm, 50) == 100, "it is tried"


@pytest.mark.parametrize("name", ["gemma4", "gpt2"])
def test_nothing_but_the_cache_grows_with_it(name: str) -> None:
    lm = loaded(larger(name))
    cache = tree_cache(lm)
    per_token = sum(buffer[:, :, :1].nbytes for layer in cache.layers for buffer in (layer.keys, layer.values))
    rooms = [600, 1800]

    def grown(lm: Any) -> int:
        least, most = (pack_bytes(lm, room, 128, 20, 16)[CPU] for room in rooms)
        return most - least

    assert grown(lm) == per_token * (rooms[1] - rooms[0])
    lm.attention = "masks"
    assert grown(lm) > per_token * (rooms[1] - rooms[0]) + 128 * (rooms[1] - rooms[0])


def tree_cache(lm: Any) -> Any:
    """Returns a cache that has been used."""
    cache = PathCache(lm.model, 10)
    cache.write_at(slice(4), 4)
    view = VisibleKeys(np.arange(4), np.full(4, 4), np.arange(4), 0)
    Forward(lm, cache)(torch.zeros(4, dtype=torch.long), torch.arange(4), view, [3])
    return cache
