"""Each token of a text has the likelihood that a plain forward pass gives it, whatever way it is computed."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.models.shapes import asked, decoder, encoder_decoder, loaded, merging, warnings

from afrieval._util.errors import UserError
from afrieval.models.backends.text_requests import encoded_pair
from afrieval.models.engine.packs import Packs
from afrieval.scoring.responses import Scored
from afrieval.scoring.tokens import Tokens, tokens_of

CONTEXT = 48  # the model's, shorter than the longest texts
END, BEGIN = 1, 0  # of the byte tokenizer
ALL = {"tokens": True, "vocabulary": True}
PAIRS = [
    ("Kí ni olú ìlú Nàìjíríà?", " Abuja"), ("Kí ni olú ìlú Nàìjíríà?", " Èkó"), ("ጥያቄ\n\n", "መልስ"), ("", "Abuja"),
    ("Q: " * 40, "an answer"), ("x", "y"),
]  # fmt: skip
WHOLE = ["Kí ni olú ìlú Nàìjíríà? " * n for n in (1, 2, 5)] + ["x"]


def tokens_in(answer: Any) -> Tokens:
    found = tokens_of(answer.details)
    assert found is not None
    return found


def with_engine(engine: str, model: Any, **changed: Any) -> Any:
    lm = loaded(model, **{"batch_size": 3, "max_length": CONTEXT} | changed)
    lm.engine, lm.packs = engine, Packs(16)
    return lm


def ids(lm: Any, text: str) -> list[int]:
    found: list[int] = lm.tokenizer(text, add_special_tokens=False)["input_ids"]
    return found


def by_hand(model: Any, context: list[int], answer: list[int]) -> list[tuple[float, bool, float, float]]:
    """Returns log-probability, is greedy, mean and variance of each token, from one forward pass without a cache."""
    text = (context + answer)[-(CONTEXT + 1) :]
    with torch.no_grad():
        p = model(torch.tensor([text[:-1]])).logits[0, -len(answer) :].double().softmax(-1)
    logs, best = p.log(), p.argmax(-1)
    mean = (p * logs).sum(-1)
    variance = (p * logs**2).sum(-1) - mean**2
    return [(float(logs[i, t]), bool(best[i] == t), float(mean[i]), float(variance[i])) for i, t in enumerate(answer)]


def check(answer: Any, expected: list[tuple[float, bool, float, float]], ends: int = 0) -> None:
    of, (logprobs, greedy, means, variances) = tokens_in(answer), zip(*expected, strict=True)
    assert of.means is not None and of.variances is not None and of.ends == ends
    assert of.logprobs == pytest.approx(logprobs, abs=1e-4) and tuple(of.greedy) == greedy
    assert of.means == pytest.approx(means, abs=1e-4) and of.variances == pytest.approx(variances, abs=1e-4)
    assert answer == (pytest.approx(sum(logprobs), abs=1e-3), all(greedy), len(expected))


@pytest.mark.parametrize("engine", ["plain", "tree"])
@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_answers_after_a_prompt(name: str, engine: str) -> None:
    model = decoder(name)
    lm = with_engine(engine, model)
    answers = lm.loglikelihood(asked(*((*pair, ALL | {"end": True}) for pair in PAIRS)))
    for (context, answer), found in zip(PAIRS, answers, strict=True):
        check(found, by_hand(model, [BEGIN, *ids(lm, context)], [*ids(lm, answer), END]), ends=1)
    assert lm.too_long == 1


@pytest.mark.parametrize("engine", ["plain", "tree"])
@pytest.mark.parametrize(("first", "end"), [(None, True), (7, True), (500, False)])
def test_whole_texts(engine: str, first: int | None, end: bool) -> None:
    model = decoder("llama")
    lm = with_engine(engine, model)
    options = ALL | ({"first": first} if first else {}) | ({"end": True} if end else {})
    for text, found in zip(WHOLE, lm.loglikelihood_rolling(asked(*((t, options) for t in WHOLE))), strict=True):
        whole = ids(lm, text)
        ends = int(end and len(whole) <= (first or len(whole)))
        tokens = whole[:first] + [END] * ends
        # each window scores as many tokens as fit, after as many as there is room for
        expected = list[Any]()
        for begin in range(0, len(tokens), CONTEXT):
            part = tokens[begin : begin + CONTEXT]
            before = [BEGIN, *tokens[:begin]][-(CONTEXT + 1 - len(part)) :]
            expected += by_hand(model, before, part)
        check(found, expected, ends)
        cut = first is not None and len(whole) > first
        assert tokens_in(found).characters == (len(lm.tokenizer.decode(whole[:first])) if cut else None)


def test_requests_with_and_without_options_in_one_call() -> None:
    lm = with_engine("tree", decoder("llama"))
    plain = lm.loglikelihood(asked(*PAIRS))
    both = lm.loglikelihood(asked(*((*p, {"tokens": True}) if i % 2 else p for i, p in enumerate(PAIRS))))
    assert [a[0] for a in both] == pytest.approx([a[0] for a in plain], abs=1e-4)
    assert [isinstance(a, Scored) for a in both] == [bool(i % 2) for i in range(len(PAIRS))]
    assert set(both[1].details["tokens"]) == {"logprobs", "greedy", "ends"}
    whole = lm.loglikelihood_rolling(asked((WHOLE[0],), (WHOLE[0], {"tokens": True})))
    assert isinstance(whole[0], float) and whole[1][2] == len(ids(lm, WHOLE[0]))


def test_an_encoder_decoder() -> None:
    model = encoder_decoder("T5")
    lm = loaded(model, batch_size=4)
    lm.engine = "tree"
    pairs = [*PAIRS[:2], PAIRS[-1]]
    sums = lm.loglikelihood(asked(*pairs))
    for found, (value, greedy, n) in zip(lm.loglikelihood(asked(*((*p, ALL) for p in pairs))), sums, strict=True):
        of = tokens_in(found)
        assert (of.logprobs.sum(), bool(of.greedy.all()), len(of.logprobs)) == (pytest.approx(value), greedy, n)


@pytest.mark.parametrize(("name", "first"), [("llama", None), ("gpt2", 5), ("llama", 60)])
def test_the_norm_of_the_gradient(name: str, first: int | None) -> None:
    model = decoder(name)
    lm = with_engine("tree", model, max_length=CONTEXT)
    for p in list(model.parameters())[::2]:
        p.requires_grad_(False)
    first_weight = next(model.parameters())
    first_weight.grad = torch.ones_like(first_weight)  # as in the middle of a step of training
    before = [(p.requires_grad, p.grad) for p in model.parameters()]
    options = {"tokens": True, "gradient": True, "end": True} | ({"first": first} if first else {})
    (found,) = lm.loglikelihood_rolling(asked((WHOLE[1], options)))
    after = [(p.requires_grad, p.grad) for p in model.parameters()]
    assert all(a[0] is b[0] and a[1] is b[1] for a, b in zip(after, before, strict=True)) and not model.training
    assert bool((first_weight.grad == 1).all())
    copied = decoder(name)
    whole = ids(lm, WHOLE[1])
    tokens = whole[:first]
    losses = []
    for begin in range(0, len(tokens), CONTEXT):
        part = tokens[begin : begin + CONTEXT]
        room = CONTEXT + 1 - len(part) - (first is None and begin > 0)  # which the end takes
        text = [*[BEGIN, *tokens[:begin]][-room:], *part]
        logprobs = copied(torch.tensor([text[:-1]])).logits[0].log_softmax(-1)[-len(part) :]
        losses.append(-logprobs[range(len(part)), part].sum())
    (sum(losses) / len(tokens)).backward()
    norms = [float(p.grad.norm()) for p in copied.parameters() if p.grad is not None]
    assert tokens_in(found).gradient_norm == pytest.approx(sum(norms) / len(norms), rel=1e-4)


def test_memory_that_is_too_small_for_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any, **kwargs: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(torch.autograd, "grad", full)
    with pytest.raises(UserError, match="too small for the gradient of a text of 1 tokens"):
        with_engine("tree", decoder("llama")).loglikelihood(asked(("x", "y", {"tokens": True, "gradient": True})))


def test_a_tokenizer_without_an_end_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    lm = with_engine("tree", decoder("llama"))
    lm.tokenizer.eos_token = None
    for _ in range(2):
        for answer in lm.loglikelihood(asked(*((*p, {"tokens": True, "end": True}) for p in PAIRS))):
            assert answer.details["tokens"]["ends"] == 0
    assert warnings(caplog) == ["the tokenizer has no token that ends a text: the ends of texts are not scored"]


def test_an_end_that_is_there_is_not_appended_again() -> None:
    lm = with_engine("tree", decoder("llama"))
    end = lm.tokenizer.eos_token
    once, twice = (
        tokens_in(a)
        for a in lm.loglikelihood(asked(*(("x", t, {"tokens": True, "end": True}) for t in ("y", f"y{end}"))))
    )
    assert len(once.logprobs) == len(twice.logprobs) == 2 and once.ends == twice.ends == 1


@pytest.mark.parametrize("context", ["Q: who?\nA:", "Q: who?\nA: ", "Q: who?\nA", "Q", " "])
@pytest.mark.parametrize("answer", ["a", "A", ":", " A: Q", "who?"])
def test_a_target_keeps_its_tokens_where_the_tokenizer_merges_it_into_the_prompt(context: str, answer: str) -> None:
    lm = SimpleNamespace(tokenizer=merging(), backend="causal", prefix_token_id=0)
    lm.tok_encode = lambda text, **special: lm.tokenizer.encode(text, **special)
    before, target = encoded_pair(lm, context, answer)
    assert before and target
    moved = context[len(context.rstrip()) :]
    assert lm.tokenizer.decode(target) in (answer, moved + answer)
    assert lm.tokenizer.decode(before, skip_special_tokens=True) + lm.tokenizer.decode(target) == context + answer
