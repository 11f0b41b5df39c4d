"""Multiple choice by the first token of chats: letters that a server does not list are missing, and never guessed."""

import math
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.models.loopback import Loopback
from tests.models.openai.conftest import DOCUMENTS, ONE, samples

from afrieval.models.openai.failure import Failure
from afrieval.models.openai.likelihoods import likelihoods
from afrieval.scoring.base import Likelihood, Question
from afrieval.scoring.metrics import metric
from afrieval.scoring.responses import LOWEST, of_likelihoods

LETTERS = (*ONE, "--task.answer_form", "letter", "--model.api.top_logprobs", 5)


def first(**tokens: float) -> dict[str, Any]:
    listed = [{"token": token.replace("_", " "), "logprob": p} for token, p in tokens.items()]
    return {"logprobs": {"content": [{"token": "?", "logprob": -9, "top_logprobs": listed}]}}


def response(**tokens: float) -> dict[str, Any]:
    return {"choices": [{"message": {"content": "?"}, **first(**tokens)}]}


CHOICES = 4


def test_a_letter_counts_with_and_without_a_blank() -> None:
    given = likelihoods(response(B=math.log(0.3), _B=math.log(0.2), A=math.log(0.4), b=-0.01), ["A", "B", "C"])
    assert [round(math.exp(p), 6) for p, *_ in given] == [0.4, 0.5, 0.0] and given[2][0] == LOWEST
    assert [greedy for _, greedy, _ in given] == [False, False, False]
    assert [greedy for _, greedy, _ in likelihoods(response(_B=-0.1, A=-3), ["A", "B"])] == [False, True]


def test_numbers_of_all_kinds_of_servers() -> None:
    """A certain letter may be rounded to more than 0, and a blank may be shown as in vocabularies."""
    (certain, _, _), (b, _, _) = likelihoods(response(A=1e-7, B=-20), ["A", "B"])
    assert certain == 0 and b == -20
    shown = likelihoods(response(ĠA=-1, **{"▁B": -2, "C)": -0.5, "AB": -0.6, "c": -0.7}), ["A", "B", "C"])
    assert [p for p, *_ in shown] == [-1, -2, LOWEST]


def test_refusals_have_no_letters() -> None:
    for ended in ("content_filter", "SAFETY"):
        given = likelihoods({"choices": [{"message": {"content": None}, "finish_reason": ended}]}, ["A", "B"])
        assert [p for p, *_ in given] == [LOWEST, LOWEST]


def test_a_server_without_log_probabilities_is_an_error() -> None:
    nothing: list[Any] = [None, {}, {"content": []}, {"content": [{"token": "A"}]}]
    for logprobs in nothing:
        with pytest.raises(Failure) as caught:
            likelihoods({"choices": [{"message": {"content": "A"}, "logprobs": logprobs}]}, ["A"])
        assert not caught.value.passes


@pytest.mark.parametrize("p", [1.0, math.nan, -(10**400), "-0.1", None, True, [-1.0], math.inf])
def test_what_is_not_a_log_probability_is_a_failed_answer(p: Any) -> None:
    for tokens in ({"A": p, "B": -1.0}, {"B": -1.0, "A": p}):
        with pytest.raises(Failure, match="without valid log-probabilities") as caught:
            likelihoods(response(**tokens), ["A", "B"])
        assert caught.value.passes
    assert likelihoods(response(A=-math.inf, _A=-math.inf, B=-0.0, _B=-0.0), ["A", "B"])[:2] == [
        (LOWEST, False, 1),
        (0.0, True, 1),
    ]


def test_no_letter_is_no_answer() -> None:
    unknown = of_likelihoods([Likelihood(LOWEST, False, 1)] * 4)
    question = Question(0, list("wxyz"), list("ABCD"))
    assert unknown.answer is None
    for name in ("acc", "acc_norm", "acc_bytes", "acc_tokens"):
        assert metric(name).measure(unknown, question) == [0.0]


def test_one_request_for_each_question(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    server.choice = first(B=-0.2, _C=-2.0)
    done = run_demo(*server.api_options, *LETTERS)
    assert done.code == 0, done.err
    assert len(server.asked) == DOCUMENTS
    assert {(a["max_tokens"], a["logprobs"], a["top_logprobs"]) for a in server.asked} == {(1, True, 5)}
    found = samples(tmp_path / "run")
    assert {sample["picked"] for sample in found} == {1} and {sample["unparsed"] for sample in found} == {0}
    assert [answer[0][0] for answer in found[0]["resps"]] == [LOWEST, -0.2, -2.0, LOWEST]
    assert {sample["details"]["missing_letters"] for sample in found} == {2}
    assert "16 of 32 letters were not among the tokens that the server returns; all in 0 of 8" in " ".join(
        done.out.split()
    )
    (answers,) = (tmp_path / "run").glob("answers_*.jsonl")
    assert len(answers.read_text().splitlines()) == DOCUMENTS * CHOICES
    assert run_demo(*server.api_options, *LETTERS).code == 0 and len(server.asked) == DOCUMENTS


def test_questions_without_a_letter_are_unparsed_and_wrong(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    server.choice = first(The=-0.1, I=-3.0)
    done = run_demo(*server.api_options, *LETTERS)
    assert done.code == 0, done.err
    for sample in samples(tmp_path / "run"):
        assert sample["picked"] is None and sample["acc"] == 0 and sample["unparsed"] == 1
    assert "all in 8 of 8 questions" in " ".join(done.out.split())
    (row,) = (tmp_path / "run/usage.csv").read_text().splitlines()[1:]
    assert ",32,32,8," in row


def test_refused_questions_are_counted(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    server.choice = {"finish_reason": "content_filter"}
    assert run_demo(*server.api_options, *LETTERS).code == 0
    assert {sample["details"].get("refused") for sample in samples(tmp_path / "run")} == {True}


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ((*ONE, "--task.answer_form", "letter"), "needs likelihoods, which openai does not", "answer_form generate"),
        (
            (*LETTERS[:-4], "--task.answer_form", "text", *LETTERS[-2:]),
            "likelihoods of whole texts",
            "letter or generate",
        ),
    ],
)
def test_what_a_chat_cannot_do(
    run_demo: Cli, server: Loopback, words: tuple[object, ...], message: str, hint: str
) -> None:
    refused = run_demo(*server.api_options, *words)
    assert refused.code == 2 and message in refused.err and hint in refused.err.partition("hint:")[2], refused.err
    assert not server.asked
