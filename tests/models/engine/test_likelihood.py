"""The engine's log-likelihoods are the harness' own, whatever the model looks at and however requests share."""

import logging
import math
import random
from typing import Any

import pytest
import torch
from tests.models.classes import tiny
from tests.models.engine.asked import (
    Answers,
    Request,
    distance,
    greedy_requests,
    named,
    plain,
    shared_requests,
    tokens,
    tree,
    verdicts,
)
from tests.models.shapes import (
    DIFFERENT,
    ENCODER_DECODERS,
    OLD,
    WINDOW,
    WITH_STATES,
    decoder,
    encoder_decoder,
    loaded,
)
from transformers import AttentionInterface

from afrieval._util.errors import UserError
from afrieval.models.engine.caches import PathCache
from afrieval.models.engine.forward import Forward, windows
from afrieval.models.engine.tree import build_tree

MASKS = [("mistral", None), ("gpt2", None), ("gemma3", "eager"), ("falcon", "eager")]  # `OLD` take nothing else anyway
SHORT = 64  # shorter than the longest requests, which lose their beginning
CLOSE = 1e-4
CLEAR = 0.05  # what a wrong mask changes at least


def asked_of(model: Any) -> list[Request]:
    requests = shared_requests()
    return requests[::2] + greedy_requests(model, requests)


def check(lm: Any, requests: list[Request], expected: Answers, packs: tuple[int | None, ...]) -> None:
    for pack in packs:
        found = tree(lm, requests, pack, seed=pack)
        assert distance(expected, found) <= CLOSE, pack
        assert verdicts(expected) == verdicts(found), pack


@pytest.mark.parametrize("name", DIFFERENT)
def test_answers_are_the_harness_own(name: str) -> None:
    model = decoder(name)
    lm, requests = loaded(model, 16, max_length=SHORT), asked_of(model)
    expected = plain(lm, requests)
    assert any(is_greedy and n == 1 for is_greedy, n in verdicts(expected))
    assert any(is_greedy and n > 1 for is_greedy, n in verdicts(expected))
    lm.choose_engine("auto")
    assert (lm.engine, lm.attention) == ("tree", "masks" if name in OLD else "tiles")
    check(lm, requests, expected, (None, 11))  # shorter than a window


@pytest.mark.parametrize(("name", "attention"), MASKS)
def test_answers_are_the_same_with_whole_masks(name: str, attention: str | None) -> None:
    model = decoder(name, attention=attention)
    lm, requests = loaded(model, 16, max_length=SHORT), asked_of(model)
    lm.attention = "masks"
    check(lm, requests, plain(lm, requests), (16,))


def test_a_model_keeps_its_own_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, requests = loaded(decoder("gemma2"), 16), shared_requests()
    own, known = lm.model.config._attn_implementation, set(AttentionInterface())
    expected = plain(lm, requests)
    found = tree(lm, requests, 16)
    monkeypatch.setattr("afrieval.models.engine.forward.placeholder", lambda *args: torch.zeros(1, 1, 1, 1))
    with pytest.raises(ValueError, match="a layer has changed its mask"):
        tree(lm, requests, 16)
    assert (lm.model.config._attn_implementation, set(AttentionInterface())) == (own, known)
    assert plain(lm, requests) == expected != found


def test_a_pack_may_be_a_single_token() -> None:
    model = decoder("gemma3")
    lm, requests = loaded(model, 16, max_length=SHORT), asked_of(model)[::6]
    check(lm, requests, plain(lm, requests), (1,))


@pytest.mark.parametrize("change", [1, -1])
def test_a_window_off_by_one_would_be_seen(change: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(model: Any) -> dict[str, int]:
        return {kind: window + change * bool(window) for kind, window in windows(model).items()}

    lm, requests = loaded(decoder("gemma3"), 16), shared_requests()
    monkeypatch.setattr("afrieval.models.engine.forward.windows", wrong)
    assert max(windows(lm.model).values()) == WINDOW
    assert distance(plain(lm, requests), tree(lm, requests, 16)) > CLEAR


@pytest.mark.parametrize("name", WITH_STATES)
def test_a_state_of_another_branch_would_be_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load = PathCache.load
    lm, requests = loaded(decoder(name), 16), shared_requests()
    expected = plain(lm, requests)
    monkeypatch.setattr(PathCache, "load", lambda cache, places: load(cache, None if places is None else places * 0))
    assert distance(expected, tree(lm, requests, 16)) > CLEAR


def test_a_model_that_cannot_continue_a_state_is_scored_plainly(caplog: pytest.LogCaptureFixture) -> None:
    lm = loaded(tiny.model("JambaForCausalLM", tiny.config("jamba")))
    lm.choose_engine("auto")
    assert lm.engine == "plain"
    (record,) = [r for r in caplog.records if r.name == "afrieval"]
    assert "cannot continue its states by several tokens in transformers" in record.message


def test_a_model_that_cannot_is_scored_plainly(caplog: pytest.LogCaptureFixture) -> None:
    lm, requests = loaded(decoder("gptneo"), 16, max_length=SHORT), shared_requests()
    expected = plain(lm, requests)
    with caplog.at_level(logging.WARNING, "afrieval"):
        lm.choose_engine("auto")
        found = lm._loglikelihood_tokens(requests, disable_tqdm=True)
    assert lm.engine == "plain" and found == expected
    reason = "look back by their own rule"
    assert [reason in r.message for r in caplog.records if r.name == "afrieval"] == [True]
    with pytest.raises(UserError, match=reason):
        lm.choose_engine("tree")
    assert lm.engine == "plain"


def test_answers_as_long_as_the_model_takes() -> None:
    lm = loaded(decoder("llama"), max_length=8)
    whole, longer = list(range(10, 18)), list(range(10, 19))
    requests = named([([5, 6], whole), ([6], whole), ([5, 6], whole[:7])])
    assert distance(plain(lm, requests), tree(lm, requests)) <= CLOSE
    with pytest.raises(UserError, match="9 tokens, but the context only 8"):
        tree(lm, named([([5], longer)]))


def test_a_beginning_that_is_cut_is_counted_and_no_longer_shared() -> None:
    lm = loaded(decoder("llama"), max_length=8)
    requests = named([([9, 5, 6, 7, 8], [10, 11, 12]), ([9, 5, 6, 7, 8], [10, 11, 12, 13, 14])])
    assert distance(plain(lm, requests), tree(lm, requests)) <= CLOSE
    assert lm.too_long == 2, "one, and both ways"


def test_no_requests_no_answers() -> None:
    for lm in (loaded(decoder("llama")), loaded(encoder_decoder("T5"))):
        assert plain(lm, []) == tree(lm, []) == []


class Hook:
    """Takes answers, as the cache of a run does."""

    def __init__(self) -> None:
        self.taken: dict[Any, tuple[float, bool, int]] = {}

    def add_partial(self, attr: str, texts: tuple[str, str], answer: tuple[float, bool, int]) -> None:
        assert attr == "loglikelihood" and self.taken.get(texts, answer) == answer
        self.taken[texts] = answer


@pytest.mark.parametrize("pack", [7, 16])
def test_answers_come_out_as_soon_as_their_pack_is_done(pack: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, call = list[set[Any]](), Forward.__call__

    def noted(self: Forward, *args: Any) -> torch.Tensor:
        taken.append(set(hook.taken))
        return call(self, *args)

    monkeypatch.setattr(Forward, "__call__", noted)
    lm, requests = loaded(decoder("gemma2"), 16), shared_requests()
    lm.cache_hook = hook = Hook()
    found = tree(lm, requests, pack)
    assert hook.taken == {texts: answer for (texts, *_), answer in zip(requests, found, strict=True)}
    planted = build_tree([(c + a)[:-1] for _, c, a in requests], [a for *_, a in requests])
    last = planted.scored[planted.starts[1:] - 1]
    for i, before in enumerate(taken):
        assert before == {texts for (texts, *_), node in zip(requests, last, strict=True) if node < i * pack}


def test_weights_in_16_bits_are_scored_with_an_exact_softmax() -> None:
    lm = loaded(decoder("llama").to(torch.bfloat16))
    values = [value for value, *_ in tree(lm, shared_requests())]
    rounded = [float(torch.tensor(value).bfloat16()) for value in values]
    assert sum(a != b for a, b in zip(values, rounded, strict=True)) > len(values) / 2


def greedy_answer(model: Any, context: list[int], n: int) -> list[int]:
    """Returns the n tokens that a model itself would answer with."""
    written = [model.config.decoder_start_token_id]
    for _ in range(n):
        with torch.no_grad():
            logits = model(torch.tensor([context]), decoder_input_ids=torch.tensor([written])).logits
        written.append(int(logits[0, -1].argmax()))
    return written[1:]


def requests_of(model: Any) -> list[Any]:
    requests = shared_requests()
    contexts = [context[-SHORT:] for _, context, _ in requests[:20:5]]
    return requests + named([(context, greedy_answer(model, context, n)) for context in contexts for n in (1, 3)])


@pytest.mark.parametrize("kind", ENCODER_DECODERS)
def test_answers_of_encoder_decoders_are_the_harness_own(kind: str) -> None:
    model = encoder_decoder(kind)
    lm, requests = loaded(model, max_length=SHORT), requests_of(model)
    expected = plain(lm, requests)
    assert sum(is_greedy for is_greedy, _ in verdicts(expected)) >= 8
    lm.choose_engine("auto")
    assert lm.engine == "tree"
    check(lm, requests, expected, (None, 7, 200) if kind == "T5" else (64,))


def test_it_matters_what_was_asked() -> None:
    lm, draw = loaded(encoder_decoder("T5")), random.Random(3)
    answers = [tokens(draw, 3) for _ in range(8)]
    some, others = (plain(lm, named([(tokens(draw, 20), answer) for answer in answers])) for _ in range(2))
    assert distance(some, others) > 100 * CLOSE


@pytest.mark.parametrize("pack", [7, 100, 512])
def test_every_context_is_encoded_once(pack: int) -> None:
    lm, encoded = loaded(encoder_decoder("T5"), max_length=SHORT), list[Any]()

    def note(module: Any, args: Any, kwargs: Any) -> None:
        rows, mask = kwargs["input_ids"].tolist(), kwargs["attention_mask"].sum(dim=1).tolist()
        encoded.extend(tuple(row[:n]) for row, n in zip(rows, mask, strict=True))

    lm.model.get_encoder().register_forward_pre_hook(note, with_kwargs=True)
    tree(lm, requests := shared_requests(), pack)
    contexts = {tuple(context[-SHORT:]) for _, context, _ in requests}
    assert len(encoded) == len(contexts) and set(encoded) == contexts


def test_many_answers_about_one_context_are_not_taken_at_once() -> None:
    lm, draw, rows = loaded(encoder_decoder("T5"), max_length=SHORT), random.Random(4), list[int]()
    requests = named([([0], tokens(draw, 2)) for _ in range(50)])
    expected = plain(lm, requests)

    def note(module: Any, args: Any, kwargs: Any) -> None:
        rows.append(len(kwargs["input_ids"]))

    lm.model.get_decoder().register_forward_pre_hook(note, with_kwargs=True)
    assert distance(expected, tree(lm, requests, 2)) <= CLOSE
    assert max(rows) == 16, "8 for each token of a pack"


def test_logits_of_encoder_decoders_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, rows = loaded(encoder_decoder("T5")), list[int]()
    monkeypatch.setattr("afrieval.models.engine.packs.Packs.scored", lambda self, lm: 6)
    requests = shared_requests()
    expected = plain(lm, requests)
    lm.model.lm_head.register_forward_pre_hook(lambda module, args: rows.append(args[0].shape[:2].numel()))
    assert distance(expected, tree(lm, requests)) <= CLOSE
    assert max(rows) <= 6


SEEDS = range(2)
SMALL: dict[str, Any] = {
    "initializer_range": 0.1
}  # as of a trained model's, rounding errors stay below the answers' differences


def long_requests(seed: int) -> list[Request]:
    draw, pairs = random.Random(seed), []
    head = tokens(draw, 120)
    for _ in range(6):
        context, begun = head + tokens(draw, draw.randrange(5, 30)), tokens(draw, 2)
        choices = [tokens(draw, 1), begun + tokens(draw, 2), begun + tokens(draw, 6), tokens(draw, 3)]
        pairs += [(context, choice) for choice in choices]
    return named(pairs)


def spread(some: list[Answers], others: list[Answers]) -> float:
    """Returns the root of the mean square of the differences of likelihoods."""
    pairs = [(a, b) for one, other in zip(some, others, strict=True) for a, b in zip(one, other, strict=True)]
    return math.sqrt(sum((a[0] - b[0]) ** 2 for a, b in pairs) / len(pairs))


@pytest.mark.parametrize(("name", "dtype"), [("llama", torch.bfloat16), ("gemma3", torch.float16)])
def test_the_engine_is_as_near_to_the_exact_answers(name: str, dtype: torch.dtype) -> None:
    """In 16 bits the engine rounds in other places than the harness, and no worse; not so for each set of requests."""
    exact, alone, engine, eager = [], [], [], []
    for seed in SEEDS:
        model, requests = decoder(name, seed, **SMALL), long_requests(seed)
        exact.append(plain(loaded(model), requests))
        alone.append(plain(loaded(model.to(dtype)), requests))
        engine.append(tree(loaded(model), requests))
        eager.append(plain(loaded(decoder(name, seed, "eager", **SMALL).to(dtype)), requests))
    assert 0 < spread(engine, exact) < 1.15 * spread(alone, exact)
    assert spread(engine, alone) < spread(eager, alone), (
        "another of the model's own attentions makes more of a difference"
    )
