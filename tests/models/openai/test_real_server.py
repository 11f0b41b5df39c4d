"""The demo model behind `transformers serve`, next to the same model in this process."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import Cli
from tests.models.served import transformers_serve

from afrieval.models.demo import CHAT_TEMPLATE, byte_tokenizer, write_chat_demo
from afrieval.results.run_files import sample_files
from afrieval.results.samples import Sample, read_samples

SOME = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--task.prompts", "1,2")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "demo"
    write_chat_demo(str(folder))
    return folder


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    with transformers_serve(model, model.with_name("log")) as url:
        yield url


def options(model: Path, address: str) -> list[str]:
    name = f"--model.model_name={model}"
    return [name, "--model.model_type=openai", f"--model.api.base_url={address}", "--model.api.max_retries=1"]


def samples(folder: Path) -> list[Sample]:
    return [sample for path in sample_files(folder) for sample in read_samples(path)]


@pytest.mark.parametrize("shots", [0, 2])
def test_answers_and_scores_are_those_of_the_same_model_here(
    run_demo: Cli, tmp_path: Path, model: Path, address: str, shots: int
) -> None:
    most = ("--eval.num_fewshot", shots, "--eval.max_gen_toks", 12)
    served = run_demo(*options(model, address), *SOME, *most)
    assert served.code == 0, served.err
    # the server adds no beginning-of-sequence token to a chat
    here = (
        f"--model.model_name={model}",
        "--model.chat_template",
        "--model.add_bos_token=false",
        "--task.answer_form=generate",
    )
    assert run_demo(*here, *SOME, *most, "--run_dir", tmp_path / "here").code == 0
    theirs, ours = samples(tmp_path / "run"), samples(tmp_path / "here")
    assert len(theirs) == len(ours) == 18
    for sent, expected in zip(theirs, ours, strict=True):
        assert sent["resps"] == expected["resps"] and sent["acc"] == expected["acc"]
        assert sent["answer"] == expected["answer"]


def test_tokens_are_those_that_the_server_counts(run_demo: Cli, tmp_path: Path, model: Path, address: str) -> None:
    priced = ("--model.api.prices.input", 2, "--model.api.prices.output", 10, "--eval.max_gen_toks", 12)
    done = run_demo(*options(model, address), *SOME, *priced)
    assert done.code == 0, done.err
    from jinja2 import Template

    tokenizer, costs = byte_tokenizer(), 0.0
    for sample in samples(tmp_path / "run"):
        messages = json.loads(sample["arguments"][0][0])
        prompt = tokenizer(Template(CHAT_TEMPLATE).render(messages=messages), add_special_tokens=False)["input_ids"]
        details = sample["details"]
        assert details["prompt_tokens"] == len(prompt)
        assert 0 < details["completion_tokens"] <= 12
        costs += (2 * len(prompt) + 10 * details["completion_tokens"]) / 1e6
    assert sum(sample["details"]["cost"] for sample in samples(tmp_path / "run")) == pytest.approx(costs)
    assert (tmp_path / "run" / "usage.csv").is_file()


def test_a_model_that_the_server_lacks_is_said(run_demo: Cli, model: Path, address: str) -> None:
    wrong = run_demo(*options(model, address), *SOME, "--model.model_name=other")
    assert wrong.code == 2 and "other" in wrong.err and "status 400" in wrong.err, wrong.err
