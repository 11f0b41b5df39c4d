"""What servers refuse: prompts that are too long, parameters, and system turns."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli, only_samples
from tests.models.loopback import Loopback
from tests.models.openai.conftest import DOCUMENTS, WRITES, asked

from afrieval._util.errors import UserError
from afrieval.models.load_errors import is_too_long
from afrieval.models.openai.failure import Dialect, Failure

LONG = {
    "openai": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "gpt-5": "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
    "openai string": "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576",
    "vllm": "'max_tokens' or 'max_completion_tokens' is too large: 300. This model's maximum context length is 512",
    "vllm prompt": "The decoder prompt (length 1234) is longer than the maximum model length of 512.",
    "vllm passed": "You passed 513 input tokens and requested 1. However, the model's context length is 512",
    "sglang": "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "llama.cpp": "the request exceeds the available context size. try increasing the context size",
    "llama.cpp tokens": "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "tgi": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens",
    "tgi inputs": "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
    "anthropic": "prompt is too long: 208310 tokens > 200000 maximum",
    "anthropic both": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "mistral": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "ollama": "input length exceeds maximum context length",
    "ollama new": "prompt too long; exceeded max context length by 100 tokens",
    "xai": "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    "cohere": "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.",
    "bedrock": "Input is too long for requested model.",
    "moonshot": "Invalid request: Your request exceeded model token limit: 8192",
    "qwen": "Range of input length should be [1, 30720]",
    "zhipu": "Prompt exceeds max length",
    "tensorrt": "Prompt length (5000) exceeds maximum input length (4096).",
    "groq": "Please reduce the length of the messages or completion.",
    "groq per minute": "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000",
    "litellm": "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - no",
}
OTHERS = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Temperature must be set to 1",
    "temperature: must be less than or equal to 1",
    "System role not supported",
    "Invalid value for 'top_logprobs': must be less than or equal to 5.",
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "Invalid API key",
    "The model `x` does not exist",
    "The request exceeded the time limit",
)


@pytest.mark.parametrize("name", LONG)
def test_words_of_servers_for_prompts_that_are_too_long(name: str) -> None:
    assert is_too_long(LONG[name]) and is_too_long(LONG[name].upper())
    assert Failure(LONG[name], status=400).too_long and not Failure(LONG[name], status=500).passes
    assert not Failure(LONG[name], status=429).too_long, "too many at a time"


@pytest.mark.parametrize("said", OTHERS)
def test_other_words(said: str) -> None:
    assert not is_too_long(said)


def error(said: str, status: int = 400, **more: Any) -> tuple[int, bytes]:
    return status, json.dumps({"error": {"message": said, **more}}).encode()


@pytest.mark.parametrize("number", [0, DOCUMENTS - 1])
def test_a_question_that_is_too_long_is_unanswered(
    run_demo: Cli, tmp_path: Path, server: Loopback, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.fails = {number: error(LONG["vllm"], param=None, code=400)}
    words = (*server.api_options, *WRITES, "--model.api.max_concurrency", 1)
    done = run_demo(*words).ok()
    assert "is too long for the server" in caplog.text and "maximum context length is 512" in caplog.text
    said = " ".join(done.out.split())
    assert "1 of 8 questions were too long for the server, and are unanswered" in said
    assert "--eval.max_gen_toks" in said and "max_completion_tokens" not in server.asked[-1]
    lines = only_samples(tmp_path / "run")
    assert [line["answer"] for line in lines].count(None) == 1 and sum(line["unparsed"] for line in lines) == 1
    assert run_demo(*words).code == 0 and len(server.asked) == DOCUMENTS, "it is not asked again"


def test_it_goes_on_where_only_questions_are_left_that_are_too_long(run_demo: Cli, server: Loopback) -> None:
    words = (*server.api_options, *WRITES)
    assert run_demo(*words, "--eval.limit", 7).code == 0
    server.fails = {-1: error(LONG["anthropic"])}
    assert run_demo(*words).code == 0


def test_letters_of_a_question_that_is_too_long(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    top = [{"token": letter, "logprob": -1.0 - i} for i, letter in enumerate("ABCD")]
    server.choice = {"logprobs": {"content": [{"token": "A", "logprob": -1.0, "top_logprobs": top}]}}
    server.fails = {3: error(LONG["llama.cpp"], status=500)}
    done = run_demo(*server.api_options, "--model.api.endpoint", "chat", "--task.task_name", "afrimmlu",
                    "--task.languages", "yor", "--task.prompts", 1, "--task.answer_form", "letter",
                    "--model.api.top_logprobs", 5).ok()  # fmt: skip
    assert sum(line["unparsed"] for line in only_samples(tmp_path / "run")) == 1
    assert "1 of 8 questions were too long" in done.out and "letters were not among" not in done.out


def test_if_all_are_too_long_a_setting_is_wrong(server: Loopback) -> None:
    server.fails = {-1: error(LONG["openai"])}
    with pytest.raises(UserError, match="maximum context length") as caught:
        asked(server.url)
    assert "--eval.max_gen_toks" in caught.value.hint


REFUSED: dict[str, list[dict[str, Any]]] = {
    "temperature": [
        {"message": "Temperature must be set to 1"},
        {"message": "'TEMPERATURE' is deprecated for this model", "param": "None"},
    ],
    "seed": [
        {
            "message": "UnsupportedParamsError: openai does not support parameters: ['seed']",
            "status": 500,
            "param": "None",
        },
        {"message": "extra_forbidden: Seed", "param": "null", "status": 422},
    ],
    "stop": [{"message": "Unknown field: stopSequences"}, {"message": "unsupported", "param": "body.stop"}],
    "max_tokens": [
        {"message": "Max Tokens is not supported", "param": "None", "status": 500},
        {"message": "no maxTokens"},
    ],
}


@pytest.mark.parametrize(("name", "fault"), [(name, fault) for name, all_of in REFUSED.items() for fault in all_of])
def test_parameters_in_any_spelling(name: str, fault: dict[str, Any]) -> None:
    payload = {"max_tokens": 5, "temperature": 0.0, "seed": 1, "stop": ["\n"], "messages": []}
    dialect = Dialect("max_tokens")
    failure = Failure(**{"status": 400, **fault})
    assert dialect.learns(failure, dialect.spoken(payload), payload)
    assert payload.keys() - dialect.spoken(payload).keys() == {name}
    assert not dialect.learns(Failure("the engine has stopped", status=500), dialect.spoken(payload), payload)


@pytest.mark.parametrize(
    "said",
    [
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Developer instruction is not enabled for models/gemma-3-4b-it",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "Only user and assistant roles are supported!",
        'messages: Unexpected role "system".',
    ],
)
def test_a_server_without_system_turns_gets_their_text_in_the_first_turn(
    server: Loopback, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Q"}]
    payload = {"messages": turns, "temperature": 0.0}
    dialect = Dialect("max_tokens")
    with caplog.at_level(logging.WARNING, "afrieval"):
        assert dialect.learns(Failure(said, status=400), dialect.spoken(payload), payload)
    assert dialect.spoken(payload)["messages"] == [{"role": "user", "content": "Be brief.\n\nQ"}]
    assert len(caplog.records) == 1 and turns[0]["role"] == "system"
    assert not dialect.learns(Failure(said, status=400), dialect.spoken(payload), payload)
