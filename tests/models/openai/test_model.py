"""A model behind an OpenAI-compatible server, from the command line to the tables; the server is on this machine."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conftest import Cli, csv_rows, only_samples
from tests.harness_collection import Run
from tests.models.loopback import Loopback
from tests.models.openai.conftest import DOCUMENTS, TOKENS, WRITES

from afrieval._util.errors import UserError
from afrieval.config.api_settings import APIConfig, Prices
from afrieval.config.settings import DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.models.registry import load_model
from afrieval.results.run_files import read_run
from afrieval.run.manifest import default_folder


def test_a_chat_is_sent_and_its_answer_scored(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    run_demo(*server.api_options, *WRITES, "--eval.num_fewshot", 1).ok()
    assert len(server.asked) == DOCUMENTS
    asked = server.asked[0]
    assert [message["role"] for message in asked["messages"]] == ["system", "user", "assistant", "user"]
    assert asked["model"] == "served" and asked["temperature"] == 0 and asked["seed"] == 42 and asked["max_tokens"]
    assert "stop" not in asked and "reasoning_effort" not in asked
    assert {sample["picked"] for sample in only_samples(tmp_path / "run")} == {0}
    assert read_run(tmp_path / "run")["identity"]["model"]["chat_template"]  # type: ignore[typeddict-item]


def test_tokens_are_stored_with_each_answer(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    server.usage = {**TOKENS, "prompt_tokens_details": {"cached_tokens": 60}}
    prices = ("--model.api.prices.input", 1, "--model.api.prices.output", 2.5, "--model.api.prices.cached_input", 0.5)
    assert run_demo(*server.api_options, *WRITES, *prices).code == 0
    cost = (40 * 1 + 60 * 0.5 + 20 * 2.5) / 1e6
    told = {"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 60, "requests": 1, "cost": cost}
    assert {json.dumps(sample["details"], sort_keys=True) for sample in only_samples(tmp_path / "run")} == {
        json.dumps(told, sort_keys=True)
    }


def test_settings_of_the_connection_may_change_and_others_may_not(run_demo: Cli, server: Loopback) -> None:
    assert run_demo(*server.api_options, *WRITES).code == 0
    asked = len(server.asked)
    free = ("--model.api.max_concurrency", 2, "--model.api.timeout", 9, "--model.api.prices.input", 1)
    assert run_demo(*server.api_options, *WRITES, *free).code == 0
    assert len(server.asked) == asked
    refused = run_demo(*server.api_options, *WRITES, "--model.api.temperature", 0.5)
    assert refused.code == 2 and "holds another run: model.api.temperature was 0.0 and is 0.5" in refused.err


def test_the_default_folder_tells_what_changes_answers() -> None:
    def folder(api: APIConfig) -> str:
        model = ModelConfig("gpt", "openai", api=api)
        config = RunConfig(model, TaskConfig(["afrimmlu"], answer_form="generate"), data=DataConfig("samples"))
        return default_folder(config).name

    plain = folder(APIConfig())
    assert plain == folder(APIConfig(max_cost=1, key_env="A_KEY", prices=Prices(1, 2), timeout=9, max_requests=3))
    others = [APIConfig(base_url="http://user:key@a:80/v1"), APIConfig(top_logprobs=5), APIConfig(extra_body={"a": 1})]
    others += [APIConfig(reasoning_effort="low"), APIConfig(endpoint="completions"), APIConfig(temperature=0.5)]
    words = [re.sub("(own-shots-openai-(chat-)?|-?samples$)", "", folder(api)) for api in others]
    at, top, extra, thinks, *named = words
    assert (at, top, thinks) == ("at-a-80", "top-logprobs-5", "thinks-effort-low") and extra.startswith("extra-")
    assert named == ["endpoint-completions", "temperature-0.5"] and plain == "own-shots-openai-chat-samples"


def test_samples_of_the_same_prompt_differ() -> None:
    """Tasks of the harness may ask for several; a server with a seed would return the same one each time."""
    config = ModelConfig(model_name="m", model_type="openai", api=APIConfig(base_url="http://localhost:1/v1"))
    chat = json.dumps([{"role": "user", "content": "A or B?"}])
    model: Any = load_model(config, EvalConfig())

    def sent(**options: Any) -> dict[str, Any]:
        payload: dict[str, Any] = model._generation(SimpleNamespace(args=(chat, options))).payload
        return payload

    drawn = sent(do_sample=True, temperature=0.7)
    assert drawn["temperature"] == 0.7 and "seed" not in drawn
    assert sent(do_sample=False, temperature=0.0)["seed"] == EvalConfig().torch_random_seed


def test_python_gives_the_settings_as_a_map() -> None:
    config = ModelConfig(model_name="m", model_type="openai", api={"prices": {"input": 1}})  # type: ignore[arg-type]
    assert config.api == APIConfig(prices=Prices(input=1)) and config.chat_template
    with pytest.raises(UserError, match="max_cots"):
        ModelConfig(model_name="m", model_type="openai", api={"max_cots": 1})  # type: ignore[arg-type]


TEN_AND_ONE = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
ASKED: dict[str, tuple[tuple[object, ...], int]] = {
    "two_filters": ((), 8),
    "drawn": ((), 8 * 3),
    "mc_yor_1": (("--model.api.endpoint", "completions"), 8 * (4 + 1)),
}


@pytest.mark.parametrize("name", ASKED)
def test_all_requests_are_counted(harness: Run, tmp_path: Path, server: Loopback, name: str) -> None:
    words, requests = ASKED[name]
    _, server.usage = server.options, TEN_AND_ONE
    harness(*server.api_options, *words, "--task.harness_tasks", name).ok()
    (row,) = csv_rows(tmp_path / "run/usage.csv")
    assert len(server.asked) == requests == int(row["requests"]) == int(row["completion_tokens"])


def test_requests_with_neutral_prompts_are_counted_and_paid(run_demo: Cli, tmp_path: Path, server: Loopback) -> None:
    _, server.usage = server.options, TEN_AND_ONE
    words = ("--task.task_name", "afrixnli", "--task.languages", "yor,hau", "--task.prompts", 1, "--eval.limit", 2)
    prices = ("--model.api.prices.input", 1, "--model.api.prices.output", 1, "--model.api.endpoint", "completions")
    done = run_demo(*server.api_options, *words, *prices)
    assert "24 likelihoods (12 of neutral prompts, 6 of which repeat others and are asked once)" in done.err, done.err
    rows = csv_rows(tmp_path / "run/usage.csv")
    assert sum(int(row["requests"]) for row in rows) == len(server.asked)
    total = f"${11 * len(server.asked) / 1e6:.6f}".rstrip("0")
    assert f"{total} so far" in done.err and total in done.out, "the same figure everywhere"
