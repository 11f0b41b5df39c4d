"""Encoder-decoders: the harness' own log-likelihoods, and every context encoded once."""

import random
from typing import Any

import pytest
import torch
from tests.models.engine.asked import distance, named, plain, shared_requests, tokens, tree, verdicts
from tests.models.shapes import ENCODER_DECODERS, encoder_decoder, loaded

SHORT = 64
CLOSE = 1e-4


def greedy(model: Any, context: list[int], n: int) -> list[int]:
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
    return requests + named([(context, greedy(model, context, n)) for context in contexts for n in (1, 3)])


@pytest.mark.parametrize("kind", ENCODER_DECODERS)
def test_answers_are_the_harness_own(kind: str) -> None:
    model = encoder_decoder(kind)
    lm, requests = loaded(model, max_length=SHORT), requests_of(model)
    expected = plain(lm, requests)
    assert sum(is_greedy for is_greedy, _ in verdicts(expected)) >= 8
    lm.choose_engine("auto")
    assert lm.engine == "tree"
    for pack in (None, 7, 200) if kind == "T5" else (64,):
        found = tree(lm, requests, pack, seed=pack)
        assert distance(expected, found) <= CLOSE, pack
        assert verdicts(expected) == verdicts(found), pack


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


def test_logits_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, rows = loaded(encoder_decoder("T5")), list[int]()
    monkeypatch.setattr("afrieval.models.engine.packs.Packs.scored", lambda self, lm: 6)
    requests = shared_requests()
    expected = plain(lm, requests)
    lm.model.lm_head.register_forward_pre_hook(lambda module, args: rows.append(args[0].shape[:2].numel()))
    assert distance(expected, tree(lm, requests)) <= CLOSE
    assert max(rows) <= 6
