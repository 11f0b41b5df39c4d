"""A server is asked for its models, and for nothing else."""

from typing import Any

import httpx2
import pytest

from afrieval.config.sections import APIConfig
from afrieval.config.settings import ModelConfig
from afrieval.tools.doctor.models import model_finding

KEY = "sk-0123456789"
HERE = {"base_url": "http://localhost:1/v1"}
LISTED = {"data": [{"id": "models/m"}, {"id": "n"}]}
ANSWERS: dict[str, tuple[httpx2.Response | Exception, str, str]] = {
    "has it": (httpx2.Response(200, json=LISTED), "ok", "answers, and has m"),
    "other": (httpx2.Response(200, json={"data": [{"id": "n"}]}), "note", "does not list m"),
    "a page": (httpx2.Response(200, text="<html>" + "x" * 10**6), "problem", "but not with a list of models: <html>xx"),
    "brackets": (httpx2.Response(200, text="[" * 300_000), "problem", "but not with a list of models: [[["),
    "another list": (httpx2.Response(200, json={"data": [5]}), "problem", "but not with a list of models"),
    "no map": (httpx2.Response(200, json=[{"id": "m"}]), "ok", "answers, and has m"),
    "nothing": (httpx2.Response(200, json={"data": []}), "note", "does not list m"),
    "no models": (httpx2.Response(404), "note", "does not list its models (status 404)"),
    "key": (httpx2.Response(401, text=KEY), "problem", "rejects the key (status 401)"),
    "down": (httpx2.ConnectError(f"refused {KEY}"), "problem", "cannot be reached: refused ***"),
}


def config(**api: Any) -> ModelConfig:
    return ModelConfig(model_name="m", model_type="openai", api=APIConfig(**api))


@pytest.mark.parametrize("name", ANSWERS)
def test_what_a_server_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, status, said = ANSWERS[name]
    asked: list[tuple[str, dict[str, Any]]] = []

    def get(url: str, **options: Any) -> httpx2.Response:
        asked.append((url, options))
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(httpx2, "get", get)
    monkeypatch.setenv("SOME_KEY", KEY)
    found = model_finding(config(**HERE, key_env="SOME_KEY"))
    assert (found.check, found.status) == ("model m", status) and said in found.found
    assert bool(found.cure) == (status == "problem" or name in ("other", "nothing")) and KEY not in str(found)
    ((url, options),) = asked
    assert url == "http://localhost:1/v1/models" and options["headers"] == {"Authorization": f"Bearer {KEY}"}


def test_settings_and_keys_are_checked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    missing = model_finding(config())
    assert missing.status == "problem" and missing.found == "the environment variable OPENAI_API_KEY is not set"
    wrong = model_finding(config(base_url="localhost"))
    assert wrong.status == "problem" and "must be a URL" in wrong.found
    assert model_finding(config(server="vllm")).status == "note"
