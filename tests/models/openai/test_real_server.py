"""The demo model behind `transformers serve`, next to the same model in this process."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import Template
from tests.conftest import Cli, only_samples

from afrieval.config.api_settings import APIConfig
from afrieval.config.settings import ModelConfig
from afrieval.models.demo import CHAT_TEMPLATE, byte_tokenizer, write_chat_demo
from afrieval.tools.jobs.server import served

pytestmark = pytest.mark.slow
SPEC = "transformers serve {model} --device cpu --host 127.0.0.1 --port {port}"
SOME = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--task.prompts", "1", "--eval.limit", "4")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "demo"
    write_chat_demo(str(folder))
    return folder


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    config = ModelConfig(model_name=str(model), model_type="openai", api=APIConfig(server=SPEC))
    with served(config, model.with_name("log")) as known:  # as a sweep does
        yield str(known.api.base_url)


def options(model: Path, address: str) -> list[str]:
    name = f"--model.model_name={model}"
    return [name, "--model.model_type=openai", f"--model.api.base_url={address}", "--model.api.max_retries=1"]


def test_answers_scores_and_tokens_are_those_of_the_same_model_here(
    run_demo: Cli, tmp_path: Path, model: Path, address: str
) -> None:
    most = ("--eval.num_fewshot", 2, "--eval.max_gen_toks", 12)
    prices = ("--model.api.prices.input", 2, "--model.api.prices.output", 10)
    run_demo(*options(model, address), *SOME, *most, *prices).ok()
    # the server adds no beginning-of-sequence token to a chat
    here = (f"--model.model_name={model}", "--model.chat_template", "--model.add_bos_token=false")
    words = (*here, "--task.answer_form=generate", *SOME, *most)
    assert run_demo(*words, "--run_dir", tmp_path / "here").code == 0
    theirs, ours = only_samples(tmp_path / "run"), only_samples(tmp_path / "here")
    assert len(theirs) == len(ours) == 4
    tokenizer, costs = byte_tokenizer(), 0.0
    for sent, expected in zip(theirs, ours, strict=True):
        assert all(sent[key] == expected[key] for key in ("resps", "acc", "answer"))
        messages, details = json.loads(sent["arguments"][0][0]), sent["details"]
        prompt = tokenizer(Template(CHAT_TEMPLATE).render(messages=messages), add_special_tokens=False)["input_ids"]
        assert details["prompt_tokens"] == len(prompt) and 0 < details["completion_tokens"] <= 12
        costs += (2 * len(prompt) + 10 * details["completion_tokens"]) / 1e6
    assert sum(sample["details"]["cost"] for sample in theirs) == pytest.approx(costs)
    assert (tmp_path / "run" / "usage.csv").is_file()


def test_a_model_that_the_server_lacks_is_said(run_demo: Cli, model: Path, address: str) -> None:
    wrong = run_demo(*options(model, address), *SOME, "--model.model_name=other")
    assert wrong.code == 2 and "other" in wrong.err and "status 400" in wrong.err, wrong.err
