"""Tokens are counted in the forward passes, and as the harness would compute them."""

from types import SimpleNamespace
from typing import Any

import pytest
from tests.models.engine.asked import Request, shared_requests
from tests.models.shapes import decoder, encoder_decoder, loaded

from afrieval.models.answer_file import AnswerFile
from afrieval.models.response_cache import CachedLM
from afrieval.models.work import Work, plain_tokens, total

HEAD = "Read the question, and answer it. Ìbéèrè: "  # more than half of each prompt
PROMPTS = [HEAD + question for question in ("what is 2 + 2?", "3?", "how old is Ada?", "Musa?")]
SHARED = [0, *HEAD.encode()]  # by the byte tokenizer
MOST = 5


def likelihoods(lm: Any, requests: list[Request]) -> dict[str, int]:
    with lm.work.answering("loglikelihood", len(requests), lm.model):
        lm._loglikelihood_tokens(requests, disable_tqdm=True)
    return lm.work.stored()["likelihoods"]  # type: ignore[no-any-return]


def answers(lm: Any, engine: str) -> dict[str, int]:
    asked = [SimpleNamespace(args=(prompt, {"max_gen_toks": MOST, "until": []})) for prompt in PROMPTS]
    lm.engine = engine
    with lm.work.answering("generate_until", len(asked), lm.model):
        lm.generate_until(asked, disable_tqdm=True)
    return lm.work.stored()["answers"]  # type: ignore[no-any-return]


def test_the_engine_computes_each_beginning_once() -> None:
    lm, requests = loaded(decoder("llama")), shared_requests()
    lm.engine = "tree"
    counted = likelihoods(lm, requests)
    sequences = {(*context, *answer[:-1]) for _, context, answer in requests}
    beginnings = {sequence[:n] for sequence in sequences for n in range(1, len(sequence) + 1)}
    assert counted["computed"] == len(beginnings)
    assert counted["plain"] == sum(map(len, sequences)) > 2 * counted["computed"]
    assert counted["requests"] == len(requests) and counted["seconds"] > 0


def test_the_harness_computes_what_is_counted_as_plain() -> None:
    lm = loaded(decoder("llama"))
    counted = likelihoods(lm, shared_requests())
    assert counted["plain"] == counted["computed"], "one at a time, nothing is padded"
    padded = likelihoods(loaded(decoder("llama"), 4), shared_requests())
    assert padded["plain"] == counted["plain"] < padded["computed"]


@pytest.mark.parametrize("engine", ["plain", "tree"])
def test_an_encoder_decoder_counts_both_sides(engine: str) -> None:
    lm, requests = loaded(encoder_decoder("T5")), shared_requests()
    lm.engine = engine
    counted = likelihoods(lm, requests)
    assert counted["plain"] == sum(len(context) + len(answer) for _, context, answer in requests)
    if engine == "plain":
        assert counted["computed"] == counted["plain"]
    else:
        assert sum({len(context) for _, context, _ in requests}) < counted["computed"] < counted["plain"]


def test_what_does_not_fit_is_not_counted() -> None:
    requests: list[Request] = [(None, list(range(10)), [1, 2]), (None, list(range(10)), [1, 3]), (None, [5], [4])]
    assert plain_tokens(requests, 100, causal=True) == 11 + 1
    assert plain_tokens(requests, 8, causal=True) == 8 + 1
    assert plain_tokens(requests, 8, causal=False) == 2 * (8 + 2) + 1 + 1


@pytest.mark.parametrize(("engine", "batch_size"), [("plain", 1), ("plain", 4), ("tree", 1), ("tree", 4)])
def test_generated_answers_count_apart(engine: str, batch_size: int) -> None:
    lm = loaded(decoder("llama"), batch_size)
    prompts = sorted((lm.tok_encode(prompt) for prompt in PROMPTS), key=len, reverse=True)
    counted = answers(lm, engine)
    assert counted["plain"] == sum(map(len, prompts)) and counted["most"] == MOST * len(PROMPTS)
    own = [len(prompt) - len(SHARED) for prompt in prompts]
    expected = {
        ("plain", 1): sum(map(len, prompts)),
        ("plain", 4): 4 * len(prompts[0]),  # padded
        ("tree", 1): len(SHARED) + sum(own),
        ("tree", 4): len(SHARED) + sum(own),
    }
    assert counted["computed"] - counted["written"] == expected[engine, batch_size]
    assert 0 < counted["written"] <= (MOST - 1) * len(PROMPTS)


def test_answers_of_an_encoder_decoder() -> None:
    counted = answers(loaded(encoder_decoder("T5")), "plain")
    assert counted["computed"] - counted["written"] == counted["plain"]
    assert 0 < counted["written"] <= MOST * len(PROMPTS)


def test_nothing_else_is_counted_and_no_hook_stays() -> None:
    lm = loaded(decoder("llama"))
    lm.choose_engine("tree")
    assert lm.work.stored() == {} and not lm.model._forward_hooks
    likelihoods(lm, shared_requests())
    assert not lm.model._forward_hooks
    with lm.work.answering("loglikelihood", 1, lm.model), lm.work.paused():
        lm.plain([(None, [1, 2], [3])], 1)
    assert lm.work.stored()["likelihoods"]["requests"] == len(shared_requests()) + 1
    assert lm.work.current is None


def test_an_interrupted_request_counts() -> None:
    work = Work()
    with pytest.raises(KeyboardInterrupt), work.answering("generate_until", 3, None):
        work.add(plain=7)
        raise KeyboardInterrupt
    assert {k: v for k, v in work.stored()["answers"].items() if k != "seconds"} == {"requests": 3, "plain": 7}


def test_stored_answers_take_nothing() -> None:
    lm = loaded(decoder("llama"))
    cached = CachedLM(lm, AnswerFile(None))
    asked = [SimpleNamespace(args=("Habari ya", " leo")), SimpleNamespace(args=("Habari ya", " jana"))]
    cached.loglikelihood(asked)
    once = cached.work_so_far()
    cached.loglikelihood(asked)
    assert cached.work_so_far() == once and once["likelihoods"]["requests"] == 2


def test_processes_work_at_the_same_time() -> None:
    one = {"likelihoods": {"requests": 3, "plain": 30, "computed": 20, "seconds": 2.5}}
    two = {
        "likelihoods": {"requests": 2, "plain": 10, "computed": 9, "seconds": 1.5},
        "answers": {"requests": 1, "seconds": 1.0},
    }
    assert total([one, two]) == {
        "likelihoods": {"requests": 5, "plain": 40, "computed": 29, "seconds": 2.5},
        "answers": {"requests": 1, "seconds": 1.0},
    }
