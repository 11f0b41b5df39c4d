"""The engine's log-likelihoods are the harness' own, whatever the model looks at and however requests share."""

import logging
from typing import Any

import pytest
import torch
from tests.models.engine.asked import (
    Answers,
    Request,
    distance,
    greedy_requests,
    named,
    plain,
    shared_requests,
    tree,
    verdicts,
)
from tests.models.shapes import DIFFERENT, OLD, WINDOW, decoder, encoder_decoder, loaded
from transformers import AttentionInterface

from afrieval._util.errors import UserError
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
