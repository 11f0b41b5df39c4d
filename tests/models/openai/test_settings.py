"""The key of a server is in its requests, and nowhere else."""

import json
import traceback
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.models.loopback import Loopback
from tests.models.openai.conftest import WRITES, asked

from afrieval._util.errors import UserError
from afrieval.config.api_settings import APIConfig
from afrieval.models.openai.settings import is_here, is_local, key_of

MARK = "m4rked-key-9f8e7d6c5b"


def everything(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


def sent_key(sent: dict[str, Any]) -> str | None:
    return {name.lower(): value for name, value in sent["headers"].items()}.get("authorization")


def test_the_key_is_sent_and_nowhere_else(
    run_demo: Cli, tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The server repeats it in answers, thinking and errors."""
    monkeypatch.setenv("SOME_KEY", MARK)
    caplog.set_level("DEBUG")
    server.text, server.message = f"A, and your key is {MARK}", {"reasoning_content": f"the key {MARK}"}
    server.fails = {3: (400, json.dumps({"error": {"message": f"bad key {MARK}", "code": MARK}}).encode())}
    words = (*server.api_options, *WRITES, "--model.api.key_env", "SOME_KEY", "--eval.write_out")
    stopped = run_demo(*words, "--model.api.max_concurrency", 1)
    assert stopped.code == 2 and "bad key ***" in stopped.err
    server.fails = {len(server.asked): (200, f"<html>{MARK}".encode())}
    broken = run_demo(*words)
    assert broken.code == 2 and "not JSON: <html>***" in broken.err
    server.fails = {}
    done = run_demo(*words)
    assert done.code == 0 and "your key is ***" in done.out
    assert {sent_key(sent) for sent in server.asked} == {f"Bearer {MARK}"}
    for outcome in (stopped, broken, done):
        assert MARK not in outcome.out + outcome.err
    assert MARK not in everything(tmp_path) + caplog.text


def test_debug_does_not_show_it(run_demo: Cli, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", MARK)
    server.fails = {-1: (401, f'{{"error": {{"message": "wrong: {MARK}"}}}}'.encode())}
    with pytest.raises(UserError) as caught:
        run_demo(*server.api_options, *WRITES, "--model.api.key_env", "SOME_KEY", "--debug")
    shown = "".join(traceback.format_exception(caught.value))
    assert MARK not in shown and "wrong: ***" in shown


def test_keys_of_openai_are_not_sent_to_others(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, MARK)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    asked(server.url, 1)
    assert sent_key(server.asked[0]) is None and MARK not in str(server.asked)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({}, "the environment variable OPENAI_API_KEY is not set"),
    "named": ({"key_env": "NO_SUCH_KEY"}, "the environment variable NO_SUCH_KEY is not set"),
    "elsewhere": ({"base_url": "https://api.example.org/v1"}, "the key of https://api.example.org/v1 is missing"),
    "a key": ({"key_env": "sk-proj-123"}, "may be a key itself"),
    "another": ({"key_env": "gsk_1234567890"}, "may be a key itself"),
    "like a name": ({"key_env": "AIzaSyA1234567890"}, "that model.api.key_env names is not set"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_missing_key_is_an_error_and_is_not_printed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    given, message = REFUSED[name]
    with pytest.raises(UserError) as caught:
        key_of(APIConfig(**given))
    assert message in caught.value.message
    if name in ("a key", "another", "like a name"):
        assert given["key_env"] not in str(caught.value)


@pytest.mark.parametrize("key", [f"{MARK[:9]}\n{MARK[9:]}", f"{MARK}-ключ", f"{MARK} {MARK}"])
def test_a_key_that_cannot_be_sent_is_an_error_and_is_not_printed(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("SOME_KEY", key)
    with pytest.raises(UserError, match="SOME_KEY does not hold a key") as caught:
        key_of(APIConfig(key_env="SOME_KEY"))
    assert MARK[:9] not in str(caught.value)


def test_a_key_as_its_name_is_refused_before_anything_is_written(
    run_demo: Cli, tmp_path: Path, server: Loopback
) -> None:
    refused = run_demo(*server.api_options, *WRITES, "--model.api.key_env", "sk-secret-123")
    assert refused.code == 2 and "sk-secret" not in refused.err + refused.out
    assert not (tmp_path / "run").exists() and not server.asked


def test_servers_nearby_need_no_key() -> None:
    near = (
        "http://localhost:8000/v1",
        "http://127.0.0.1/v1",
        "http://[::1]:1/v1",
        "http://10.1.2.3/v1",
        "http://gpu7/v1",
    )
    assert all(is_local(url) and not key_of(APIConfig(base_url=url)) for url in near)
    assert not any(is_local(url) for url in ("https://api.openai.com/v1", "https://8.8.8.8/v1", "https://a.io/v1"))
    assert [is_here(url) for url in near] == [True, True, True, False, False]


def test_a_server_on_this_machine_is_asked_without_a_proxy(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert asked(server.url, 1) == ["A"]
