"""The hub, a token, models with a client whose answers are given, and servers that are asked for their models only."""

import json
from pathlib import Path
from typing import Any

import httpx2
import huggingface_hub
import pytest
from huggingface_hub import HfApi, constants
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError
from tests.fake_hub import response
from tests.models.tiny import tiny_llama

from afrieval.config.api_settings import APIConfig
from afrieval.config.settings import ModelConfig
from afrieval.tools.doctor import models
from afrieval.tools.doctor.models import hub_finding, model_finding, token_finding

MODEL = ModelConfig(model_name="org/model")
ERRORS: dict[str, tuple[Exception, str]] = {
    "gated": (GatedRepoError("403", response=response(403)), "accept its terms on the hub"),
    "unknown": (RepositoryNotFoundError("404", response=response(404)), "hf auth login"),
    "broken": (HfHubHTTPError("500", response=response(500)), "check the hub token and the network"),
    "offline": (httpx2.ConnectError("no route"), "hf download"),
}


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the folder of the model in the hub's cache, which does not exist yet."""
    folder = tmp_path / "snapshot"

    def snapshot(name: str, revision: str, local_files_only: bool) -> str:
        assert name == MODEL.model_name and local_files_only
        if not folder.exists():
            raise LocalEntryNotFoundError("not cached")
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    return folder


def fails(error: Exception) -> Any:
    def method(*_: object, **__: object) -> None:
        raise error

    return method


def test_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "is_offline_mode", lambda: True)
    assert hub_finding().finding == "HF_HUB_OFFLINE is set: nothing is downloaded"
    monkeypatch.setattr(constants, "is_offline_mode", lambda: False)
    answers = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200)))
    monkeypatch.setattr(huggingface_hub, "get_session", lambda: answers)
    assert hub_finding().status == "ok"
    broken = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(500)))
    monkeypatch.setattr(huggingface_hub, "get_session", lambda: broken)
    assert hub_finding().status == "note" and "cannot be reached (status 500)" in hub_finding().finding
    silent = httpx2.Client(transport=httpx2.MockTransport(fails(httpx2.ConnectError("no"))))
    monkeypatch.setattr(huggingface_hub, "get_session", lambda: silent)
    assert hub_finding().status == "note" and "cannot be reached (ConnectError)" in hub_finding().finding


def test_a_token_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    assert token_finding().status == "note" and "hf auth login" in token_finding().cure
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: "hf_secret")
    for answer, status in (
        (lambda *_: {"name": "amina"}, "ok"),
        (fails(HfHubHTTPError("401 hf_secret", response=response(401))), "problem"),
        (fails(httpx2.ConnectError("hf_secret")), "note"),
    ):
        monkeypatch.setattr(HfApi, "whoami", answer)
        found = token_finding()
        assert found.status == status and "secret" not in str(found)


def test_a_token_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "get_token", fails(NotADirectoryError(20, "Not a directory", "home/token")))
    assert token_finding().status == "problem" and "home/token cannot be read" in token_finding().finding


def test_a_model_that_is_cached_or_a_folder(cached: Path, tmp_path: Path) -> None:
    tiny_llama(cached)
    assert model_finding(MODEL) == ("model org/model", "ok", "in the hub's cache", "")
    folder = ModelConfig(model_name=str(cached))
    assert model_finding(folder).status == "ok"
    (cached / "config.json").write_text("{")
    for config in (MODEL, folder):
        broken = model_finding(config)
        assert broken.status == "problem" and "config.json is not valid JSON" in broken.finding
    gone = model_finding(ModelConfig(model_name=str(tmp_path / "gone")))
    assert gone.status == "problem" and "there is no model in" in gone.finding


def test_a_model_of_which_only_a_part_is_cached(cached: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_llama(cached)
    monkeypatch.setattr(HfApi, "auth_check", lambda *_: None)
    downloadable = ("model org/model", "ok", "can be downloaded from the hub", "")
    index = cached / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}))
    assert model_finding(MODEL) == downloadable
    index.unlink()
    (cached / "model.safetensors").unlink()
    assert model_finding(MODEL) == downloadable


@pytest.mark.parametrize("name", ERRORS)
def test_a_model_without_access(cached: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    error, cure = ERRORS[name]
    monkeypatch.setattr(HfApi, "auth_check", fails(error))
    found = model_finding(MODEL)
    assert found.status == "problem" and "org/model" in found.finding and cure in found.cure


def test_an_adapter_and_a_missing_backend(cached: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_llama(cached)
    adapter = ModelConfig(model_name="org/model", backend_args={"peft": str(cached)})
    assert model_finding(adapter).status == "problem" and "adapter" in model_finding(adapter).finding
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    missing = model_finding(ModelConfig(model_name="org/model", model_type="vllm"))
    assert missing.status == "problem" and "vllm>=" in missing.cure


def test_models_that_need_no_files() -> None:
    assert model_finding(ModelConfig(model_name="demo")).status == "ok"
    assert "local-completions" in model_finding(ModelConfig(model_name="m", model_type="local-completions")).finding


def test_a_hub_that_does_not_answer_is_not_asked_again(cached: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: "hf_secret")
    for method in ("whoami", "auth_check"):
        monkeypatch.setattr(HfApi, method, fails(AssertionError(method)))
    assert token_finding(hub=False).finding == "set, but the hub cannot be asked about it"
    found = model_finding(MODEL, hub=False)
    assert found.status == "problem" and "the hub cannot be reached" in found.finding and "hf download" in found.cure


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
    assert (found.check, found.status) == ("model m", status) and said in found.finding
    assert bool(found.cure) == (status == "problem" or name in ("other", "nothing")) and KEY not in str(found)
    ((url, options),) = asked
    assert url == "http://localhost:1/v1/models" and options["headers"] == {"Authorization": f"Bearer {KEY}"}


def test_settings_and_keys_are_checked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    missing = model_finding(config())
    assert missing.status == "problem" and missing.finding == "the environment variable OPENAI_API_KEY is not set"
    wrong = model_finding(config(base_url="localhost"))
    assert wrong.status == "problem" and "must be a URL" in wrong.finding
    assert model_finding(config(server="vllm")).status == "note"
