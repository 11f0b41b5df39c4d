"""Memory that is full halves what is computed at a time, and changes no answer."""

import itertools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.models.engine.asked import distance, plain, shared_requests, tree, verdicts
from tests.models.engine.written import generated, shared_prompts, stops, strange_prompts
from tests.models.shapes import decoder, encoder_decoder, loaded, warnings

from afrieval._util.errors import UserError
from afrieval.models.engine import likelihood, logits
from afrieval.models.engine.caches import Segment
from afrieval.models.engine.forward import Forward
from afrieval.models.engine.generation import Reader
from afrieval.models.engine.packs import SMALLEST
from afrieval.models.engine.requests import EngineError

MESSAGE = "CUDA out of memory. Tried to allocate 2.00 GiB."
PROMPTS = [*shared_prompts(), *strange_prompts()][::2]
SHORT = 64
CLOSE = 1e-4


def full(*args: Any) -> None:
    raise torch.OutOfMemoryError(MESSAGE)


def limit_packs(monkeypatch: pytest.MonkeyPatch, most: int) -> list[int]:
    """Makes forward passes over more tokens fail; returns a list that fills with the sizes of those that went well."""
    sizes, real = list[int](), Forward.__call__

    def call(self: Forward, tokens: torch.Tensor, *args: Any) -> torch.Tensor:
        if len(tokens) > most:
            full()
        sizes.append(len(tokens))
        return real(self, tokens, *args)

    monkeypatch.setattr(Forward, "__call__", call)
    return sizes


@pytest.mark.parametrize(("most", "left"), [(63, [32]), (20, [32, 16])])
def test_packs_halve_and_answers_stay(
    most: int, left: list[int], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lm, requests = loaded(decoder("gemma2"), max_length=SHORT), shared_requests()[::2]
    expected = plain(lm, requests)
    sizes = limit_packs(monkeypatch, most)
    found = tree(lm, requests, 64)
    assert distance(expected, found) <= CLOSE and verdicts(expected) == verdicts(found)
    said = [f"the device's memory is full; going on with {n} tokens at a time" for n in left]
    assert warnings(caplog) == said
    assert max(sizes) == left[-1]
    lm._loglikelihood_tokens(requests, disable_tqdm=True)
    assert warnings(caplog) == said, "what was found out is not forgotten"


def test_what_never_fits_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = loaded(decoder("llama"))
    limit_packs(monkeypatch, SMALLEST - 1)
    with pytest.raises(EngineError, match=f"too small for {SMALLEST} tokens at a time"):
        tree(lm, shared_requests(), 64)


def test_other_errors_are_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(Forward, "__call__", broken)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        tree(loaded(decoder("llama")), shared_requests(), 64)


@pytest.mark.parametrize(("name", "after"), [("gemma3", 0), ("gemma3", 2), ("lfm2", 2), ("falcon-h1", 2)])
def test_a_pass_that_breaks_off_halfway_leaves_nothing(name: str, after: int, caplog: pytest.LogCaptureFixture) -> None:
    """The first layer's cache has taken the tokens, the second's has not; at first, or when there are others."""
    lm, requests = loaded(decoder(name)), shared_requests()
    expected, passes = plain(lm, requests), list[int]()

    def fails(module: Any, args: Any) -> None:
        passes.append(args[0].shape[:2].numel())
        if len(passes) > after and passes[-1] > 40:
            full()

    lm.model.model.layers[1].register_forward_pre_hook(fails)
    found = tree(lm, requests, 64)
    assert 1 <= len(warnings(caplog)) <= 2 and max(passes[after:]) > 40
    assert distance(expected, found) <= CLOSE and verdicts(expected) == verdicts(found)


def test_logits_may_be_what_does_not_fit(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Their logarithms take as much again as they do, after a pass that went well."""
    lm, requests = loaded(decoder("llama")), shared_requests()
    expected, real, reads = plain(lm, requests), logits.read, list[int]()

    def read(*args: Any) -> Any:
        reads.append(1)
        if len(reads) == 2:
            full()
        return real(*args)

    monkeypatch.setattr(likelihood, "read", read)
    found = tree(lm, requests, 64)
    assert len(warnings(caplog)) == 1
    assert distance(expected, found) <= CLOSE and verdicts(expected) == verdicts(found)


def limit_encoder(lm: Any, most: int) -> None:
    calls = itertools.count()

    def fails(module: Any, args: Any, kwargs: Any) -> None:
        assert next(calls) < 200, "it asks for the same again and again"
        if kwargs["input_ids"].numel() > most:
            full()

    lm.model.get_encoder().register_forward_pre_hook(fails, with_kwargs=True)


def test_encoder_decoders_take_fewer_contexts_at_a_time(caplog: pytest.LogCaptureFixture) -> None:
    lm, requests = loaded(encoder_decoder("T5"), max_length=SHORT), shared_requests()
    expected = plain(lm, requests)
    limit_encoder(lm, 2 * SHORT)
    found = tree(lm, requests, 512)
    assert distance(expected, found) <= CLOSE and verdicts(expected) == verdicts(found)
    assert 1 <= len(warnings(caplog)) <= 3 and all("half of the" in text for text in warnings(caplog))


def test_an_encoder_decoder_that_never_fits() -> None:
    lm = loaded(encoder_decoder("T5"), max_length=SHORT)
    limit_encoder(lm, 5)
    with pytest.raises(EngineError, match="too small"):
        tree(lm, shared_requests(), 512)


def limit_reads(monkeypatch: pytest.MonkeyPatch, fits: Callable[[Reader, int], bool]) -> list[int]:
    """Makes passes that do not fit fail, once the layers have written to the cache; returns the sizes of the others."""
    sizes, real = list[int](), Reader.__call__

    def call(self: Reader, segments: Sequence[Segment], asked: Sequence[int]) -> list[int]:
        found, size = real(self, segments, asked), sum(len(segment.tokens) for segment in segments)
        if not fits(self, size):
            full()
        sizes.append(size)
        return found

    monkeypatch.setattr(Reader, "__call__", call)
    return sizes


def test_generation_takes_fewer_answers_at_a_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model = decoder("gemma2")
    expected = generated(loaded(model, len(PROMPTS)), PROMPTS, "plain")
    until = {"until": stops(loaded(model), expected)}
    stopped = generated(loaded(model), PROMPTS, "plain", until)
    limit_reads(monkeypatch, lambda reader, size: reader.layout.slots <= 3)
    assert generated(loaded(model, 8), PROMPTS, "tree") == expected
    assert "the device's memory is full; going on with 2 answers at a time" in warnings(caplog)
    assert generated(loaded(model, 8), PROMPTS, "tree", until) == stopped


def test_a_prompt_that_does_not_fit_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder("gemma2")
    expected = generated(loaded(model, len(PROMPTS)), PROMPTS, "plain")
    sizes = limit_reads(monkeypatch, lambda reader, size: size <= 20)
    assert generated(loaded(model, 8), PROMPTS, "tree", pack=64) == expected and max(sizes) == 16


def test_generation_that_never_fits_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    limit_reads(monkeypatch, lambda reader, size: size <= 2)
    with pytest.raises(UserError, match="too small"):
        generated(loaded(decoder("llama"), 8), PROMPTS, "tree")


def test_generation_that_breaks_off_in_the_middle_keeps_what_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    model, failed = decoder("llama"), list[int]()
    free = generated(loaded(model, len(PROMPTS)), PROMPTS, "plain")
    until = {"until": stops(loaded(model), free)}
    expected = generated(loaded(model), PROMPTS, "plain", until)
    lm, ended = loaded(model, 8), list[Any]()
    lm.cache_hook = SimpleNamespace(add_partial=lambda method, request, answer: ended.append((request, answer)))

    def fits(reader: Reader, size: int) -> bool:
        if len(ended) < 3 or failed:
            return True
        failed.append(size)
        return False

    limit_reads(monkeypatch, fits)
    assert generated(lm, PROMPTS, "tree", until) == expected and failed
    assert len(ended) == len(PROMPTS), "each is stored once"
