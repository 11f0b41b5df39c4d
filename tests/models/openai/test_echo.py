"""Likelihoods by completions that repeat the prompt: those of the model behind the server, split as in the harness."""

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.models.loopback import Loopback
from tests.models.openai.conftest import samples

from afrieval.models.openai.failure import Failure
from afrieval.models.openai.likelihoods import likelihood, prompt_tokens, split

SOME = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--task.prompts", 1)
COMPLETES = ("--model.api.endpoint", "completions")
QUESTIONS, CHOICES, NEUTRAL = 9, 3, 2


@pytest.fixture
def completing(server: Loopback) -> Loopback:
    server.usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    _ = server.options  # loads the model in this thread
    return server


def test_likelihoods_are_those_of_the_model(run_demo: Cli, tmp_path: Path, completing: Loopback) -> None:
    served = run_demo(*completing.api_options, *SOME, *COMPLETES)
    assert served.code == 0, served.err
    assert run_demo(*SOME, "--run_dir", tmp_path / "hf").code == 0
    for ours, theirs in zip(samples(tmp_path / "hf"), samples(tmp_path / "run"), strict=True):
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
    took = [sample["details"]["requests"] for sample in samples(tmp_path / "run")]
    assert took == [CHOICES + 1] * QUESTIONS, "those of all texts and of their context"
    assert run_demo(*completing.api_options, *SOME, *COMPLETES).code == 0
    assert len(completing.asked) == texts + contexts


def test_answers_are_generated_after_plain_prompts(run_demo: Cli, tmp_path: Path, completing: Loopback) -> None:
    completing.text = " True\n\nQuestion"
    done = run_demo(*completing.api_options, *SOME, *COMPLETES, "--task.answer_form", "generate")
    assert done.code == 0, done.err
    assert completing.asked[0]["stop"] == ["\n\n"] and isinstance(completing.asked[0]["prompt"], str)
    assert {sample["resps"][0][0] for sample in samples(tmp_path / "run")} == {" True"}


def test_chats_are_not_sent_as_completions(run_demo: Cli, completing: Loopback) -> None:
    refused = run_demo(*completing.api_options, *SOME, *COMPLETES, "--model.chat_template")
    assert refused.code == 2 and "model.chat_template is true" in refused.err, refused.err


def response(values: Any, completion: int | None = 1, **more: Any) -> dict[str, Any]:
    usage = {} if completion is None else {"usage": {"prompt_tokens": 99, "completion_tokens": completion}}
    return {"choices": [{"text": "x", "logprobs": {"token_logprobs": values, **more}}], **usage}


def test_generated_tokens_do_not_count() -> None:
    values = [None, -1.0, -2.0, -4.0]
    for completion, n in ((1, 3), (0, 4), (None, 3)):
        assert [token.logprob for token in prompt_tokens(response(values, completion))] == values[:n]
    tokens = prompt_tokens(response(values, 1, top_logprobs=[None, {"a": -1.0}, {"b": -0.5}, {}]))
    assert [token.greedy for token in tokens] == [False, True, False]
    assert likelihood(tokens, 1) == (-3.0, False, 2) and likelihood(tokens, 2) == (-2.0, False, 1)


@pytest.mark.parametrize(
    ("values", "completion"),
    [(None, 1), ([], 0), ([-0.5], 1), ([None, None, -1.0], 1), ([None, "a", -1.0], 1), ([None, -1.0, 2.0], 0),
     ([None, float("nan"), -1.0], 1), ([None, -1.0, -2.0, -2.0], 2)],
)  # fmt: skip
def test_other_numbers_are_refused(values: Any, completion: int) -> None:
    with pytest.raises(Failure) as caught:
        prompt_tokens(response(values, completion))
    assert not caught.value.passes and "echo" in caught.value.hint


def test_an_answer_without_tokens_is_refused() -> None:
    tokens = prompt_tokens(response([None, -1.0, -2.0, -3.0]))
    for n_context in (0, 3, 4):
        with pytest.raises(Failure):
            likelihood(tokens, n_context)


def test_blanks_belong_to_the_answer() -> None:
    assert split("Q:  ", "A") == ("Q:", "Q:  A") and split("Q:", " A") == ("Q:", "Q: A")


def test_a_server_that_repeats_no_prompt(run_demo: Cli, server: Loopback) -> None:
    body = b'{"choices": [{"text": "x", "logprobs": {"token_logprobs": [-1.0]}}]}'
    server.fails = {-1: (200, body)}
    refused = run_demo(*server.api_options, *SOME, *COMPLETES)
    assert refused.code == 2 and "no log-probabilities of the prompt" in refused.err and "vLLM" in refused.err
