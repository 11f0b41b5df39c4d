"""Any backend of the harness runs by its name: its dummy, and its API models with a server on this machine."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conftest import Cli, only_samples
from tests.models.loopback import Loopback, serving
from tests.models.tiny import CHAT, tiny_llama

from afrieval._util.errors import UserError
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.demo import byte_tokenizer, demo_folder
from afrieval.models.registry import backend_of, load_model
from afrieval.results.run_files import read_run

DUMMY = ("--model.model_type", "dummy", "--task.languages", "yor,eng", "--task.prompts", 1)


@pytest.mark.parametrize("words", [("afrixnli", "--eval.num_fewshot", 2), ("afrimgsm",)])
def test_the_dummy_runs_end_to_end(run_demo: Cli, tmp_path: Path, words: tuple[object, ...]) -> None:
    done = run_demo(*DUMMY, "--task.task_name", *words)
    assert done.code == 0 and "Yoruba" in done.out, done.err
    record = read_run(tmp_path / "run")
    assert record["identity"]["model"]["model_type"] == "dummy" and {**record["visits"][0]}["max_length"] is None
    again = run_demo(*DUMMY, "--task.task_name", *words)
    assert again.code == 0 and again.out == done.out


def test_names_are_models(tmp_path: Path) -> None:
    first, second, same = (load_model(ModelConfig(name, "dummy"), EvalConfig()).fingerprint() for name in "aba")
    assert first == same != second


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--model.dtype", "float32"), "model.dtype ('float32') is not supported by dummy", "remove it"),
        (("--model.backend_args.api_key", "sk-1"), "backend_args.api_key may be a secret key", "in the environment"),
    ],
)
def test_what_a_backend_does_not_take(run_demo: Cli, words: tuple[str, ...], message: str, hint: str) -> None:
    refused = run_demo(*DUMMY, "--task.task_name", "afrixnli", *words)
    assert refused.code == 2 and message in refused.err and hint in refused.err and "sk-1" not in refused.err


def test_settings_and_arguments_reach_the_backend() -> None:
    config = ModelConfig(
        model_name="o/n", model_type="mamba_ssm", dtype="bfloat16", backend_args={"trust_remote_code": True}
    )
    assert backend_of("mamba_ssm").arguments(config, EvalConfig()) == {
        "pretrained": "o/n", "dtype": "bfloat16", "trust_remote_code": True, "batch_size": 1,
    }  # fmt: skip
    served = ModelConfig(model_name="o/n", model_type="local-completions", add_bos_token=True)
    assert backend_of("local-completions").arguments(served, EvalConfig(batch_size=4, torch_random_seed=7)) == {
        "model": "o/n", "add_bos_token": True, "batch_size": 4, "seed": 7,
    }  # fmt: skip


def test_a_chat_template_that_cannot_be_fetched(run_demo: Cli) -> None:
    """The dummy writes chats with a tokenizer of the hub."""
    refused = run_demo(*DUMMY, "--task.task_name", "afrimgsm", "--model.chat_template")
    assert refused.code == 2 and "cannot be" in refused.err and "Traceback" not in refused.err


SOME = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--task.prompts", 1)
WRITES = (*SOME, "--task.answer_form", "generate")
DOCUMENTS, CHOICES, NEUTRAL = 9, 3, 6


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as loopback:
        yield loopback


def stored(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.iterdir())


def test_likelihoods_are_those_of_the_model_behind_the_server(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    words = (*SOME, "--eval.num_fewshot", 2)
    run_demo(*server.options, *words, "--eval.batch_size", 4, "--model.backend_args.num_concurrent", 3).ok()
    assert run_demo(*words, "--run_dir", tmp_path / "hf").code == 0
    for ours, theirs in zip(only_samples(tmp_path / "hf"), only_samples(tmp_path / "run"), strict=True):
        assert theirs["arguments"] == ours["arguments"] and theirs["acc"] == ours["acc"]
        for (likelihood, greedy), (expected, was_greedy, _) in zip(
            (r[0] for r in theirs["resps"]), (r[0] for r in ours["resps"]), strict=True
        ):
            assert likelihood == pytest.approx(expected, abs=1e-3) and greedy == was_greedy
    assert len(server.asked) == -(-(DOCUMENTS * CHOICES + NEUTRAL) // 4) and server.asked[0]["model"] == "served"


def test_a_chat_goes_out_as_messages(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    server.text = "True"
    done = run_demo(*server.chat_options, *WRITES, "--eval.num_fewshot", 1, "--eval.write-out").ok()
    assert "the tokenizer of local-chat-completions is unknown: limits of answers assume one token per byte" in done.err
    roles = [message["role"] for message in server.asked[0]["messages"]]
    assert roles == ["system", "user", "assistant", "user"] and server.asked[0]["max_tokens"] == 48
    assert "stop" not in server.asked[0], "some servers refuse an empty list"
    found = only_samples(tmp_path / "run")
    assert json.loads(found[0]["arguments"][0][0])[0]["role"] == "system"
    assert {s["resps"][0][0] for s in found} == {"True"} and sum(s["acc"] for s in found) == 3
    assert f'[{{"role": "system", "content": "{json.loads(found[0]["arguments"][0][0])[0]["content"]}"' in done.out


def test_a_completion_is_written(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    server.text = " True"
    run_demo(*server.options, *WRITES, "--model.backend_args.num_concurrent", 4).ok()
    assert {tuple(asked["stop"]) for asked in server.asked} == {("\n\n",)} and len(server.asked) == DOCUMENTS
    assert {s["resps"][0][0] for s in only_samples(tmp_path / "run")} == {" True"}


def test_answers_of_null_are_empty_and_said(
    run_demo: Cli, tmp_path: Path, server: Loopback, caplog: pytest.LogCaptureFixture
) -> None:
    server.text = None
    assert run_demo(*server.chat_options, *WRITES).code == 0
    assert "9 of 9 answers of the server are null" in caplog.text
    assert {s["resps"][0][0] for s in only_samples(tmp_path / "run")} == {""}


REFUSED: dict[str, tuple[str, tuple[object, ...], str, str]] = {
    "likelihoods": ("chat", (*SOME, "--task.answer_form=text"),
        "afrixnli needs likelihoods, which local-chat-completions does not", "give --task.answer_form generate"),
    "no form": ("chat", ("--task.task_name", "meta_mmlu", "--model.chat_template=false"), "meta_mmlu needs likeli",
        "remove meta_mmlu (it has no answer form generate), or use a backend with likelihoods"),
    "plain": ("chat", (*WRITES, "--model.chat_template=false"), "local-chat-completions accepts only chats",
        "--model.chat_template true"),
    "tokenizer": ("plain", (*SOME, "--model.backend_args.tokenizer_backend=None", "--model.backend_args.tokenizer="),
        "backend_args.tokenizer is ''", "a text"),
    "template": ("plain", (*WRITES, "--model.chat_template"), "served has no chat template", "false"),
    "address": ("chat", (*WRITES, "--model.backend_args.base_url="), "is missing for local", "/v1/chat/completions"),
    "brackets": ("chat", (*WRITES, "--model.backend_args.base_url=http://[a/v1"), "base_url must be a URL", "http://"),
    "typo": ("chat", (*WRITES, "--model.backend_args.timout", 3), "backend_args.timout is not", "timeout"),
    "kind": ("chat", (*WRITES, "--model.backend_args.num_concurrent", "a"), "backend_args.num_concurrent", "whole"),
    "key": ("chat", (*WRITES, "--model.backend_args.auth_token", "sk-1"), "auth_token may be a secret", "OPENAI_API"),
    "name": ("chat", (*WRITES, "--model.backend_args.model", "x"), "backend_args.model is 'x'", "model.model_name"),
    "complete": ("chat", ("--task.task_name", "meta_bbh", "--model.chat_template=false"),
        "the prompts of meta_bbh already include a chat template", "local-completions"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_before_anything_is_asked(run_demo: Cli, server: Loopback, name: str) -> None:
    kind, words, message, hint = REFUSED[name]
    refused = run_demo(*(server.chat_options if kind == "chat" else server.options), *words)
    assert refused.code == 2 and message in refused.err and hint in refused.err.partition("hint:")[2], refused.err
    assert not server.asked and "sk-123" not in refused.err


def test_completions_without_a_tokenizer_give_no_likelihoods(run_demo: Cli, server: Loopback) -> None:
    options = [o for o in server.options if "tokenizer=" not in o and "max_length" not in o]
    options.append("--model.backend_args.tokenizer_backend=None")
    refused = run_demo(*options, *SOME)
    assert refused.code == 2 and "afrixnli needs likelihoods, which local-completions does not support" in refused.err
    assert run_demo(*options, *WRITES).code == 0
    assert isinstance(server.asked[0]["prompt"], str)


def answered(**message: Any) -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": message}]}).encode()


FAULTS: dict[str, tuple[int, bytes, str, str]] = {
    "broken": (500, b"out of order", "returned status 500: out of order", "server's log"),
    "key": (401, b"wrong key sk-12345678", "returned status 401: wrong key ***", "OPENAI_API_KEY"),
    "model": (404, b"no such model", "returned status 404: no such model", "model.model_name"),
    "busy": (429, b"slow down", "returned status 429", "num_concurrent"),
    "not JSON": (200, b"<html>", "is not JSON", "base_url"),
    "no choices": (200, b'{"choices": []}', "cannot be parsed by local-", "implements the API"),
    "nothing": (200, b"null", "cannot be parsed by local-", "implements the API"),
    "a number": (200, answered(content=5), "an answer is not text: 5", "implements the API"),
    "no text": (200, answered(), "cannot be parsed by local-", "implements the API"),
    "no number": (200, answered(content="A").replace(b"index", b"x"), "cannot be parsed by", "implements the API"),
    "other numbers": (200, answered(content="A").replace(b"0", b"7"), "numbered from 0", "implements the API"),
    "brackets": (200, b"[" * 300_000, "", "run the same command again"),
}


def chats(n: int) -> list[Any]:
    given = [json.dumps([{"role": "user", "content": str(i)}]) for i in range(n)]
    return [SimpleNamespace(args=(chat, {"until": [], "max_gen_toks": 9})) for chat in given]


def chat_model(url: str, **given: Any) -> Any:
    arguments = {"base_url": f"{url}/v1/chat/completions", "max_retries": 1} | given
    config = ModelConfig("served", "local-chat-completions", chat_template=True, backend_args=arguments)
    return load_model(config, EvalConfig())


@pytest.mark.parametrize(("fault", "together"), [*((fault, 1) for fault in FAULTS), ("key", 2), ("not JSON", 2)])
def test_a_fault_of_the_server_is_an_error_that_says_what_to_do(
    server: Loopback, monkeypatch: pytest.MonkeyPatch, fault: str, together: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-12345678")
    status, body, message, hint = FAULTS[fault]
    server.fails = {2: (status, body)}
    with pytest.raises(UserError) as caught:
        chat_model(server.url, num_concurrent=together).generate_until(chats(4))
    error = caught.value
    assert "sk-12345678" not in str(error)
    assert hint in error.hint and "run the same command again" in error.hint
    assert message in error.message or (together > 1 and message.partition(":")[0] in error.message)
    assert server.asked[0]["headers"]["Authorization"] == "Bearer sk-12345678"


def test_answers_before_a_fault_are_kept(run_demo: Cli, server: Loopback) -> None:
    words = (*server.chat_options, *WRITES, "--model.backend_args.num_concurrent", 2)
    server.fails = {4: (500, b"out of order")}
    assert run_demo(*words).code == 2
    server.fails, before = {}, len(server.asked)
    assert run_demo(*words).code == 0
    assert len(server.asked) - before <= DOCUMENTS - 3, "what was answered is not asked again"


@pytest.mark.parametrize("together", [1, 2])
def test_a_server_that_is_not_there(together: int) -> None:
    with serving() as gone:
        url = gone.url
    with pytest.raises(UserError, match=f"{url}/v1/chat/completions cannot be reached") as caught:
        chat_model(url, num_concurrent=together).generate_until(chats(2))
    assert "start the server" in caught.value.hint


def completing(server: Loopback, **given: Any) -> Any:
    _ = server.options  # loads the model in this thread
    arguments = {"base_url": f"{server.url}/v1/completions", "tokenizer": str(demo_folder()), "max_retries": 1}
    config = ModelConfig("served", "local-completions", backend_args=arguments | given)
    return load_model(config, EvalConfig(batch_size=3))


@pytest.mark.parametrize(
    "likelihoods", [None, {}, {"token_logprobs": [-1.0], "top_logprobs": [{"a": -1.0}]}, {"token_logprobs": None}]
)
def test_likelihoods_of_other_tokens_are_refused(server: Loopback, likelihoods: Any) -> None:
    """A server that does not know `echo` gives those of what it writes; the harness would sum up nothing to 0."""
    choice = {"index": 0, "text": "x", "logprobs": likelihoods}
    server.fails = {-1: (200, json.dumps({"choices": [choice]}).encode())}
    with pytest.raises(UserError, match="likelihoods for prompts of") as caught:
        completing(server).loglikelihood([SimpleNamespace(args=("What?", " yes"))])
    assert "echo" in caught.value.hint


def test_fewer_answers_than_prompts_are_refused(server: Loopback) -> None:
    server.fails = {-1: (200, json.dumps({"choices": [{"index": 0, "text": "a"}]}).encode())}
    with pytest.raises(UserError, match="cannot be parsed"):
        completing(server).generate_until(chats(3))


def test_credentials_are_not_stored_and_not_printed(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    url = server.url.replace("http://", "http://me:pass-word@") + "/v1/chat/completions?key=que-ry"
    words = (*server.chat_options, *WRITES, f"--model.backend_args.base_url={url}")
    server.fails = {2: (500, b"no")}
    first = run_demo(*words)
    server.fails = {}
    second = run_demo(*words)
    assert (first.code, second.code) == (2, 0)
    for text in (first.err, first.out, second.err, second.out, stored(tmp_path / "run")):
        assert "pass-word" not in text and "que-ry" not in text and "me:p" not in text
    assert server.asked[0]["headers"]["Authorization"] == "Basic bWU6cGFzcy13b3Jk"
    model = read_run(tmp_path / "run")["identity"]["model"]
    assert f"{server.url}/v1/chat/completions" in model["backend_args"]


def test_how_a_server_is_asked_may_change_and_which_may_not(run_demo: Cli, server: Loopback) -> None:
    assert run_demo(*server.chat_options, *WRITES).code == 0
    asked = len(server.asked)
    words = ("--model.backend_args.num_concurrent", 2, "--model.backend_args.timeout", 9)
    assert run_demo(*server.chat_options, *WRITES, *words).code == 0 and len(server.asked) == asked
    with serving() as other:
        refused = run_demo(*other.chat_options, *WRITES)
    assert refused.code == 2 and "holds another run: model.backend_args" in refused.err


def test_a_tokenizer_that_is_not_there() -> None:
    given = {"base_url": "http://localhost:1/v1/completions", "tokenizer": "/nowhere"}
    with pytest.raises(UserError) as caught:
        load_model(ModelConfig(model_name="m", model_type="local-completions", backend_args=given), EvalConfig())
    assert (
        "tokenizer /nowhere cannot be loaded" in caught.value.message and "backend_args.tokenizer" in caught.value.hint
    )


def test_a_key_that_is_not_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError) as caught:
        load_model(ModelConfig("gpt-4o", "openai-chat-completions", chat_template=True), EvalConfig())
    assert "OPENAI_API_KEY" in caught.value.message and "environment" in caught.value.hint


def test_answers_that_leave_no_room_for_a_prompt(server: Loopback) -> None:
    lm = completing(server, max_length=100)
    with pytest.raises(UserError) as caught:
        lm.generate_until([SimpleNamespace(args=("Question", {"max_gen_toks": 99}))])
    assert "answers may have 99 tokens" in caught.value.message and "max_length" in caught.value.hint


def test_long_prompts_are_counted(server: Loopback) -> None:
    lm = completing(server, max_length=64)
    lm.loglikelihood([SimpleNamespace(args=("What? " * n, " yes")) for n in (5, 10, 20)])
    assert lm.too_long == 2


def test_the_texts_of_chats_are_those_of_the_tokenizer(tmp_path: Path) -> None:
    folder = tiny_llama(tmp_path / "chat", chat_template=CHAT)
    given = {"base_url": "http://localhost:1/v1/completions", "tokenizer": str(folder)}
    config = ModelConfig("m", "local-completions", chat_template=True, backend_args=given)
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Q"}]
    assert load_model(config, EvalConfig()).apply_chat_template(turns) == "<user>Be brief.\n\nQ\n<assistant>"


def test_the_harness_own_length_is_said_to_be_assumed(run_demo: Cli, server: Loopback) -> None:
    options = [option for option in server.options if "max_length" not in option]
    done = run_demo(*options, *WRITES)
    assert done.code == 0 and "2047 tokens are assumed" in done.err
    assert str(demo_folder()) not in done.err


def test_what_a_tokenizer_appends_is_not_sent(tmp_path: Path) -> None:
    tokenizer = byte_tokenizer()
    tokenizer.add_bos_token = tokenizer.add_eos_token = True
    tokenizer.save_pretrained(tmp_path)
    given = {"base_url": "http://localhost:1/v1/completions", "tokenizer": str(tmp_path)}
    config = ModelConfig(model_name="m", model_type="local-completions", add_bos_token=True, backend_args=given)
    lm: Any = load_model(config, EvalConfig())
    assert lm.tok_encode(["x", "x</s>"]) == byte_tokenizer()(["x", "x</s>"])["input_ids"]
