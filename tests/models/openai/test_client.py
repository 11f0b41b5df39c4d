"""Whatever a server answers or does wrong, nothing is lost and nothing invented."""

import json
import math
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openai import APITimeoutError
from tests.conftest import Cli, only_samples
from tests.models.faulty import FAULTS, faulty
from tests.models.loopback import Loopback
from tests.models.openai.conftest import DOCUMENTS, WRITES, asked

from afrieval._util.errors import UserError
from afrieval.config.settings import ModelConfig
from afrieval.models.openai.failure import Failure
from afrieval.models.openai.parsing import Usage, generated, usage_of
from afrieval.models.registry import check_backend_args
from afrieval.results.samples import is_unparsed
from afrieval.scoring.responses import before_stop, details_of, is_cut


def choice(**of: Any) -> dict[str, Any]:
    return {"choices": [of]}


def test_texts_of_all_kinds_of_servers() -> None:
    assert generated(choice(message={"content": "A"})) == "A"
    assert generated(choice(message={"content": [{"type": "text", "text": "A"}, {"type": "x"}]})) == "A"
    assert generated(choice(message={"content": None}, finish_reason="length")) == ""
    assert generated(choice(text=" A\n\nB")) == " A\n\nB"
    assert generated(choice(message={"content": "A\ud83d", "reasoning": "\udc00"})) == "A?", "half a character"
    nothing: list[Any] = [None, [], ["A"], [{"message": None}], [{"delta": {}}]]
    for broken in [{}, *({"choices": choices} for choices in nothing)]:
        with pytest.raises(Failure):
            generated(broken)


@pytest.mark.parametrize("content", [5, 0, True, {"a": 1}, ["A"], [{"text": 5}], [{"type": "text"}], [None]])
def test_what_is_not_text_is_a_failed_answer(content: Any) -> None:
    for of in ({"message": {"content": content}}, {"text": content}, {"message": {"refusal": content}}):
        with pytest.raises(Failure, match="that is not text") as caught:
            generated(choice(**of))
        assert caught.value.passes and caught.value.may_cost


def test_no_text_may_be_an_answer() -> None:
    messages: list[dict[str, Any]] = [
        {"content": None, "tool_calls": [{}]},
        {"content": []},
        {"content": [{"type": "thinking"}]},
        {},
    ]
    for message in messages:
        assert generated(choice(message=message, finish_reason="stop")) == ""


BROKEN: dict[str, dict[str, Any]] = {
    "OpenRouter": {"error": {"code": 502, "message": "upstream is gone"}, "finish_reason": "error"},
    "without a reason": {"finish_reason": "error"},
    "vLLM": {"finish_reason": "abort"},
    "DeepSeek": {"finish_reason": "insufficient_system_resource"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_half_an_answer_is_no_answer(name: str) -> None:
    with pytest.raises(Failure) as caught:
        generated(choice(message={"content": "The answer"}, **BROKEN[name]))
    assert caught.value.passes and caught.value.may_cost and "failed during an answer" in caught.value.message


def test_an_answer_that_ended_before_its_limit_is_not_cut_off() -> None:
    """Some servers do not know all stop texts."""
    answer = generated(choice(text="A\n\nQuestion", finish_reason="length"))
    ended = before_stop(answer, ["\n\n"])
    assert is_cut(answer.details) and ended == "A" and details_of(ended) == {"finish_reason": "stop"}


@pytest.mark.parametrize(
    ("of", "more", "cut"),
    [
        *(({"finish_reason": word}, {}, True) for word in ("length", "max_tokens", "MAX_TOKENS", "model_length",
          "max_output_tokens", "token_limit", "incomplete", "FinishReason.MAX_TOKENS", "max_new_tokens", "maxTokens",
          "model_context_window_exceeded", "incomplete: max_output_tokens")),
        *(({"finish_reason": word}, {}, False) for word in ("stop", "eos", "end_turn", None, "content_filter")),
        ({"finish_reason": "stop", "native_finish_reason": "MAX_TOKENS"}, {}, True),
        ({"finish_reason": None, "stop_reason": "max_tokens"}, {}, True),
        ({"finish_reason": "stop", "stop_reason": 151645}, {"stop_reason": "end_turn"}, False),
        ({}, {"stop_reason": "max_tokens"}, True),
        ({}, {"incomplete_details": {"reason": "max_output_tokens"}}, True),
    ],
)  # fmt: skip
def test_servers_words_for_an_answer_at_its_limit(of: dict[str, Any], more: dict[str, Any], cut: bool) -> None:
    assert is_cut(generated({**choice(message={"content": "A"}, **of), **more}).details) is cut


def test_thinking_is_kept_apart() -> None:
    for name in ("reasoning_content", "reasoning"):
        answer = generated(choice(message={"content": "A", name: "B or A?"}))
        assert answer == "A" and answer.details == {"thinking": "B or A?"}
    inner = [{"type": "thinking", "thinking": [{"type": "text", "text": "B or A?"}]}, {"type": "text", "text": "A"}]
    for content in (inner, [{"type": "thinking", "thinking": "B or A?"}, *inner[1:]]):
        answer = generated(choice(message={"content": content}))
        assert answer == "A" and answer.details == {"thinking": "B or A?"}


def test_thinking_that_is_charged_for_counts() -> None:
    stated: dict[str, Any] = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 40}
    assert usage_of({"usage": stated}) == Usage(10, 30)
    stated = {"prompt_tokens": 10, "completion_tokens": 30, "completion_tokens_details": {"reasoning_tokens": 25}}
    assert usage_of({"usage": stated}) == Usage(10, 30, reasoning=25)
    assert usage_of({"usage": None}) is None and usage_of({}) is None


@pytest.mark.parametrize("count", [-1, True, 1.0, "1", None, math.nan, 10**400, [1], {}])
def test_numbers_that_cannot_be_tokens_are_unknown(count: Any) -> None:
    right = {"prompt_tokens": 10, "completion_tokens": 5}
    for name in right:
        assert usage_of({"usage": {**right, name: count}}) is None
    more = {"total_tokens": count, "prompt_tokens_details": {"cached_tokens": count}}
    assert usage_of({"usage": {**right, **more}}) == (None if count == -1 else Usage(10, 5))
    assert usage_of({"usage": {**right, "completion_tokens": -5, "total_tokens": 15}}) is None
    assert usage_of({"usage": {"prompt_tokens": 0, "completion_tokens": 5}}) is None, "no request is empty"
    assert usage_of({"usage": {"prompt_tokens": 10, "total_tokens": 15}}) == Usage(10, 5)
    assert usage_of({"usage": {**right, "prompt_tokens_details": {"cached_tokens": 11}}}) == Usage(10, 5)


@pytest.mark.parametrize("status", [200, 500])
def test_a_body_without_end_is_an_error_that_names_the_server(
    server: Loopback, waited: list[float], monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr("afrieval.models.openai.client.LARGEST", 10**6)
    server.fails = {-1: (status, b" " * 10**7)}
    with pytest.raises(UserError, match=f"{server.url}/v1 returned a response of more than 1000000 bytes"):
        asked(server.url, max_concurrency=1, max_retries=3)
    assert len(server.asked) == 1


BODIES = {
    "brackets": b"[" * 300_000,
    "brackets inside": b'{"choices": ' + b"[" * 300_000,
    "digits": b"1" * 10_000,
    "not UTF-8": b"\xff\xfe{}",
    "empty": b"{}",
}


@pytest.mark.parametrize("body", BODIES)
def test_a_body_that_is_no_answer(server: Loopback, body: str) -> None:
    for status in (200, 400):
        server.fails = {-1: (status, BODIES[body])}
        with pytest.raises(UserError, match=f"{server.url}/v1 returned") as caught:
            asked(server.url, 1)
        assert len(str(caught.value)) < 1000


FILTER = {"error": {"message": "filtered", "code": "content_filter"}}
FLAGGED = {"error": {"message": "flagged", "code": 403, "metadata": {"reasons": ["x"], "flagged_input": "y"}}}
REFUSALS: dict[str, dict[str, Any]] = {
    "refusal": {"text": None, "message": {"refusal": "I cannot help with that."}},
    "filter": {"text": "A", "choice": {"finish_reason": "content_filter"}},
    "Gemini": {"text": None, "choice": {"finish_reason": "content_filter: PROHIBITED_CONTENT", "message": None}},
    "names of Gemini": {"text": None, "choice": {"finish_reason": "SAFETY"}},
    "rejected": {"fails": {-1: (400, json.dumps(FILTER).encode())}},
    "rejected by OpenAI": {
        "fails": {-1: (400, json.dumps(FILTER).replace("content_filter", "invalid_prompt").encode())}
    },
    "rejected by OpenRouter": {"fails": {-1: (403, json.dumps(FLAGGED).encode())}},
    "rejected by another": {"fails": {-1: (400, json.dumps(FILTER).replace("filter", "policy_violation").encode())}},
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_are_answers(server: Loopback, name: str) -> None:
    for attribute, value in REFUSALS[name].items():
        setattr(server, attribute, value)
    (answer,) = asked(server.url, 1)
    assert answer.details["refused"] and len(server.asked) == 1


def test_refusals_are_counted_apart(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    server.fails = {n: (400, json.dumps(FILTER).encode()) for n in range(4)}
    server.text, server.message = None, {"refusal": "I cannot help with that."}
    done = run_demo(*server.api_options, *WRITES).ok()
    for sample in only_samples(tmp_path / "run"):
        assert (sample["acc"], sample["unparsed"], sample["refused"]) == (0, 0, 1)
        assert sample["answer"] is None and not is_unparsed(sample) and sample["details"]["refused"]
    header, row = (tmp_path / "run/summary.csv").read_text().splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True))["refused"] == "1.0"
    assert "refused" in done.out and len(server.asked) == DOCUMENTS


def test_answers_that_were_cut_off_or_have_no_number_of_tokens_are_said(run_demo: Cli, server: Loopback) -> None:
    server.choice, server.usage = {"finish_reason": "length"}, None
    said = " ".join(run_demo(*server.api_options, *WRITES).out.split())
    assert "8 of 8 answers were cut off at max_gen_toks." in said
    assert "The server states no usable number of tokens for 8 of 8 answers" in said


def refusing(name: str, status: int = 400) -> Any:
    error = {"message": f"Unsupported parameter: '{name}' is not supported with this model.", "param": name}
    return status, json.dumps({"error": error}).encode()


def test_parameters_that_are_refused_are_replaced_or_left_out_from_then_on(
    server: Loopback, caplog: pytest.LogCaptureFixture
) -> None:
    server.fails = {0: refusing("max_tokens"), 1: refusing("temperature"), 2: refusing("seed", 422)}
    assert asked(server.url, max_concurrency=1) == ["A"] * DOCUMENTS
    assert len(server.asked) == DOCUMENTS + 3
    for sent in server.asked[3:]:
        assert not {"max_tokens", "temperature", "seed"} & sent.keys() and sent["max_completion_tokens"] > 0
    assert caplog.text.count("the server refuses") == 3


def test_a_parameter_of_the_user_is_not_left_out(run_demo: Cli, server: Loopback) -> None:
    server.fails = {-1: refusing("reasoning_effort")}
    stopped = run_demo(*server.api_options, *WRITES, "--model.api.reasoning_effort", "low")
    assert stopped.code == 2 and "'reasoning_effort' is not supported" in stopped.err
    assert server.asked[0]["reasoning_effort"] == "low" and server.asked[0]["max_tokens"] == 16_384


FINAL: dict[str, tuple[int, dict[str, Any], str, str]] = {
    "key": (401, {"message": "Incorrect API key"}, "status 401: Incorrect API key", "check the key"),
    "rights": (403, {"message": "no access"}, "status 403", "rights to this model"),
    "model": (404, {"message": "no such model"}, "status 404", "model.model_name"),
    "quota": (429, {"message": "out of quota", "code": "insufficient_quota"}, "out of quota", "add credit"),
    "request": (400, {"message": "no such setting"}, "no such setting", "then run the same"),
}


@pytest.mark.parametrize("name", FINAL)
def test_what_does_not_pass_stops_at_once(server: Loopback, waited: list[float], name: str) -> None:
    status, error, message, hint = FINAL[name]
    server.fails = {-1: (status, json.dumps({"error": error}).encode())}
    with pytest.raises(UserError) as caught:
        asked(server.url, max_retries=5, max_concurrency=1)
    assert message in caught.value.message and hint in caught.value.hint
    assert len(server.asked) == 1 and not waited


def test_a_server_that_is_not_there(waited: list[float]) -> None:
    with pytest.raises(UserError, match=r"http://127.0.0.1:9/v1 cannot be reached"):
        asked("http://127.0.0.1:9", max_retries=5)
    assert not waited


def test_an_address_that_does_not_answer(
    server: Loopback, waited: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As behind a firewall that drops what it gets."""

    async def post(*args: object, **options: object) -> None:
        raise APITimeoutError(request=httpx2.Request("POST", server.url)) from httpx2.ConnectTimeout("")

    monkeypatch.setattr("openai.AsyncOpenAI.post", post)
    with pytest.raises(UserError, match="cannot be reached: ConnectTimeout"):
        asked(server.url, max_retries=5)
    assert not waited


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "revision": ({"revision": "v1"}, "model.revision ('v1') is not supported by openai"),
    "dtype": ({"dtype": "float16"}, "model.dtype"),
    "arguments": ({"backend_args": {"timeout": 3}}, "model.backend_args.timeout is not supported by openai"),
    "address": ({"api": {"base_url": "localhost:1/v1"}}, "base_url must be a URL"),
    "port": ({"api": {"base_url": "http://localhost:99999/v1"}}, "base_url must be a URL"),
    "password": ({"api": {"base_url": "http://me:pass@a/v1"}}, "must not have a user, password or query"),
    "whole address": ({"api": {"base_url": "http://localhost:1/v1/chat/completions"}}, "must not end in /chat"),
    "own key": ({"api": {"extra_body": {"max_tokens": 9}}}, "extra_body.max_tokens is not supported"),
    "secret": ({"api": {"extra_body": {"provider": {"api_key": "abc"}}}}, "may hold a secret"),
    "other backend": (
        {"model_type": "hf", "api": {"base_url": "http://a/v1"}},
        "model.api is given, but model.model_type is hf",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_settings_that_do_not_fit(name: str) -> None:
    given, message = REFUSED[name]
    with pytest.raises(UserError) as caught:
        check_backend_args(ModelConfig(**{"model_name": "served", "model_type": "openai"} | given))
    assert message in caught.value.message and "pass@" not in str(caught.value)


def test_an_end_of_thinking_that_the_server_has_removed(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    """A text without it is otherwise thinking that did not end."""
    words = (*server.api_options, *WRITES, "--model.thinking_end", "</think>")
    server.message = {"reasoning_content": "B or A?"}
    assert run_demo(*words).code == 0
    assert {sample["picked"] for sample in only_samples(tmp_path / "run")} == {0}
    server.message, server.text = {}, "B</think>A"
    assert run_demo(*words, "--run_dir", tmp_path / "in text").code == 0
    assert {sample["picked"] for sample in only_samples(tmp_path / "in text")} == {0}


def test_thinking_has_room_where_a_task_has_limits_of_its_own(run_demo: Cli, server: Loopback) -> None:
    words = (*server.api_options, "--task.task_name", "mmlu_pro", "--eval.limit", 1)
    assert run_demo(*words, "--model.api.reasoning_effort", "low").code == 0
    assert server.asked[0]["max_tokens"] == 16_384


THOUGHT = (
    {"content": "<think>7, or 9?"},
    {"content": None, "reasoning_content": "7?"},
    {"content": "<think>7?</think>A"},
)


@pytest.mark.parametrize("message", THOUGHT, ids=["unfinished", "apart", "ended"])
def test_a_run_says_that_answers_hold_thinking(
    run_demo: Cli, tmp_path: Path, server: Loopback, message: dict[str, Any]
) -> None:
    server.message, ended = message, "A" in str(message)
    server.choice = {"finish_reason": "stop" if ended else "max_tokens"}
    done = run_demo(*server.api_options, *WRITES)
    out = " ".join(done.out.split())
    assert done.code == 0 and ("answers were cut off at max_gen_toks" in out) is not ended
    said = "answers begin with thinking:" if ended else "answers are thinking that did not end in an answer"
    assert said in out and "--model.thinking_end" in out, out
    assert {sample["picked"] for sample in only_samples(tmp_path / "run")} == {0 if ended else None}


def test_no_stop_text_ends_thinking(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    """Chats are not given any; completions are asked for again, without, if it ended them too early."""
    thought, words = "<think>Question: B?</think>The answer is (A)", ("--task.task_name", "mmlu_pro", "--eval.limit", 1)
    server.text = f"{thought}\nQuestion: C"
    assert run_demo(*server.api_options, *words).code == 0
    server.text, server.message = "The answer is (A)", {"reasoning_content": "Question: B?"}
    assert run_demo(*server.api_options, *words, "--run_dir", tmp_path / "apart").code == 0
    assert not any("stop" in asked for asked in server.asked)
    for folder, text in (("run", f"{thought}\n"), ("apart", "The answer is (A)")):
        (sample,) = only_samples(tmp_path / folder)
        assert sample["resps"] == [[text]] and sample["answer"] == 0


PATIENT = ("--model.api.max_retries", 100, "--model.api.timeout", 0.3)


def results(folder: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in line.items() if k != "details"} for line in only_samples(folder)]


def tables(out: str) -> str:
    """Returns the scores; requests differ, since those that failed count."""
    return out.partition("Requests and tokens")[0]


def test_all_faults_together(
    run_demo: Cli, tmp_path: Path, waited: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    with faulty(()) as faultless:
        expected = run_demo(*faultless.options, *WRITES, "--run_dir", tmp_path / "faultless")
    with faulty(FAULTS, 1) as server:
        done = run_demo(*server.options, *WRITES, *PATIENT, "--run_dir", tmp_path / "faulty")
    assert (expected.code, done.code) == (0, 0), done.err
    assert results(tmp_path / "faulty") == results(tmp_path / "faultless")
    assert tables(done.out) == tables(expected.out)
    assert {server.met[fault] for fault in FAULTS} == {DOCUMENTS}
    assert len(server.answered) == DOCUMENTS
    assert caplog.text.count("and is repeated") == 1


WAITS = {
    "busy": (0, 1),
    "busy, seconds": (20, 21),
    "busy, date": (37, 41),
    "busy, milliseconds": (7, 8),
    "broken": (0, 1),
}


@pytest.mark.parametrize("fault", WAITS)
def test_waits_are_those_that_the_server_asks_for(waited: list[float], fault: str) -> None:
    least, most = WAITS[fault]
    with faulty([fault]) as server:
        asked(server.url, 2, max_retries=1)
    assert len(waited) == 2 and all(least <= seconds <= most for seconds in waited), waited


def test_waits_grow_beyond_those_that_the_server_asks_for(waited: list[float]) -> None:
    with faulty(["busy, seconds"] * 8) as server:
        asked(server.url, 1, max_retries=8)
    assert len(waited) == 8 and min(waited) >= 20 and max(waited) > 25, waited


def test_what_fails_to_the_end_stops_the_run_which_goes_on_later(run_demo: Cli, waited: list[float]) -> None:
    with faulty(["broken"] * 3) as server:
        words = (*server.options, *WRITES, "--model.api.max_concurrency", 1)
        stopped = run_demo(*words, "--model.api.max_retries", 2)
        assert stopped.code == 2 and "returned status 500: out of order" in stopped.err, stopped.err
        assert "run the same command again" in stopped.err and len(server.asked) == 3 and len(waited) == 2
        assert max(waited) <= 2 and stopped.err.count("error:") == 1
        assert run_demo(*words, "--model.api.max_retries", 3).code == 0
    assert set(server.answered.values()) == {1}


def test_waiting_times_double_up_to_a_minute(waited: list[float]) -> None:
    with faulty(["broken"] * 20) as server:
        asked(server.url, 1, max_retries=20)
    assert all(seconds <= min(2**number, 60) for number, seconds in enumerate(waited))
    assert max(waited[:4]) <= 8 and max(waited) > 30 and len({*waited}) > 15


def test_no_wait_is_longer_than_ten_minutes(waited: list[float]) -> None:
    with faulty(["quota of a day"]) as server, pytest.raises(UserError) as caught:
        asked(server.url, max_retries=3)
    assert "wait 7200 seconds, as the server asks" in caught.value.hint and not waited
