"""Metrics of tokens against formulas computed in other ways: PyTorch, SciPy, counting, zlib itself."""

import json
import math
import os
import zlib as compression
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import gmean

from afrieval._util.errors import UserError
from afrieval.scoring.base import Likelihood, Question, Response
from afrieval.scoring.metrics import metric
from afrieval.scoring.registry import Spec
from afrieval.scoring.tokens import Tokens

ATTACKS: list[Spec] = ["loss", "zlib", "min_k", "min_k_plus_plus"]
OF_TEXT: list[Spec] = [*ATTACKS, "exact_memorisation", "extraction_strength"]
WITH_END: list[Spec] = ["probability", "probability_among", "truth_ratio"]
LOGPROBS = st.lists(st.floats(-30, -0.01), min_size=1, max_size=12)
TEXTS = [
    ["answer", "paraphrased", "perturbed", "perturbed"],
    ["Ada bakes.", "A baker: Ada.", "Ada cooks.", "Ada sews."],
]


def tokens(logprobs: list[float], greedy: list[int] | None = None, ends: int = 0, **more: Any) -> Tokens:
    n = len(logprobs)
    return Tokens(np.array(logprobs), np.array(greedy or [0] * n, dtype=bool), ends=ends, **more)


def measure(spec: Spec, *given: Tokens, roles: list[str] | None = None, texts: list[str] | None = None) -> list[float]:
    names, written = roles or TEXTS[0][: len(given)], texts or TEXTS[1][: len(given)]
    likelihoods = [Likelihood(float(t.logprobs.sum()), False, len(t.logprobs), t) for t in given]
    found = metric(spec).measure(Response(None, likelihoods=likelihoods), Question(0, written, roles=names))
    assert found is not None
    return found


def score(spec: Spec, measures: list[list[float]]) -> float:
    return float(metric(spec).score(np.array(measures), np.ones((1, len(measures))))[0])


class Model:
    """The distribution of a random model over a small vocabulary at each token of a text."""

    def __init__(self, seed: int, n: int, size: int = 50):
        generator = torch.Generator().manual_seed(seed)
        self.logits = torch.randn(n, size, generator=generator, dtype=torch.float64) * 3
        self.targets = torch.randint(0, size, (n,), generator=generator)

    def tokens(self) -> Tokens:
        logs = self.logits.log_softmax(-1)
        mu = (logs.exp() * logs).sum(-1)
        variance = (logs.exp() * logs**2).sum(-1) - mu**2
        own = logs.gather(-1, self.targets[:, None])[:, 0]
        greedy = self.logits.argmax(-1) == self.targets
        return Tokens(own.numpy(), greedy.numpy(), mu.numpy(), variance.numpy())


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 37])
def test_attacks_are_those_of_pytorch(n: int) -> None:
    model = Model(n, n)
    cross_entropy = torch.nn.functional.cross_entropy(model.logits, model.targets).item()
    assert measure("loss", model.tokens()) == pytest.approx([cross_entropy])
    assert measure("probability", model.tokens()) == pytest.approx([math.exp(-cross_entropy)])
    size = len(compression.compress(b"Ada bakes."))
    assert measure("zlib", model.tokens()) == pytest.approx([cross_entropy / size])
    distribution = torch.distributions.Categorical(logits=model.logits)
    logs, k = distribution.log_prob(model.targets), max(1, int(0.4 * n))
    assert measure("min_k", model.tokens()) == pytest.approx([-logs.topk(k, largest=False).values.mean().item()])
    expected = [
        (log - np.average(row, weights=np.exp(row))) / math.sqrt(np.cov(row, aweights=np.exp(row), ddof=0))
        for log, row in zip(logs.tolist(), distribution.logits.numpy(), strict=True)
    ]
    assert measure("min_k_plus_plus", model.tokens()) == pytest.approx([-np.mean(sorted(expected)[:k])])


@pytest.mark.parametrize(("n", "k", "lowest"), [(1, 0.4, 1), (2, 0.4, 1), (5, 0.4, 2), (9, 0.4, 3), (100, 0.29, 29)])
def test_min_k_takes_the_floor_but_at_least_one(n: int, k: float, lowest: int) -> None:
    values = [-float(i) for i in range(n)]
    assert measure({"name": "min_k", "k": k}, tokens(values)) == [np.mean([n - 1 - i for i in range(lowest)])]


def test_a_certain_token_has_a_finite_z() -> None:
    sure = tokens([0.0, 0.0], [1, 1], means=np.zeros(2), variances=np.zeros(2))
    unsure = tokens([-1.0], means=np.array([-0.5]), variances=np.array([0.0]))
    assert measure("min_k_plus_plus", sure) == [0.0]
    assert measure("min_k_plus_plus", unsure) == pytest.approx([0.5 / 1e-3])


@given(greedy=st.lists(st.integers(0, 1), min_size=1, max_size=12))
def test_extraction_strength_by_its_definition(greedy: list[int]) -> None:
    n = len(greedy)
    smallest = next(k for k in range(n + 1) if all(greedy[k:]))
    found = measure("extraction_strength", tokens([-1.0] * n, greedy))
    assert found == pytest.approx([1 - smallest / n])
    assert (found == [0.0]) == (greedy[-1] == 0)  # not 1/n if even the last token is wrong
    assert measure("exact_memorisation", tokens([-1.0] * n, greedy)) == pytest.approx([sum(greedy) / n])


@pytest.mark.parametrize("spec", OF_TEXT, ids=str)
@given(logprobs=LOGPROBS, end=st.floats(-30, -0.01), greedy=st.integers(0, 1))
def test_the_end_of_a_text_counts_in_no_attack(spec: Spec, logprobs: list[float], end: float, greedy: int) -> None:
    """Reference: end-of-text tokens were scored in attacks, exact memorisation and extraction strength."""
    n = len(logprobs)
    with_end = tokens(
        [*logprobs, end], [1] * n + [greedy], 1, means=np.array([-1.0] * n + [end]), variances=np.ones(n + 1)
    )
    without = tokens(logprobs, [1] * n, means=np.full(n, -1.0), variances=np.ones(n))
    assert measure(spec, with_end) == measure(spec, without)


@pytest.mark.parametrize("spec", OF_TEXT, ids=str)
def test_without_an_end_no_token_is_dropped(spec: Spec) -> None:
    """Reference: the last token was dropped, which is one of the text where nothing was appended."""
    more: dict[str, Any] = {"means": np.full(3, -1.0), "variances": np.ones(3)}
    likely = measure(spec, tokens([-2.0, -2.0, -0.1], [1, 1, 1], **more))
    unlikely = measure(
        {"name": str(spec), "k": 1.0} if "min" in str(spec) else spec, tokens([-2.0, -2.0, -9.0], **more)
    )
    assert likely != unlikely
    one: dict[str, Any] = {"means": np.full(1, -1.0), "variances": np.ones(1)}
    assert math.isfinite(measure(spec, tokens([-2.0], [1], **one))[0])  # a text of one token


def test_the_end_counts_in_probabilities() -> None:
    assert measure("probability", tokens([-1.0, -4.0], ends=1)) == pytest.approx([math.exp(-2.5)])


@pytest.mark.parametrize("spec", [*OF_TEXT, "probability"], ids=str)
def test_a_text_without_tokens_is_an_error(spec: Spec) -> None:
    with pytest.raises(UserError, match="gives no tokens for the text 'Ada bakes"):
        measure(spec, tokens([-1.0], ends=1))


@pytest.mark.parametrize("name", ["probability", "loss", "zlib", "min_k", "exact_memorisation", "extraction_strength"])
def test_several_texts_of_a_role_are_averaged_within_the_document(name: str) -> None:
    every = [tokens([-1.0, -2.0], [0, 1]), tokens([-5.0], [1])]
    roles, texts = ["perturbed", "perturbed"], ["one", "two"]
    spec = {"name": name, "of": "perturbed"}
    each = [measure(spec, one, roles=["perturbed"], texts=[text]) for one, text in zip(every, texts, strict=True)]
    assert measure(spec, *every, roles=roles, texts=texts) == pytest.approx(np.mean(each, axis=0).tolist())
    assert metric(spec).name == f"{name}_perturbed"


@given(every=st.lists(LOGPROBS, min_size=4, max_size=4))
def test_probability_among_is_a_softmax_of_losses(every: list[list[float]]) -> None:
    given = [tokens(of) for of in every]
    logs = [np.mean(of) for of in (every[0], *every[2:])]
    assert measure("probability_among", *given) == pytest.approx([softmax(logs)[0]])
    p, *wrong = (math.exp(log) for log in logs)
    if p > 1e-6:  # as published, where the 1e-10 of the authors' code does not matter
        assert measure("probability_among", *given)[0] == pytest.approx(p / (p + sum(wrong) + 1e-10), abs=1e-4)


def test_probability_among_has_no_bias_where_all_texts_are_unlikely() -> None:
    every = [tokens([-40.0]) for _ in range(4)]
    assert measure("probability_among", *every) == pytest.approx([1 / 3])


def test_several_correct_texts_count_as_their_mean() -> None:
    roles, texts = ["answer", "answer", "perturbed"], ["a", "b", "c"]
    given = [tokens([math.log(p)]) for p in (0.2, 0.4, 0.1)]
    assert measure("probability_among", *given, roles=roles, texts=texts) == pytest.approx([0.3 / (0.3 + 0.1)])


@given(every=st.lists(LOGPROBS, min_size=4, max_size=4))
def test_the_truth_ratio_is_one_of_geometric_means(every: list[list[float]]) -> None:
    p = [float(gmean(np.exp(of))) for of in every]  # of each text, per token
    (ratio,) = measure("truth_ratio", *map(tokens, every))
    assert ratio == pytest.approx(float(gmean(p[2:])) / p[1])
    expected = {"closer_to_one": min(ratio, 1 / ratio), "true_better": max(0, 1 - ratio), "share": 1 / (1 + ratio)}
    for way, value in expected.items():
        assert score({"name": "truth_ratio", "aggregate": way}, [[ratio]]) == pytest.approx(value)
    whole = float(gmean(p[2:])) + p[1]
    assert expected["share"] == pytest.approx(p[1] / whole)


@pytest.mark.parametrize(("correct", "wrong"), [(-1e6, -0.1), (-0.1, -1e6), (-1e6, -1e6)])
@pytest.mark.parametrize("aggregate", ["closer_to_one", "true_better", "share"])
def test_huge_losses_give_finite_ratios(aggregate: str, correct: float, wrong: float) -> None:
    given = [tokens([of]) for of in (correct, correct, wrong, wrong)]
    (ratio,) = measure("truth_ratio", *given)
    assert 0 <= ratio < 1e300 and (ratio == 1) == (correct == wrong)
    value = score({"name": "truth_ratio", "aggregate": aggregate}, [[ratio]])
    likely = {"closer_to_one": 0.0, "true_better": float(correct > wrong), "share": float(correct > wrong)}
    same = {"closer_to_one": 1.0, "true_better": 0.0, "share": 0.5}
    assert value == pytest.approx((same if correct == wrong else likely)[aggregate])


def test_the_truth_ratio_of_real_authors_compares_with_the_answer_itself() -> None:
    given = [tokens([-1.0]), tokens([-9.0]), tokens([-2.0]), tokens([-2.0])]
    assert measure({"name": "truth_ratio", "correct": "answer"}, *given) == pytest.approx([math.exp(-1)])


def test_the_norm_of_the_gradient_is_that_of_the_model() -> None:
    assert measure("gradient_norm", tokens([-1.0], gradient_norm=0.25)) == [0.25]
    assert metric("gradient_norm").needs == ("gradient",)


@pytest.mark.parametrize("spec", [*OF_TEXT, *WITH_END, "gradient_norm"], ids=str)
def test_other_answers_are_not_measured(spec: Spec) -> None:
    choices = Question(0, ["a", "b"], ["a", "b"])
    assert metric(spec).measure(Response(0, likelihoods=[Likelihood(-1.0, True, 1)] * 2), choices) is None
    assert metric(spec).measure(Response("a", text="a"), Question("a")) is None
    unknown = Question(0, ["a"], roles=["other"])
    assert (
        metric(spec).measure(Response(None, likelihoods=[Likelihood(-1.0, True, 1, tokens([-1.0]))]), unknown) is None
    )


@pytest.mark.data
@pytest.mark.parametrize("run", ["full", "retain90"])
def test_the_losses_of_published_logs_give_their_truth_ratios(run: str) -> None:
    """Logs of TOFU's authors: losses of each text, and what their code computed from them."""
    log = published_log(run)
    for row, loss in log["avg_paraphrased_loss"].items():
        every = [loss, *log["average_perturb_loss"][row]]
        roles = ["paraphrased", *["perturbed"] * (len(every) - 1)]
        (ratio,) = measure("truth_ratio", *(tokens([-of]) for of in every), roles=roles, texts=roles)
        assert ratio == pytest.approx(log["truth_ratio"][row], rel=1e-5)


def published_log(run: str) -> dict[str, Any]:
    folder = Path(os.environ["AFRIEVAL_DATA"], "locuslab/TOFU/eval_logs", f"llama2-7b_{run}_wd0")
    found: dict[str, Any] = json.loads((folder / "eval_log_aggregated.json").read_text())["eval_log_forget.json"]
    return found


def test_of_a_text_that_is_cut_only_what_is_scored_is_compressed() -> None:
    text = TEXTS[1][1]
    found = measure("zlib", tokens([-1.0, -3.0], characters=7), texts=[text])
    assert found == pytest.approx([2 / len(compression.compress(text[:7].encode()))])
