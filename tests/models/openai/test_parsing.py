"""Likelihoods in responses: of repeated prompts, and of letters among the most likely first tokens."""

import math
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli, only_samples
from tests.models.loopback import Loopback
from tests.models.openai.conftest import DOCUMENTS, ONE

from afrieval.models.openai.failure import Failure
from afrieval.models.openai.parsing import likelihood, likelihoods, prompt_tokens, split
from afrieval.scoring.base import Likelihood, Question
from afrieval.scoring.metrics import metric
from afrieval.scoring.responses import LOWEST, of_likelihoods

LETTERS = (*ONE, "--task.answer_form", "letter", "--model.api.top_logprobs", 5)


def first(**tokens: float) -> dict[str, Any]:
    listed = [{"token": token.replace("_", " "), "logprob": p} for token, p in tokens.items()]
    return {"logprobs": {"content": [{"token": "?", "logprob": -9, "top_logprobs": listed}]}}


def first_tokens(**tokens: float) -> dict[str, Any]:
    return {"choices": [{"message": {"content": "?"}, **first(**tokens)}]}


def test_a_letter_counts_with_and_without_a_blank() -> None:
    given = likelihoods(first_tokens(B=math.log(0.3), _B=math.log(0.2), A=math.log(0.4), b=-0.01), ["A", "B", "C"])
    assert [round(math.exp(p), 6) for p, *_ in given] == [0.4, 0.5, 0.0] and given[2][0] == LOWEST
    assert [greedy for _, greedy, _ in given] == [False, False, False]
    assert [greedy for _, greedy, _ in likelihoods(first_tokens(_B=-0.1, A=-3), ["A", "B"])] == [False, True]


def test_numbers_of_all_kinds_of_servers() -> None:
    """A certain letter may be rounded to more than 0, and a blank may be shown as in vocabularies."""
    (certain, _, _), (b, _, _) = likelihoods(first_tokens(A=1e-7, B=-20), ["A", "B"])
    assert certain == 0 and b == -20
    shown = likelihoods(first_tokens(ĠA=-1, **{"▁B": -2, "C)": -0.5, "AB": -0.6, "c": -0.7}), ["A", "B", "C"])
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
            likelihoods(first_tokens(**tokens), ["A", "B"])
        assert caught.value.passes
    assert likelihoods(first_tokens(A=-math.inf, _A=-math.inf, B=-0.0, _B=-0.0), ["A", "B"])[:2] == [
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
    done = run_demo(*server.api_options, *LETTERS).ok()
    assert len(server.asked) == DOCUMENTS
    assert {(a["max_tokens"], a["logprobs"], a["top_logprobs"]) for a in server.asked} == {(1, True, 5)}
    found = only_samples(tmp_path / "run")
    assert {sample["picked"] for sample in found} == {1} and {sample["unparsed"] for sample in found} == {0}
    assert [answer[0][0] for answer in found[0]["resps"]] == [LOWEST, -0.2, -2.0, LOWEST]
    assert {sample["details"]["missing_letters"] for sample in found} == {2}
    assert "16 of 32 letters were not among the tokens that the server returns; all in 0 of 8" in " ".join(
        done.out.split()
    )
    (answers,) = (tmp_path / "run").glob("answers_*.jsonl")
    assert len(answers.read_text().splitlines()) == DOCUMENTS * 4
    assert run_demo(*server.api_options, *LETTERS).code == 0 and len(server.asked) == DOCUMENTS


def test_questions_without_a_letter_are_unparsed_and_wrong(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    server.choice = first(The=-0.1, I=-3.0)
    done = run_demo(*server.api_options, *LETTERS).ok()
    for sample in only_samples(tmp_path / "run"):
        assert sample["picked"] is None and sample["acc"] == 0 and sample["unparsed"] == 1
    assert "all in 8 of 8 questions" in " ".join(done.out.split())
    (row,) = (tmp_path / "run/usage.csv").read_text().splitlines()[1:]
    assert ",32,32,8," in row


def test_refused_questions_are_counted(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    server.choice = {"finish_reason": "content_filter"}
    assert run_demo(*server.api_options, *LETTERS).code == 0
    assert {sample["details"].get("refused") for sample in only_samples(tmp_path / "run")} == {True}


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


SOME = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--task.prompts", 1)
COMPLETES = ("--model.api.endpoint", "completions")
QUESTIONS, CHOICES, NEUTRAL = 9, 3, 2


@pytest.fixture
def completing(server: Loopback) -> Loopback:
    server.usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    _ = server.options  # loads the model in this thread
    return server


def test_likelihoods_are_those_of_the_model(run_demo: Cli, tmp_path: Path, completing: Loopback) -> None:
    run_demo(*completing.api_options, *SOME, *COMPLETES).ok()
    assert run_demo(*SOME, "--run_dir", tmp_path / "hf").code == 0
    for ours, theirs in zip(only_samples(tmp_path / "hf"), only_samples(tmp_path / "run"), strict=True):
        assert theirs["arguments"] == ours["arguments"] and theirs["picked"] == ours["picked"]
        for (given,), (expected,) in zip(theirs["resps"], ours["resps"], strict=True):
            assert given[0] == pytest.approx(expected[0], abs=1e-3) and given[1:] == expected[1:]


def test_one_request_for_each_context_and_each_text(run_demo: Cli, tmp_path: Path, completing: Loopback) -> None:
    assert run_demo(*completing.api_options, *SOME, *COMPLETES).code == 0
    texts, contexts = (QUESTIONS + NEUTRAL) * CHOICES, QUESTIONS + NEUTRAL
    assert len(completing.asked) == texts + contexts
    assert len({asked["prompt"] for asked in completing.asked}) == texts + contexts
    dry = run_demo(*completing.api_options, *SOME, *COMPLETES, "--run_dir", tmp_path / "dry", "--dry-run")
    (line,) = [line for line in dry.out.splitlines() if line.startswith("afri")]
    assert line.split()[-2] == str(texts + contexts), dry.out
    took = [sample["details"]["requests"] for sample in only_samples(tmp_path / "run")]
    assert took[1:] == [CHOICES + 1] * (QUESTIONS - 1), "those of all texts and of their context"
    assert sum(took) == texts + contexts, "the first document has those of neutral prompts as well"
    assert run_demo(*completing.api_options, *SOME, *COMPLETES).code == 0
    assert len(completing.asked) == texts + contexts


def test_answers_are_generated_after_plain_prompts(run_demo: Cli, tmp_path: Path, completing: Loopback) -> None:
    completing.text = " True\n\nQuestion"
    run_demo(*completing.api_options, *SOME, *COMPLETES, "--task.answer_form", "generate").ok()
    assert completing.asked[0]["stop"] == ["\n\n"] and isinstance(completing.asked[0]["prompt"], str)
    assert {sample["resps"][0][0] for sample in only_samples(tmp_path / "run")} == {" True"}


def test_chats_are_not_sent_as_completions(run_demo: Cli, completing: Loopback) -> None:
    refused = run_demo(*completing.api_options, *SOME, *COMPLETES, "--model.chat_template")
    assert refused.code == 2 and "model.chat_template is true" in refused.err, refused.err


def of_prompt(values: Any, completion: int | None = 1, **more: Any) -> dict[str, Any]:
    usage = {} if completion is None else {"usage": {"prompt_tokens": 99, "completion_tokens": completion}}
    return {"choices": [{"text": "x", "logprobs": {"token_logprobs": values, **more}}], **usage}


def test_generated_tokens_do_not_count() -> None:
    values = [None, -1.0, -2.0, -4.0]
    for completion, n in ((1, 3), (0, 4), (None, 3)):
        assert [logprob for logprob, _ in prompt_tokens(of_prompt(values, completion))] == values[:n]
    response = of_prompt(values, 1, top_logprobs=[None, {"a": -1.0}, {"b": -0.5}, {}])
    assert [greedy for _, greedy in prompt_tokens(response)] == [False, True, False]
    assert likelihood(response, 1) == (-3.0, False, 2) and likelihood(response, 2) == (-2.0, False, 1)


@pytest.mark.parametrize(
    ("values", "completion"),
    [(None, 1), ([], 0), ([-0.5], 1), ([None, None, -1.0], 1), ([None, "a", -1.0], 1), ([None, -1.0, 2.0], 0),
     ([None, float("nan"), -1.0], 1), ([None, -1.0, -2.0, -2.0], 2)],
)  # fmt: skip
def test_other_numbers_are_refused(values: Any, completion: int) -> None:
    with pytest.raises(Failure) as caught:
        prompt_tokens(of_prompt(values, completion))
    assert not caught.value.passes and "echo" in caught.value.hint


def test_an_answer_without_tokens_is_refused() -> None:
    for n_context in (0, 3, 4):
        with pytest.raises(Failure):
            likelihood(of_prompt([None, -1.0, -2.0, -3.0]), n_context)


def test_blanks_belong_to_the_answer() -> None:
    assert split("Q:  ", "A") == ("Q:", "Q:  A") and split("Q:", " A") == ("Q:", "Q: A")
