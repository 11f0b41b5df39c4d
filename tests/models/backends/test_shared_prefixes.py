"""vLLM and SGLang are asked so that they reuse their caches; the answers are those of lm_eval's classes."""

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lm_eval.api.instance import Instance
from tests.models.backends.programs import BLOCK, LONGEST, VOCABULARY, with_sglang, with_vllm, written
from tests.models.tiny import tiny_llama

from afrieval._util.errors import UserError
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backends.vllm import backend
from afrieval.models.registry import load_model

PROGRAMS = ("vllm", "sglang")
Requests = list[tuple[Any, list[int], list[int]]]


class Both:
    """A program as afrieval asks it, and another copy as lm_eval does.

    Attributes:
        ours: afrieval's model.
        harness: lm_eval's, whose likelihoods are the right ones.
    """

    def __init__(self, program: str, folder: Path, monkeypatch: pytest.MonkeyPatch, batch_size: Any = "auto"):
        folder = tiny_llama(folder)
        if program == "vllm":
            options = {"pretrained": str(folder), "max_model_len": LONGEST, "batch_size": batch_size}
            self.harness = with_vllm(monkeypatch)(**options)
            self.ours = backend()(**options)
        else:
            # a copy that afrieval does not cut short, so that both lose the same tokens
            self.harness = with_sglang(monkeypatch)(str(folder), batch_size=batch_size, max_model_len=LONGEST - 1)
            self.ours = load_model(ModelConfig(str(folder), "sglang"), EvalConfig(batch_size=batch_size))

    def check(self, requests: Requests) -> None:
        """Asks both, and compares their answers."""
        expected = self.harness._loglikelihood_tokens(requests, disable_tqdm=True)
        answers = self.ours._loglikelihood_tokens(requests, disable_tqdm=True)
        assert [greedy for _, greedy in answers] == [greedy for _, greedy in expected]
        assert [likelihood for likelihood, _ in answers] == pytest.approx([e for e, _ in expected], abs=1e-9)

    @property
    def computed(self) -> tuple[int, int]:
        """The tokens that each has computed."""
        return self.ours.model.computed, self.harness.model.computed


@pytest.fixture(params=PROGRAMS)
def both(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Both:
    return Both(request.param, tmp_path / "model", monkeypatch)


def text(length: int, seed: int = 0) -> list[int]:
    return random.Random(seed).choices(range(3, VOCABULARY), k=length)


def numbered(pairs: list[tuple[list[int], list[int]]]) -> Requests:
    return [((f"context {i}", f"answer {i}"), *pair) for i, pair in enumerate(pairs)]


def texts_of_options(context: list[int]) -> list[tuple[list[int], list[int]]]:
    """Returns answers that share tokens with each other, of which one is what the model writes."""
    best = written(context, 6)
    answers = [best, best[:3], [*best[:3], 70], [*best[:1], 71, 72], [80, 81, 82], [80, 81, 83, 84], [90]]
    return [(context, answer) for answer in answers]


@pytest.mark.parametrize("length", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK - 2, 3 * BLOCK, LONGEST - 7])
def test_letters_and_texts_of_options(both: Both, length: int) -> None:
    context = text(length)
    both.check(numbered([(context, [letter]) for letter in (65, 66, 67, 68, *written(context, 1))]))
    both.check(numbered(texts_of_options(context)))


def test_contexts_that_begin_with_one_another(both: Both) -> None:
    whole = text(80)
    both.check(numbered([pair for n in (80, 20, 79, 64, 33) for pair in texts_of_options(whole[:n])]))


def test_contexts_that_are_too_long_lose_their_beginning(both: Both) -> None:
    both.check(numbered(texts_of_options(text(LONGEST + 40)) + texts_of_options(text(LONGEST - 2))))
    assert both.ours.too_long == 7 + 6, "the last answer of one token fits"


def test_equal_requests_and_those_that_were_asked_before(both: Both) -> None:
    """What is cached hides log-probabilities in vLLM."""
    long = [(text(40), text(50, seed=1)), (text(40), [*text(45, seed=1), 9])]
    requests = numbered(texts_of_options(text(40)) * 2 + long)
    both.check(requests)
    both.check(requests[::-1])


def test_windows_of_whole_texts(both: Both) -> None:
    asked = [Instance("loglikelihood_rolling", {}, (word * n,), 0) for n in (1, 20, 70) for word in ("Kí ni ", "Q: a ")]
    expected = both.harness.loglikelihood_rolling(asked, disable_tqdm=True)
    assert both.ours.loglikelihood_rolling(asked, disable_tqdm=True) == pytest.approx(expected)


def test_texts_without_a_context(both: Both) -> None:
    asked = [
        Instance("loglikelihood", {}, pair, 0) for pair in (("", "A"), ("", "B and C"), ("Q:", " A"), ("Q:", " B"))
    ]
    expected = both.harness.loglikelihood(asked, disable_tqdm=True)
    answers = both.ours.loglikelihood(asked, disable_tqdm=True)
    assert [a[0] for a in answers] == pytest.approx([e[0] for e in expected])
    assert [a[1] for a in answers] == [e[1] for e in expected]


@pytest.mark.parametrize("seed", range(12))
def test_any_requests(both: Both, seed: int) -> None:
    drawn = random.Random(seed)
    trunk, pairs = text(100, seed), []
    for _ in range(20):
        context = trunk[: drawn.randint(1, 100)] + text(drawn.choice([0, 3, 18]), drawn.randint(0, 3))
        branch = written(context, drawn.randint(0, 5)) + text(drawn.choice([0, 1, 2, 20]), drawn.randint(0, 2))
        pairs.append((context, branch or [65]))
    both.check(numbered(pairs))


def test_contexts_are_computed_once(both: Both) -> None:
    shared, questions = text(96), [text(20, seed) for seed in range(1, 9)]
    letters = [(shared + question, [letter]) for question in questions for letter in (65, 66, 67, 68)]
    both.check(numbered(letters))
    once = 96 + 8 * 20
    ours, slowly = both.computed
    assert slowly == 32 * 117 and ours <= once + 8 * (4 * 2 if both.ours.model.calls == [32] else BLOCK)
    options = [(shared + question, text(7, seed)) for question in questions for seed in (30, 31, 32, 33)]
    both.check(numbered(options))
    more, again = both.computed[0] - ours, both.computed[1] - slowly
    assert again == 32 * 123 and more <= 32 * (BLOCK + 7) + 8 * BLOCK


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("size", [3, 100])
def test_each_answer_is_stored_with_its_batch(
    program: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = Both(program, tmp_path / "model", monkeypatch, size)
    stored: list[tuple[Any, Any]] = []
    hook = SimpleNamespace(add_partial=lambda method, key, answer: stored.append((key, answer)))
    both.ours.set_cache_hook(hook)
    requests = numbered(texts_of_options(text(40)))
    answers = both.ours._loglikelihood_tokens([*requests, (None, [1], [2, 3])], disable_tqdm=True)
    assert dict(stored) == {key: answer for (key, *_), answer in zip(requests, answers, strict=False)}
    assert len(stored) == len(requests) and max(both.ours.model.calls) <= size
    if program == "sglang":
        assert both.ours.model.calls == ([3, 3, 2] if size == 3 else [8])
    both.check(requests)


def test_an_answer_needs_tokens_and_room(both: Both) -> None:
    with pytest.raises(UserError, match="returns no token for the answer"):
        both.ours._loglikelihood_tokens(numbered([([1], [])]))
    most = both.ours.longest_scored - 1
    both.check(numbered([([1], text(most))]))
    with pytest.raises(UserError, match=f"an answer has {most + 1} tokens, but the context only {most}"):
        both.ours._loglikelihood_tokens(numbered([([1], text(most + 1))]))


@pytest.fixture
def vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Both:
    return Both("vllm", tmp_path / "model", monkeypatch)


def test_many_first_tokens_are_asked_for_in_parts(vllm: Both) -> None:
    vllm.check(numbered([(text(20), [first]) for first in range(VOCABULARY)]))
    assert vllm.ours.model.calls == [3]


def test_many_hidden_tokens_are_not_asked_for_one_by_one(vllm: Both) -> None:
    requests = numbered([(text(40), text(50, seed=1))])
    vllm.check(requests)
    before = vllm.ours.model.computed
    vllm.check(requests)
    assert before == 40 + 58 and vllm.ours.model.computed - before == 8 + 10 + 90


def test_prompts_are_asked_for_again_while_they_are_cached(vllm: Both) -> None:
    requests = numbered([pair for seed in range(6) for pair in texts_of_options(text(60, seed))])
    random.Random(0).shuffle(requests)
    vllm.ours.model.llm_engine.vllm_config.cache_config.num_gpu_blocks = 16  # half of them hold a context
    vllm.check(requests)
    assert vllm.ours.model.calls == [1, 6] * 6
    vllm.ours.model.llm_engine.vllm_config.cache_config.num_gpu_blocks = None
    vllm.check(requests)


@pytest.mark.parametrize("missing", ["runner", "cache", "copies", "parameters"])
def test_other_vllms_are_asked_as_the_harness_does(vllm: Both, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config = vllm.ours.model.llm_engine.vllm_config
    if missing == "runner":
        config.use_v2_model_runner = False
    elif missing == "cache":
        config.cache_config.enable_prefix_caching = False
    elif missing == "copies":
        vllm.ours.data_parallel_size = 2
    else:
        monkeypatch.setattr("vllm.SamplingParams", object)
    assert not vllm.ours.shares
    if missing != "copies":  # which Ray starts
        vllm.check(numbered(texts_of_options(text(40))))
        assert vllm.computed[0] == vllm.computed[1]


def test_sglang_is_given_all_requests_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = Both("sglang", tmp_path / "model", monkeypatch)
    assert (both.ours.batch_size, both.ours.max_length, both.ours.longest_scored) == ("auto", LONGEST - 1, LONGEST - 1)
    both.check(numbered(texts_of_options(text(40))))
    assert both.ours.model.calls == [7]
