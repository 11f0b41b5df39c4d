"""Keys and passwords are not stored and not printed."""

from typing import Any

import pytest

from afrieval.models.credentials import bare_address, is_address, redacted, without_secrets

URL = "https://user:word@host:8000/v1/completions?api_key=abc#top"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"base_url": URL}, {"base_url": "https://host:8000/v1/completions"}),
        ({"token": "hf_abc", "hf_token": "x", "api_key": "y"}, {"token": "***", "hf_token": "***", "api_key": "***"}),
        ({"token": True, "auth_token": None}, {"token": True, "auth_token": None}),
        ({"header": {"Authorization": "Bearer x"}}, {"header": "***"}),
        ({"proxies": {"https": "http://me:word@proxy:1"}}, {"proxies": {"https": "http://proxy:1"}}),
        ({"urls": [URL]}, {"urls": ["https://host:8000/v1/completions"]}),
    ],
)
def test_what_is_stored(given: dict[str, Any], kept: dict[str, Any]) -> None:
    assert without_secrets(given) == kept


def test_other_arguments_stay_as_they_are() -> None:
    given = {"think_end_token": "</think>", "add_bos_token": True, "prefix_token_id": 3, "key_mapping": {"a": "b"},
             "max_length": 4096, "tokenizer": "o/n", "eos_string": None, "tokenized_requests": False}  # fmt: skip
    assert without_secrets(given) == given


def test_messages_lose_keys_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-12345678")
    text = redacted(f"401 for {URL}: Bearer sk-12345678 is wrong", URL)
    assert not any(secret in text for secret in ("sk-12345678", "word", "abc"))


def test_an_address_without_credentials_stays() -> None:
    assert bare_address("http://localhost:8000/v1/completions") == "http://localhost:8000/v1/completions"


@pytest.mark.parametrize(
    ("url", "usable"),
    [("http://[::1]:80/v1", False), ("http://a", True), ("https://a.b:8000/v1?x=1", True), ("ftp://a", False)]
    + [
        (f"http://{wrong}/v1", False) for wrong in ("a b", "a\n", "a\x1b", "a:0", "a:99999", "", "me@", "[a", "a\udcff")
    ],
)
def test_addresses_of_servers(url: str, usable: bool) -> None:
    assert is_address(url) is usable
