"""How the engine behaves as a model of lm_eval where something is unusual: settings, requests and processes."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from lm_eval.models.huggingface import HFLM
from tests.models.shapes import asked, decoder

from afrieval.models.demo import byte_tokenizer
from afrieval.models.engine import tree_lm as of_engine
from afrieval.models.engine.forward import Forward
from afrieval.models.engine.requests import EngineError
from afrieval.models.engine.tree_lm import TreeLM


def tree_lm(**options: Any) -> TreeLM:
    given = {"tokenizer": byte_tokenizer(), "max_length": 100} | options
    return TreeLM(pretrained=decoder("llama"), **given)


def test_an_engine_that_is_not_known() -> None:
    with pytest.raises(EngineError, match="engine='fast' is not known; give one of auto, tree, plain"):
        tree_lm(engine="fast")


@pytest.mark.parametrize("kind", ["FSDP", "DEEPSPEED"])
def test_a_model_that_processes_compute_together_is_left_to_lm_eval(kind: str) -> None:
    lm = tree_lm(engine="plain")
    lm.accelerator = SimpleNamespace(distributed_type=SimpleNamespace(name=kind), unwrap_model=lambda model: model)
    with pytest.raises(EngineError, match="is spread over processes that compute each pass together"):
        lm.choose_engine("tree")
    lm.choose_engine("auto")
    assert lm.engine == "plain"
    del lm.accelerator
    assert lm._obstacle() is None
    lm._is_split = True  # as with `tp_plan`
    assert "spread over processes" in str(lm._obstacle())


@pytest.mark.parametrize(("others", "engine"), [([1, 1], "tree"), ([1, 0], "plain")])
def test_processes_use_the_engine_together_or_not_at_all(
    others: list[int], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = tree_lm(engine="plain")
    lm._world_size = len(others)
    monkeypatch.setattr(lm, "all_gather", lambda own: torch.tensor(others))
    lm.choose_engine("auto")
    assert lm.engine == engine


def test_requests_that_lm_eval_refuses_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by lm_eval; nothing else is computed, nor asked of other processes."""
    lm = tree_lm(engine="tree", batch_size="auto")
    fine = (("a", "b"), [5, 6, 7], [8])
    monkeypatch.setattr(Forward, "__call__", lambda *args: pytest.fail("a pass is computed"))
    monkeypatch.setattr(lm, "_detect_batch_size", lambda *args: pytest.fail("a batch size is looked for"))
    for wrong in ((("", "b"), [], [8]), (("a", ""), [5], []), (("a", "b" * 101), [5], [8] * 101)):
        with pytest.raises(AssertionError):
            lm._loglikelihood_tokens([fine, wrong, fine])


def test_lm_evals_own_way_looks_for_a_batch_size_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_engine, "PORTION", 1)
    calls = list[int]()

    def answer(lm: HFLM, requests: list[Any], disable_tqdm: bool) -> list[Any]:
        calls.append(len(requests))
        return [None] * len(requests)

    monkeypatch.setattr(HFLM, "loglikelihood", answer)
    for size, expected in (("auto", [2]), (3, [1, 1])):
        calls.clear()
        tree_lm(engine="plain", batch_size=size).loglikelihood(asked(("a", "b"), ("c", "d")))
        assert calls == expected


def test_a_larger_batch_size_lets_more_answers_be_generated() -> None:
    assert [tree_lm(engine="plain", batch_size=size).max_batch_size for size in (1, 200, "auto")] == [64, 200, 64]


def test_portions_of_requests_share_their_beginnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are tokenized some at a time; what they share is computed once."""
    monkeypatch.setattr(of_engine, "PORTION", 1)
    lm, texts = tree_lm(engine="tree"), [("Mo fẹ́ràn ìwé " * 3, answer) for answer in ("dáadáa", "gan")]
    computed = list[int]()
    lm.model.get_input_embeddings().register_forward_pre_hook(lambda layer, args: computed.append(args[0].numel()))
    lm.loglikelihood(asked(*texts))
    sequences = [lm.tok_encode(context + answer)[:-1] for context, answer in texts]
    assert sum(computed) == len({tuple(tokens[:i]) for tokens in sequences for i in range(1, len(tokens) + 1)})
